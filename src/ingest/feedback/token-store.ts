import type { JsonObject } from '../../schema/json.ts'

/**
 * A permission to send feedback with one key on one TraceRun without an API key. It is found by the hash of the token,
 * because tokens of earlier releases are not their ids.
 */
export interface FeedbackToken {
  workspace_id: string
  id: string
  run_id: string
  feedback_key: string
  feedback_config: JsonObject | null
  /** Epoch milliseconds. */
  expires_at: number
  created_at: number
}

export interface FeedbackTokenStore {
  /** @throws AppError quota_reached when the workspace has too many, conflict when an id is taken */
  add(tokens: readonly (FeedbackToken & { token_hash: string })[]): Promise<void>
  /** Tokens of a TraceRun that are valid at `now`, newest first. */
  list(
    workspace_id: string,
    run_id: string,
    page: { now: number; limit: number; offset: number },
  ): Promise<FeedbackToken[]>
  /** Returns the token; undefined if there is none or it has expired at `now`. */
  find(token_hash: string, now: number): Promise<FeedbackToken | undefined>
}
