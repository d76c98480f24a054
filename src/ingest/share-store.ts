/** The subject of a share: a trace, or all traces of a thread in a project. */
export type ShareSubject =
  | { kind: 'trace'; project_id: string; trace_id: string }
  | { kind: 'thread'; project_id: string; thread_id: string }

/** A subject that can be read without a key by those who have the token. */
export interface Share {
  token: string
  workspace_id: string
  subject: ShareSubject
}

/** Shares of traces and threads; a trace has at most one, and so has a thread of a project. */
export interface ShareStore {
  /**
   * The subject's token: the stored one, else a new one, which is `wanted` unless that is in use.
   * @throws AppError quota_reached when the workspace has too many shares
   */
  create(
    workspace_id: string,
    subject: ShareSubject,
    wanted?: string,
  ): Promise<{ token: string; isNew: boolean }>
  /** Undefined for a token that is not in use, and for one of a deleted workspace. */
  find(token: string): Promise<Share | undefined>
  /** Tokens by trace, of those traces that are shared. */
  tokensOfTraces(workspace_id: string, trace_ids: readonly string[]): Promise<Map<string, string>>
  tokenOfThread(workspace_id: string, project_id: string, thread_id: string): Promise<string | undefined>
  /** True if there was a share. */
  removeThread(workspace_id: string, project_id: string, thread_id: string): Promise<boolean>
  /** The number of shares that there were. */
  removeTraces(workspace_id: string, trace_ids: readonly string[]): Promise<number>
  /** Also removes the shares of the project's threads. */
  removeProject(workspace_id: string, project_id: string): Promise<void>
}
