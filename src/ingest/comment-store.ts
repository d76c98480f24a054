/** What somebody wrote about a TraceRun, for the people of its workspace. */
export interface Comment {
  id: string
  workspace_id: string
  trace_id: string
  run_id: string
  text: string
  /** Null when a service key wrote it. */
  user_id: string | null
  api_key_id: string
  /** The author's name, or the short form of the key, when the comment was written. */
  author: string
  /** Ids of the mentioned members. */
  mentions: string[]
  /** Epoch milliseconds. */
  created_at: number
  /** Epoch milliseconds; null if it was never changed. */
  edited_at: number | null
}

export type CommentText = Pick<Comment, 'text' | 'mentions'>

export interface CommentStore {
  /** Oldest first. */
  ofTrace(workspace_id: string, trace_id: string): Promise<Comment[]>
  /** The newest comments that mention the member, newest first. */
  mentionsOf(workspace_id: string, user_id: string, limit: number): Promise<Comment[]>
  find(workspace_id: string, id: string): Promise<Comment | undefined>
  /** @throws AppError quota_reached when the trace has too many comments */
  create(comment: Omit<Comment, 'id' | 'created_at' | 'edited_at'>): Promise<Comment>
  /** Undefined if there is no such comment. */
  update(workspace_id: string, id: string, change: CommentText): Promise<Comment | undefined>
  /** Returns false if there was no such comment. */
  delete(workspace_id: string, id: string): Promise<boolean>
  /** Deletes the comments on these TraceRuns. */
  removeRuns(workspace_id: string, run_ids: readonly string[]): Promise<void>
}
