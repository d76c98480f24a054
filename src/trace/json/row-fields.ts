import type { JsonValue } from '../../schema/json.ts'
import { NIL_UUID } from '../../base/ids.ts'
import type { Totals } from '../derive/roll-up.ts'
import { formatTime } from '../derive/time.ts'
import { CHECKS } from '../derive/verdicts.ts'
import { areParts, type CostDetails } from '../price/cost-details.ts'
import { formatDecimal } from '../price/decimal.ts'
import { isFramework, normalizeProvider, providerOfPrice } from '../price/provider-name.ts'
import type { TraceRunRow } from '../rows/trace-run-row.ts'
import { type EstimatedPart, type EstimatedRow, estimatedPart } from '../tokens/estimated-part.ts'
import { lifetimesOf } from '../tokens/usage/reconcile.ts'
import { type FeedbackStats, feedbackStatsJson } from './feedback-stats.ts'

/**
 * Top-level token and cost fields of a TraceRun in a response: its own for types llm and embedding, the roll-up for
 * other types.
 */
export interface TopCounts extends EstimatedPart {
  prompt_tokens: number
  completion_tokens: number
  prompt_cost: bigint | null
  completion_cost: bigint | null
  total_cost: bigint | null
}

/** Number of TraceRuns at and below one that failed, and of its calls with tokens but without a known cost. */
export type Faults = Pick<Totals, 'error_runs' | 'unpriced_runs'>

/** What lists show of a trace that its root does not say. */
export interface TraceGlimpse {
  /** Preview of the input of its first model call, and of the output of its last one; '' without one. */
  asked: string
  answered: string
  /** Names of failed TraceRuns below the root, at most three: tools first, then model calls. */
  failed: readonly string[]
}

/** The fields that depend on the other TraceRuns of the trace. */
export interface InTrace {
  counts: TopCounts
  /** Undefined if it is not known. */
  faults?: Faults | undefined
  glimpse?: TraceGlimpse | undefined
  /** The TraceRun that shows the same call in more detail, so that this one does not count in totals. */
  same_call_as?: string | undefined
  /** The thread that the TraceRun names; for a root without one, the thread of its trace. */
  thread_id?: string | undefined
  /** Figures of its feedback; undefined if there is none. */
  feedback?: FeedbackStats | undefined
}

const cost = (value: bigint | null | undefined): string | null =>
  value === null || value === undefined ? null : formatDecimal(value)
/** Formats a time as ISO 8601; null for an unknown time. */
export const time = (micros: number | null | undefined): string | null =>
  micros === null || micros === undefined ? null : formatTime(micros)

/** The own tokens and costs of a TraceRun of type llm or embedding. */
export function ownCounts(row: EstimatedRow): TopCounts {
  return {
    prompt_tokens: row.input_tokens ?? 0,
    completion_tokens: row.output_tokens ?? 0,
    prompt_cost: row.input_cost,
    completion_cost: row.output_cost,
    total_cost: row.total_cost,
    ...estimatedPart(row),
  }
}

/** One field of a TraceRun in API v1, from its lean row and from what is known about its trace. */
export interface RowField {
  /** The columns of the lean row that the field needs. */
  columns: readonly Column[]
  /** Whether the other TraceRuns of the trace are needed: for sums, the thread or double calls. */
  of_trace: boolean
  /** Undefined for a TraceRun that does not have the field. */
  value(row: TraceRunRow, about: InTrace): unknown
}

type Column = keyof TraceRunRow

/** A field that is in the row. */
function own<K extends Column>(
  columns: readonly K[],
  value: (row: Pick<TraceRunRow, K>) => unknown,
): RowField {
  return { columns, of_trace: false, value: (row) => value(row) }
}

/** A field that is in one column as it is. */
const plain = (column: Column): RowField => own([column], (row) => row[column])

/** A field that is in one column, where an empty text means that there is none. */
const textOrNull = (column: 'error' | 'price_model_id' | 'cost_source'): RowField =>
  own([column], (row) => row[column] || null)

