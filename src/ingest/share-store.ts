export type ShareSubject =
  | { kind: 'trace'; project_id: string; trace_id: string }
  | { kind: 'thread'; project_id: string; thread_id: string }

/** A subject that anyone who has the token can read without a key. */
export interface Share {
  token: string
  workspace_id: string
  subject: ShareSubject
}

/** Shares of traces and threads. A trace, or a thread of a project, has at most one share. */
export interface ShareStore {
  /**
   * Returns the token of the subject's share. If there is no share, creates one with the token `wanted`, or with a
   * new token if `wanted` is absent or in use.
   * @throws AppError quota_reached when the workspace has too many shares
   */
  create(
    workspace_id: string,
    subject: ShareSubject,
    wanted?: string,
  ): Promise<{ token: string; isNew: boolean }>
  /** Returns the share with this token; undefined if there is none or its workspace is deleted. */
  find(token: string): Promise<Share | undefined>
  tokensOfTraces(workspace_id: string, trace_ids: readonly string[]): Promise<Map<string, string>>
  tokenOfThread(workspace_id: string, project_id: string, thread_id: string): Promise<string | undefined>
  removeThread(workspace_id: string, project_id: string, thread_id: string): Promise<boolean>
  /** Returns the number of removed shares. */
  removeTraces(workspace_id: string, trace_ids: readonly string[]): Promise<number>
  /** Also removes the shares of the project's threads. */
  removeProject(workspace_id: string, project_id: string): Promise<void>
}
