import type { FeedbackStats } from '../../trace/json/feedback-stats.ts'
import type { OutlineStore } from './outline-store.ts'
import type { ThreadStore, ThreadWindow } from './thread-store.ts'
import type { ListQuery, TraceStore } from './trace-store.ts'

/** Groupings of TraceRuns; `metadata` needs a key. TraceRuns without a value are in no group. */
export type StatsGrouping =
  | {
      by: 'model' | 'provider' | 'run_type' | 'status' | 'name' | 'tag' | 'thread' | 'session'
      max_groups: number
    }
  | { by: 'metadata'; key: string; max_groups: number }

/** The TraceRuns of a query for figures, and its groups. Times are epoch microseconds. */
export interface StatsQuery extends Omit<ListQuery, 'after' | 'order' | 'limit'> {
  group_by?: StatsGrouping
  /** Length of a time bucket, in microseconds; buckets begin at its multiples. */
  interval?: number
  /** Whether to count the TraceRuns by classes of their times. */
  histograms?: boolean
}

/** The 50th and 99th percentile; null where no TraceRun has a value. */
export type Percentiles = [number | null, number | null]

/** The number of TraceRuns by class of a time; the key of a class is its lower bound in seconds. */
export type TimeHistogram = ReadonlyMap<number, number>

/** Numbers of llm TraceRuns, in total and by verdict. */
export interface HeldChecks {
  llm_runs: number
  /** The number of TraceRuns for which all four checks hold. */
  all: number
  run_type: number
  format: number
  model: number
  usage: number
}

/**
 * Figures of some TraceRuns. Times are in seconds; costs are dollars as decimal text, but percentiles of costs are
 * numbers. Null if no TraceRun has a value.
 */
export interface RunFigures {
  /** Value of the group; null without grouping. */
  group: string | null
  /** Start of the bucket in epoch microseconds; null without an interval. */
  bucket: number | null
  run_count: number
  /** Epoch microseconds. */
  last_start: number | null
  /** Share of the ended TraceRuns that failed, 0 to 1. */
  error_rate: number | null
  /**
   * Share of the ended llm TraceRuns that have a first token. For roots: share of the ended traces with llm TraceRuns
   * that have a first token.
   */
  streaming_rate: number | null
  latency: Percentiles
  first_token: Percentiles
  latency_p90: number | null
  first_token_p90: number | null
  latency_p95: number | null
  first_token_p95: number | null
  /** Undefined unless the query requests it. */
  latency_histogram: TimeHistogram | undefined
  first_token_histogram: TimeHistogram | undefined
  /** Numbers of the TraceRuns themselves, even if other figures are those of whole traces. */
  checks: HeldChecks
  prompt_tokens: number
  completion_tokens: number
  prompt_cost: string | null
  completion_cost: string | null
  total_cost: string | null
  /** Number of counted calls without a known cost, which `total_cost` leaves out. */
  unpriced_runs: number
  /** Sums over the TraceRuns with usage, or over their traces. */
  prompt_tokens_each: Percentiles
  completion_tokens_each: Percentiles
  total_tokens_each: Percentiles
  total_cost_each: Percentiles
  prompt_token_details: Record<string, number>
  completion_token_details: Record<string, number>
  prompt_cost_details: Record<string, string>
  completion_cost_details: Record<string, string>
}

/** Figures of groups, in order of the bucket, then the largest group first. */
export interface StatsAnswer {
  /** False if percentiles are approximate: they come from sketches of kept figures, or of more than 2,000,000 TraceRuns. */
  is_exact: boolean
  figures: RunFigures[]
}

/** Fields whose values can be listed; `metadata_value` needs a key. */
export type FacetField =
  | Exclude<StatsGrouping['by'], 'thread' | 'session' | 'metadata'>
  | 'issue'
  | 'metadata_key'
  | 'metadata_value'
  | 'input_source'
  | 'output_source'
  | 'price_model_id'
  | 'user'
  | 'api_key'

/** A query for the values of a field, among the selected TraceRuns. */
export interface FacetQuery extends Omit<ListQuery, 'after' | 'order' | 'limit'> {
  field: FacetField
  /** Key of the metadata, for `metadata_value`. */
  key?: string
  /** Beginning of the values, ignoring case. */
  prefix?: string
  /** 1 to 100. */
  max_values: number
}

/** Values with the number of their TraceRuns, the most frequent value first. */
export interface Facets {
  values: { value: string; count: number }[]
  /** True if there are further values. */
  has_more: boolean
  /** False if only the newest 200,000 TraceRuns were read, or there are more than 100,000 values. */
  is_whole: boolean
}

/** Some TraceRuns of a list, by their ids or by their times; at least one of the three is present. */
export interface SelectedRuns {
  run_ids?: readonly string[]
  /** Epoch microseconds. */
  start_time?: number
  end_time?: number
}

/** A query for the values of the selected TraceRuns of a list and of the others. */
export interface ComparedQuery extends Omit<ListQuery, 'after' | 'order' | 'limit'> {
  selected: SelectedRuns
}

/** Fields of the TraceRuns below a root: models, names of tools, first lines of errors, tags, metadata. */
export type BelowField = `${'model' | 'tool' | 'error' | 'tag' | 'metadata'}_below`

/** Fields whose values are compared. The values of `latency` and `tokens` are the lower bounds of classes. */
export type ComparedField =
  | Exclude<FacetField, 'input_source' | 'output_source' | 'price_model_id' | 'api_key'>
  | 'error'
  | 'thread'
  | 'latency'
  | 'tokens'
  | BelowField

/** The number of TraceRuns that have a value, among the selected ones and among the others. */
export interface ComparedValue {
  field: ComparedField
  /** Key of the metadata; '' for other fields than those of values of the metadata. */
  key: string
  value: string
  selected: number
  rest: number
}

/** Values of two sets of TraceRuns. */
export interface ComparedRuns {
  selected_count: number
  rest_count: number
  /** Those of the largest difference of shares, at most 200; values of a single TraceRun are left out. */
  values: ComparedValue[]
  /** False if only the newest 200,000 TraceRuns of the list or of the selection were read, or there are more than 300,000 values. */
  is_whole: boolean
}

/** Figures that the store computes. */
export interface StatsStore {
  /** Returns a single element for a query without grouping and interval, even if no TraceRun is found. */
  runStats(workspace_id: string, query: StatsQuery): Promise<StatsAnswer>
  /** Returns values; the count of a value is the number of TraceRuns that a filter for this value finds. */
  runFacets(workspace_id: string, query: FacetQuery): Promise<Facets>
  comparedRuns(workspace_id: string, query: ComparedQuery): Promise<ComparedRuns>
  /** The feedback of these TraceRuns, by TraceRun; at most 1,000 TraceRuns. */
  feedbackOfRuns(workspace_id: string, run_ids: readonly string[]): Promise<Map<string, FeedbackStats>>
  /** The feedback of these TraceRuns, by owner; at most 1,000 TraceRuns. */
  feedbackOfOwners(
    workspace_id: string,
    runs: readonly { run_id: string; owner: string }[],
  ): Promise<Map<string, FeedbackStats>>
  /** The feedback of the roots of these threads' traces in the window, by thread. */
  feedbackOfThreads(
    workspace_id: string,
    window: ThreadWindow,
    thread_ids: readonly string[],
  ): Promise<Map<string, FeedbackStats>>
  /** The distribution over all TraceRuns that the query finds. */
  feedbackStats(workspace_id: string, query: StatsQuery): Promise<FeedbackStats>
}

export interface ReadStore extends TraceStore, StatsStore, OutlineStore, ThreadStore {}