/** A field that needs the other TraceRuns of its trace. */
function ofTrace(columns: readonly Column[], value: RowField['value']): RowField {
  return { columns, of_trace: true, value }
}

/** Columns from which it follows whether a TraceRun shows its own counts, and which calls of its trace are shown twice. */
const PLACE: readonly Column[] = ['run_type', 'parent_run_id', 'trace_id', 'thread_id', 'call_id']
const OWN_COUNTS: readonly Column[] = [
  ...PLACE,
  'input_tokens',
  'output_tokens',
  'input_source',
  'output_source',
  'input_cost',
  'output_cost',
  'total_cost',
  'sent_costs',
]
/** Tokens and costs, from sums or from the TraceRun's own. */
const COUNTS = {
  prompt_tokens: (counts: TopCounts) => counts.prompt_tokens,
  completion_tokens: (counts: TopCounts) => counts.completion_tokens,
  total_tokens: (counts: TopCounts) => counts.prompt_tokens + counts.completion_tokens,
  prompt_cost: (counts: TopCounts) => cost(counts.prompt_cost),
  completion_cost: (counts: TopCounts) => cost(counts.completion_cost),
  total_cost: (counts: TopCounts) => cost(counts.total_cost),
  estimated_prompt_tokens: (counts: TopCounts) => counts.estimated_prompt_tokens,
  estimated_completion_tokens: (counts: TopCounts) => counts.estimated_completion_tokens,
  estimated_cost: (counts: TopCounts) => cost(counts.estimated_cost),
}

/** A part of every entry of COUNTS, under the same names. */
function ofCounts<T>(make: (value: (counts: TopCounts) => unknown) => T): Record<keyof typeof COUNTS, T> {
  const entries = Object.entries(COUNTS).map(([name, value]) => [name, make(value)])
  return Object.fromEntries(entries) as Record<keyof typeof COUNTS, T>
}

/** The sums of a trace. */
export function totalsJson(totals: Totals) {
  const { llm_runs, error_runs, unpriced_runs } = totals
  const counts = ofCounts((value) => value(totals)) as {
    [K in keyof typeof COUNTS]: ReturnType<(typeof COUNTS)[K]>
  }
  return { ...counts, llm_runs, error_runs, unpriced_runs }
}

function costDetail(
  side: 'prompt_cost' | 'completion_cost',
  own: 'input_cost' | 'output_cost',
  column: 'input_cost_details' | 'output_cost_details',
) {
  return ofTrace([...OWN_COUNTS, own, column], (row, { counts }) =>
    costDetails(counts[side], row[own], row[column]),
  )
}

const LLM_COLUMNS = [
  'run_type',
  'provider',
  'metadata',
  'price_model_id',
  'model',
  'model_source',
  'input_format',
  'output_format',
  'input_tokens',
  'output_tokens',
  'input_token_details',
  'output_token_details',
  'usage_units',
  'usage_conditions',
  'input_cost',
  'output_cost',
  'total_cost',
  'cost_source',
  'input_source',
  'output_source',
  'first_token_time',
  'start_time',
  'end_time',
  'checks',
  'issues',
] as const satisfies readonly Column[]
type LlmRow = Pick<TraceRunRow, (typeof LLM_COLUMNS)[number]>

/**
 * Every field of a lean TraceRun in API v1, in the order of a response. API v2 has those of them that it shows in the
 * same form from here (selected-run.ts).
 */
