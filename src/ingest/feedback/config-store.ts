import type { JsonObject } from '../../schema/json.ts'

/** The meaning of feedback with one key: its type, range or categories. */
export interface FeedbackConfig {
  workspace_id: string
  feedback_key: string
  feedback_config: JsonObject
  is_lower_score_better: boolean | null
  /** Stored for clients; Weir accepts any score. */
  is_enforced: boolean | null
  /** Epoch milliseconds. */
  modified_at: number
}

export type FeedbackConfigFields = Pick<
  FeedbackConfig,
  'feedback_config' | 'is_lower_score_better' | 'is_enforced'
>

/** The conditions of a list of configs. */
export interface FeedbackConfigQuery {
  keys: readonly string[]
  /** Ignores case. */
  name_contains?: string
  limit: number
  offset: number
}

export interface FeedbackConfigStore {
  /** Sorted by key. */
  list(workspace_id: string, query: FeedbackConfigQuery): Promise<FeedbackConfig[]>
  /**
   * Returns the existing config of that key, unchanged, if its `feedback_config` is equal, whatever the other fields.
   * @throws AppError conflict when it differs, quota_reached when the workspace has too many
   */
  create(workspace_id: string, feedback_key: string, fields: FeedbackConfigFields): Promise<FeedbackConfig>
  /** Stores the result of `change` for an existing config; undefined when there is none with that key. */
  update(
    workspace_id: string,
    feedback_key: string,
    change: (stored: FeedbackConfig) => Partial<FeedbackConfigFields>,
  ): Promise<FeedbackConfig | undefined>
  /** Returns false if there was no such config. */
  delete(workspace_id: string, feedback_key: string): Promise<boolean>
}
