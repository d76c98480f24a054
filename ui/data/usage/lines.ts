import type { UsageDetails } from '../../api/platform.gen.ts'
import type { UsageRange } from './range.ts'

/** Groupings of counted usage. Only tokens and costs are grouped by model, because a trace or a run may call several. */
export const GROUPINGS = ['project', 'workspace', 'user', 'api_key', 'model'] as const
/** One of these, or `metadata.` and a key: by the value that the roots of the stored traces have. */
export type Grouping = (typeof GROUPINGS)[number] | `metadata.${string}`

const METADATA = 'metadata.'

/** The metadata key of a grouping; undefined for other groupings. */
export function usageKeyOf(grouping: Grouping): string | undefined {
  return grouping.startsWith(METADATA) ? grouping.slice(METADATA.length) : undefined
}

/** The grouping that a text of the address names; by project for any other text. */
export function usageGroupingOf(text: string): Grouping {
  if (text.startsWith(METADATA) && text.length > METADATA.length) return text as `metadata.${string}`
  return GROUPINGS.find((one) => one === text) ?? 'project'
}
/** The quantity that is added up: counted traces, tokens, dollars, or runs of deployments and their nodes. */
export const MEASURES = ['traces', 'tokens', 'cost', 'runs', 'nodes'] as const
export type Measure = (typeof MEASURES)[number]

/** Whether a measure is of deployments. Their groups have no lists of what is counted. */
export function isOfDeployments(measure: Measure): boolean {
  return measure === 'runs' || measure === 'nodes'
}

/** Whether a measure can be grouped by model. */
export function isOfModels(measure: Measure): boolean {
  return measure === 'tokens' || measure === 'cost'
}

/** Size of the buckets of a report. */
export type Stride = UsageDetails['stride']
/** A value of a metadata key. Null for traces without it, and for those of values that are not `left_out`. */
interface MetadataDimensions {
  metadata_value: string | null
  /** The values that have groups, if there are more values than groups. */
  left_out?: readonly string[]
}

/** The values that name a group of a report. */
export type Dimensions = UsageDetails['usage'][number]['dimensions'] | MetadataDimensions

export interface UsageQuery extends UsageRange {
  workspaces: readonly string[]
  grouping: Grouping
  measure: Measure
}

/** The selection of the records behind one number, as in the address of their list. */
export interface CountedQuery {
  start_time: string
  end_time: string
  workspace_ids: string[]
  time_bucket?: string
  project_id?: string
  user_id?: string
  api_key?: string
  exclude_project_id?: string[]
  exclude_user_id?: string[]
  exclude_api_key?: string[]
}

/** The kind of number whose runs are listed: the sum of tokens or of costs, or the number of calls without a price. */
export const SUMMED = ['tokens', 'cost', 'unpriced'] as const

/** The query for the runs behind a number of a report. */
export interface SummedQuery extends CountedQuery {
  of: (typeof SUMMED)[number]
  provider?: string
  model?: string[]
  /** JSON arrays of a provider and a model. */
  exclude_model?: string[]
}

/** A line of a report: one group in one bucket. */
export interface UsageLine {
  time_bucket: string
  dimensions: Dimensions
  /** Decimal text; null when it is not known. */
  value: string | null
  /** Number of model calls without a price. Only reports on tokens and costs have others than 0. */
  unpriced: number
  /** Number of traces; only in reports by a key of the metadata. */
  traces?: number
}
