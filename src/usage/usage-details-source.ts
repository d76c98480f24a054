import { GROUPINGS, type UsageCount, type UsageQuery } from './usage-source.ts'

/** What tokens and costs are grouped by. */
export const DETAIL_GROUPINGS = [...GROUPINGS, 'model'] as const

/** One of DETAIL_GROUPINGS. */
export type DetailGrouping = (typeof DETAIL_GROUPINGS)[number]

/** What to add up: TraceRuns that started in `[start, end)`, in the named workspaces, by bucket and group. */
export interface UsageDetailsQuery extends Omit<UsageQuery, 'group_by'> {
  group_by: DetailGrouping
}

/**
 * Tokens and costs of one bucket and group, double counts left out (rule N6); groups with neither llm TraceRuns nor
 * usage are left out.
 */
export interface UsageDetail extends Omit<UsageCount, 'traces'> {
  /** By `model` only, else ''; '' too for what does not say it. `dimension_id` is NIL_UUID then. */
  provider: string
  model: string
  /** All of them, also those whose usage is unknown or left out. */
  llm_runs: number
  prompt_tokens: number
  completion_tokens: number
  /** Decimals in US dollars; null when none is known. */
  prompt_cost: string | null
  completion_cost: string | null
  total_cost: string | null
}

/** Sums over TraceRuns as they are priced now. */
export interface UsageDetailsSource {
  details(query: UsageDetailsQuery): Promise<UsageDetail[]>
}
