export type ShareSubject =
  | { kind: 'trace'; project_id: string; trace_id: string }
  | { kind: 'thread'; project_id: string; thread_id: string }

/** A subject that anyone who has the token can read without a key. */
export interface Share {
  token: string
  workspace_id: string
  subject: ShareSubject
  /** Epoch milliseconds; null for never. */
  expires_at: number | null
}

/** What makes a share: a token of the client, and when it ends (null for never). What is absent stays as it is. */
export interface ShareWish {
  token?: string
  /** Epoch milliseconds. */
  expires_at?: number | null
}

/** Shares of traces and threads. A trace, or a thread of a project, has at most one share. */
export interface ShareStore {
  /**
   * Returns the subject's share, which then ends at the wished time. If there is no share, or it has ended, creates one
   * with the wished token, or with a new token if it is absent or in use.
   * @throws AppError quota_reached when the workspace has too many shares
   */
  create(
    workspace_id: string,
    subject: ShareSubject,
    wish?: ShareWish,
  ): Promise<{ share: Share; isNew: boolean }>
  /**
   * Returns the share with this token; undefined if there is none or its workspace is deleted.
   * @throws AppError share_ended when its time is over
   */
  find(token: string): Promise<Share | undefined>
  /** Those that have not ended, by trace. */
  ofTraces(workspace_id: string, trace_ids: readonly string[]): Promise<Map<string, Share>>
  ofThread(workspace_id: string, project_id: string, thread_id: string): Promise<Share | undefined>
  removeThread(workspace_id: string, project_id: string, thread_id: string): Promise<boolean>
  /** Returns the number of removed shares. */
  removeTraces(workspace_id: string, trace_ids: readonly string[]): Promise<number>
  /** Also removes the shares of the project's threads. */
  removeProject(workspace_id: string, project_id: string): Promise<void>
}
