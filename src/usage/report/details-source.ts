import { GROUPINGS, type UsageCount, type UsageQuery } from './source.ts'

/** The groupings of tokens and costs. */
export const DETAIL_GROUPINGS = [...GROUPINGS, 'model'] as const

export type DetailGrouping = (typeof DETAIL_GROUPINGS)[number]

/** TraceRuns that started in `[start, end)`, in the named workspaces, summed by bucket and group. */
export interface UsageDetailsQuery extends Omit<UsageQuery, 'group_by'> {
  group_by: DetailGrouping
}

/** Tokens and costs of a set of TraceRuns, each call counted once. */
export interface UsageSums {
  prompt_tokens: number
  completion_tokens: number
  /** Decimals in US dollars; null if unknown. */
  prompt_cost: string | null
  completion_cost: string | null
  total_cost: string | null
  /** The part of the tokens, and of `total_cost`, that is estimated. */
  estimated_prompt_tokens: number
  estimated_completion_tokens: number
  estimated_cost: string | null
}

/**
 * Tokens and costs of one bucket and group, each call counted once (rule N6); groups without llm TraceRuns and usage
 * are left out.
 */
export interface UsageDetail extends Omit<UsageCount, 'traces'>, UsageSums {
  /**
   * The model, for the grouping `model`; '' for TraceRuns without a model and for other groupings. With
   * `model`, `dimension_id` is NIL_UUID.
   */
  provider: string
  model: string
  /** The number of all TraceRuns, including those whose usage is unknown or not counted. */
  llm_runs: number
  /** Number of counted TraceRuns with tokens but without a cost, and their tokens. */
  unpriced_runs: number
  unpriced_tokens: number
  /** Sums of the known units (web_searches, audio_seconds, …); those that no counted TraceRun has are absent. */
  units: Record<string, number>
}

/** Sums over TraceRuns with their current prices. */
export interface UsageDetailsSource {
  details(query: UsageDetailsQuery): Promise<UsageDetail[]>
}