export const ROW_FIELDS = {
  id: plain('run_id'),
  trace_id: plain('trace_id'),
  parent_run_id: own(['parent_run_id'], ({ parent_run_id }) =>
    parent_run_id === NIL_UUID ? null : parent_run_id,
  ),
  parent_run_ids: own(['dotted_order'], (row) => parentIds(row.dotted_order)),
  dotted_order: plain('dotted_order'),
  session_id: plain('project_id'),
  name: plain('name'),
  run_type: plain('run_type'),
  status: plain('status'),
  start_time: own(['start_time'], (row) => time(row.start_time)),
  end_time: own(['end_time'], (row) => time(row.end_time)),
  first_token_time: own(['first_token_time'], (row) => time(row.first_token_time)),
  received_at: own(['received_at'], (row) => time(row.received_at * 1000)),
  ...ofCounts((value) => ofTrace(OWN_COUNTS, (_, { counts }) => value(counts))),
  prompt_token_details: own(['input_token_details'], inputDetails),
  completion_token_details: plain('output_token_details'),
  prompt_cost_details: costDetail('prompt_cost', 'input_cost', 'input_cost_details'),
  completion_cost_details: costDetail('completion_cost', 'output_cost', 'output_cost_details'),
  thread_id: ofTrace(PLACE, (_, { thread_id }) => thread_id ?? null),
  app_path: own(['trace_id', 'run_id'], (row) => appPath(row.trace_id, row.run_id)),
  in_dataset: own([], () => null),
  reference_example_id: own([], () => null),
  feedback_stats: {
    ...own([], () => null),
    value: (_, { feedback }) => (feedback ? feedbackStatsJson(feedback) : null),
  },
  price_model_id: textOrNull('price_model_id'),
  same_call_as: ofTrace(PLACE, (_, { same_call_as }) => same_call_as ?? null),
  usage_units: plain('usage_units'),
  unit_costs: own(['unit_costs'], (row) => costTexts(row.unit_costs)),
  cost_source: textOrNull('cost_source'),
  computed_cost: own(['computed_cost'], (row) => cost(row.computed_cost)),
  error_runs: ofTrace([...OWN_COUNTS, 'status'], (_, { faults }) => faults?.error_runs ?? null),
  unpriced_runs: ofTrace([...OWN_COUNTS, 'status'], (_, { faults }) => faults?.unpriced_runs ?? null),
  failed_names: { ...own([], () => []), value: (_, { glimpse }) => glimpse?.failed ?? [] },
  inputs_preview: {
    ...plain('inputs_preview'),
    value: (row, { glimpse }) => row.inputs_preview || (glimpse?.asked ?? ''),
  },
  outputs_preview: {
    ...plain('outputs_preview'),
    value: (row, { glimpse }) => row.outputs_preview || (glimpse?.answered ?? ''),
  },
  error: textOrNull('error'),
  tags: plain('tags'),
  extra: own(['metadata'], ({ metadata }) => ({ metadata })),
  llm: own(LLM_COLUMNS, (row) => (isLlm(row) ? leanLlm(row) : undefined)),
} satisfies Readonly<Record<string, RowField>>

/**
 * The details of a cost; null if they are unknown, as for a sum over other TraceRuns and for a cost that was sent as a
 * whole.
 */
function costDetails(
  whole: bigint | null,
  own: bigint | null,
  details: CostDetails,
): Record<string, string> | null {
  if (whole === null || whole !== own || !areParts(details, whole)) return null
  return whole > 0n && Object.keys(details).length === 0 ? null : costTexts(details)
}

function costTexts(costs: CostDetails): Record<string, string> {
  return Object.fromEntries(Object.entries(costs).map(([key, cost]) => [key, formatDecimal(cost)]))
}

/** Ids of the ancestors, the root first. */
export function parentIds(dottedOrder: string): string[] {
  return dottedOrder
    .split('.')
    .slice(0, -1)
    .map((segment) => segment.slice(-36))
}

/** Path of a TraceRun's page, after the address of the server. */
export function appPath(trace_id: string, run_id: string): string {
  return `/app/traces/${trace_id}?run=${run_id}`
}

function isLlm({ run_type }: LlmRow): boolean {
  return run_type === 'llm' || run_type === 'embedding'
}

/** What a list shows of a model call. */
export function leanLlm(row: LlmRow) {
  return {
    provider: row.provider === '' ? null : normalizeProvider(row.provider),
    provider_source: providerSource(row),
    model: row.model || null,
    model_source: row.model_source || null,
    input_format: row.input_format || null,
    output_format: row.output_format || null,
    usage_metadata: usageMetadata(row),
    usage_source: { input: row.input_source || null, output: row.output_source || null },
    time_to_first_token_ms: timeToFirstToken(row),
    tokens_per_second: tokensPerSecond(row),
    checks: Object.fromEntries(CHECKS.map((check, i) => [check, { ok: (row.checks & (1 << i)) !== 0 }])),
    issues: row.issues.map((code) => ({ code })),
  }
}

/** The source of the provider: the client, the price of the model, or the model's name and the messages. */
function providerSource({ provider, metadata, price_model_id }: LlmRow): string | null {
  if (provider === '') return null
  const sent = metadata['ls_provider']
  if (sent !== undefined && !isFramework(sent)) return 'metadata.ls_provider'
  return providerOfPrice(price_model_id) === normalizeProvider(provider) ? 'price' : 'model'
}

function timeToFirstToken(row: LlmRow): number | null {
  return row.first_token_time === null ? null : Math.max(0, row.first_token_time - row.start_time) / 1000
}

/** Rule LLM-11: output tokens per second from the first token, otherwise from the start, to the end. */
function tokensPerSecond(row: LlmRow): number | null {
  const { run_type, output_tokens, first_token_time, start_time, end_time } = row
  if (run_type !== 'llm' || !output_tokens || end_time === null) return null
  const micros = end_time - (first_token_time ?? start_time)
  return micros > 0 ? (output_tokens * 1e6) / micros : null
}

function usageMetadata(row: LlmRow) {
  const known = row.input_tokens !== null || row.output_tokens !== null
  return {
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    total_tokens: known ? (row.input_tokens ?? 0) + (row.output_tokens ?? 0) : null,
    input_token_details: inputDetails(row),
    output_token_details: row.output_token_details,
    units: row.usage_units,
    conditions: usageConditions(row),
    input_cost: costNumber(row.input_cost),
    output_cost: costNumber(row.output_cost),
    total_cost: costNumber(row.total_cost),
    cost_source: row.cost_source || null,
  }
}

/**
 * Details of the input. If cache writes by lifetime lack some of `cache_creation`, it is what they lack (rule U4); if
 * they are all of it, it stays as told. Rows have all writes there.
 */
export function inputDetails({
  input_token_details,
}: Pick<TraceRunRow, 'input_token_details'>): Record<string, number> {
  const { cache_creation = 0 } = input_token_details
  const rest = cache_creation - lifetimesOf(input_token_details)
  return rest > 0 ? { ...input_token_details, cache_creation: rest } : input_token_details
}

/** The conditions of the price; usage by model is an object. */
export function usageConditions({
  usage_conditions,
}: Pick<TraceRunRow, 'usage_conditions'>): Record<string, JsonValue> {
  const { models, ...conditions } = usage_conditions
  return models === undefined ? conditions : { ...conditions, models: JSON.parse(models) as JsonValue }
}

/**
 * In usage_metadata and in API v2, costs are numbers. In v1 the exact decimals are top-level fields of a
 * TraceRun.
 */
export function costNumber(value: bigint | null): number | null {
  return value === null ? null : Number(formatDecimal(value))
}

/** Columns of every list: where its rows are, where the next page begins, and whether previews come from other TraceRuns. */
const OF_LISTS: readonly Column[] = [
  'project_id',
  'sort_time',
  'run_id',
  'trace_id',
  'parent_run_id',
  'run_type',
]

/** The columns of table `runs` that a list of these fields needs. */
export function columnsOfFields(fields: readonly RowField[]): Column[] {
  return [...new Set([...OF_LISTS, ...fields.flatMap(({ columns }) => columns)])]
}
