import type { FeedbackStats } from './feedback-stats.ts'
import type { TraceRunPublicSelect, TraceRunSelect } from '../../schema/types.gen.ts'
import type { TraceRun } from '../derive/trace-run.ts'
import { headUuid } from '../derive/merge.ts'
import type { CostDetails } from '../price/cost-details.ts'
import { NIL_UUID } from '../../base/ids.ts'
import type { TraceRunRow } from '../rows/trace-run-row.ts'
import { attachmentUrl, type RunLinks, shareUrl } from './run-links.ts'
import { costNumber, inputDetails, ROW_FIELDS, time, type TopCounts, usageConditions } from './row-fields.ts'
import { eventList, sentJson } from './trace-run.ts'

/** Tokens, costs and first token in a response: a TraceRun's own, or those of its subtree. */
export type ShownCounts = TopCounts & { first_token_time: number | null }

/** The parts of a response of API v2. */
export interface RunParts {
  /** The row, with the columns of the selected fields. */
  row: TraceRunRow
  counts: ShownCounts
  /** The thread of the TraceRun; for a root without one, the thread of its trace. */
  thread_id: string | undefined
  /** Present if a selected field needs the payloads. */
  traceRun: TraceRun | undefined
  /** Figures of its feedback; undefined if there is none. */
  feedback: FeedbackStats | undefined
  links: RunLinks
}

/** A field of a TraceRun that a read of API v2 can select, with a key or with a share token. */
export type RunSelect = TraceRunSelect | TraceRunPublicSelect

type Column = keyof TraceRunRow

/** One field of a TraceRun in API v2. */
interface RunField {
  /** The columns of the lean row that the field needs. */
  columns: readonly Column[]
  /** Whether the value is only in the payloads; a function decides for each row. */
  whole?: boolean | ((row: TraceRunRow) => boolean)
  /** The facts about the trace that the field needs: sums over the subtree (if requested), or the thread. */
  of_trace?: 'sums' | 'thread'
  value(parts: RunParts): unknown
}

function lean<K extends Column>(
  columns: readonly K[],
  value: (row: Pick<TraceRunRow, K>) => unknown,
): RunField {
  return { columns, value: ({ row }) => value(row) }
}

/** A field that API v1 shows in the same form. */
function asInV1(name: keyof typeof ROW_FIELDS): RunField {
  const { columns, value } = ROW_FIELDS[name]
  return { columns, value: (parts) => value(parts.row, parts) }
}

/** A field that is only in the payloads; null without them. */
function payload(value: (traceRun: TraceRun) => unknown): RunField {
  return { columns: [], whole: true, value: ({ traceRun }) => (traceRun ? value(traceRun) : null) }
}

/** A field that is usually complete in the lean row; if it is cut there, it is read from the payloads. */
function mostlyLean<K extends Column>(
  column: K,
  isCut: (value: TraceRunRow[K]) => boolean,
  value: (known: TraceRunRow[K] | undefined, traceRun: TraceRun | undefined) => unknown,
): RunField {
  return {
    columns: [column],
    whole: (row) => isCut(row[column]),
    value: ({ row, traceRun }) => value(row[column], traceRun),
  }
}

function counted(columns: readonly Column[], value: (counts: ShownCounts) => unknown): RunField {
  return { columns, of_trace: 'sums', value: ({ counts }) => value(counts) }
}

/** A field whose value Weir does not have. */
const unknown = (value: null | false = null): RunField => ({ columns: [], value: () => value })

const OWN_TOKENS: readonly Column[] = ['run_type', 'input_tokens', 'output_tokens']
const OWN_COSTS: readonly Column[] = ['run_type', 'input_cost', 'output_cost', 'total_cost']
const MAX_ERROR = 500
const MAX_TAGS = 50
const MAX_TAG = 200

const seconds = (micros: number): number => micros / 1e6
const isCutAt = (size: number, text: string): boolean => text.length === size && text.endsWith('…')

/** Tokens or costs by category, as numbers under `raw` (S-19). */
export function rawDetails(details: CostDetails | Record<string, number>) {
  const entries = Object.entries(details).map(([category, value]): [string, number | null] => [
    category,
    typeof value === 'bigint' ? costNumber(value) : value,
  ])
  return { raw: Object.fromEntries(entries) }
}

/** Every field of a TraceRun in API v2 (contract S-17 to S-21), and its source; those of API v1 are in ROW_FIELDS. */
const RUN_FIELDS: Readonly<Record<RunSelect, RunField>> = {
  ID: asInV1('id'),
  NAME: asInV1('name'),
  RUN_TYPE: lean(['run_type'], (row) => row.run_type.toUpperCase()),
  STATUS: lean(['status'], (row) => row.status.toUpperCase()),
  START_TIME: asInV1('start_time'),
  END_TIME: asInV1('end_time'),
  LATENCY_SECONDS: lean(['start_time', 'end_time'], ({ start_time, end_time }) =>
    end_time === null ? null : seconds(Math.max(0, end_time - start_time)),
  ),
  FIRST_TOKEN_TIME: counted(['first_token_time'], (counts) => time(counts.first_token_time)),
  ERROR: mostlyLean(
    'error',
    (error) => isCutAt(MAX_ERROR, error),
    (error, traceRun) => (traceRun ? (traceRun.error ?? null) : error || null),
  ),
  ERROR_PREVIEW: asInV1('error'),
  EXTRA: payload(({ merged, metadata }) => ({ ...merged.extra, metadata })),
  METADATA: payload(({ metadata }) => metadata),
  EVENTS: payload(({ merged }) => eventList(sentJson(merged.raw, 'events'))),
  INPUTS: payload(({ mapped, merged }) => mapped?.inputs?.value ?? sentJson(merged.raw, 'inputs') ?? {}),
  INPUTS_PREVIEW: asInV1('inputs_preview'),
  OUTPUTS: payload(({ mapped, merged }) => mapped?.outputs?.value ?? sentJson(merged.raw, 'outputs') ?? null),
  OUTPUTS_PREVIEW: asInV1('outputs_preview'),
  MANIFEST: payload(({ merged }) => sentJson(merged.raw, 'serialized') ?? null),
  PARENT_RUN_IDS: asInV1('parent_run_ids'),
  PARENT_RUN_ID: asInV1('parent_run_id'),
  PROJECT_ID: asInV1('session_id'),
  TRACE_ID: asInV1('trace_id'),
  THREAD_ID: {
    columns: ['thread_id', 'trace_id', 'parent_run_id'],
    of_trace: 'thread',
    value: ({ thread_id }) => thread_id ?? null,
  },
  DOTTED_ORDER: asInV1('dotted_order'),
  IS_ROOT: lean(['parent_run_id'], (row) => row.parent_run_id === NIL_UUID),
  REFERENCE_EXAMPLE_ID: payload(({ merged }) => headUuid(merged, 'reference_example_id') ?? null),
  REFERENCE_DATASET_ID: unknown(),
  TOTAL_TOKENS: counted(OWN_TOKENS, (counts) => counts.prompt_tokens + counts.completion_tokens),
  PROMPT_TOKENS: counted(OWN_TOKENS, (counts) => counts.prompt_tokens),
  COMPLETION_TOKENS: counted(OWN_TOKENS, (counts) => counts.completion_tokens),
  TOTAL_COST: counted(OWN_COSTS, (counts) => costNumber(counts.total_cost)),
  PROMPT_COST: counted(OWN_COSTS, (counts) => costNumber(counts.prompt_cost)),
  COMPLETION_COST: counted(OWN_COSTS, (counts) => costNumber(counts.completion_cost)),
  PROMPT_TOKEN_DETAILS: lean(['input_token_details'], (row) => rawDetails(inputDetails(row))),
  COMPLETION_TOKEN_DETAILS: lean(['output_token_details'], (row) => rawDetails(row.output_token_details)),
  PROMPT_COST_DETAILS: lean(['input_cost_details'], (row) => rawDetails(row.input_cost_details)),
  COMPLETION_COST_DETAILS: lean(['output_cost_details'], (row) => rawDetails(row.output_cost_details)),
  PRICE_MODEL_ID: asInV1('price_model_id'),
  USAGE_UNITS: asInV1('usage_units'),
  UNIT_COSTS: lean(['unit_costs'], (row) => rawDetails(row.unit_costs).raw),
  USAGE_CONDITIONS: lean(['usage_conditions'], usageConditions),
  COST_SOURCE: asInV1('cost_source'),
  COMPUTED_COST: lean(['computed_cost'], (row) => costNumber(row.computed_cost)),
  TAGS: mostlyLean(
    'tags',
    (tags) => tags.length === MAX_TAGS || tags.some((tag) => isCutAt(MAX_TAG, tag)),
    (tags, traceRun) => traceRun?.tags ?? tags,
  ),
  APP_PATH: asInV1('app_path'),
  ATTACHMENTS: {
    columns: [],
    whole: true,
    value: ({ traceRun, links }) => attachmentsJson(traceRun, links),
  },
  THREAD_EVALUATION_TIME: unknown(),
  IS_IN_DATASET: unknown(false),
  LAST_QUEUED_AT: unknown(),
  SHARE_URL: {
    columns: ['trace_id'],
    value: ({ row, links }) => shareUrl(links, row.trace_id),
  },
  FEEDBACK_STATS: asInV1('feedback_stats'),
  LS_USER_ID: unknown(),
}

/** Fields that only public reads have. */
const ONLY_PUBLIC: ReadonlySet<string> = new Set<TraceRunPublicSelect>(['PARENT_RUN_ID'])
/** Fields that public reads do not have. */
const NOT_PUBLIC: ReadonlySet<string> = new Set<TraceRunSelect>([
  'EVENTS',
  'INPUTS',
  'OUTPUTS',
  'MANIFEST',
  'ATTACHMENTS',
  'SHARE_URL',
  'APP_PATH',
  'REFERENCE_EXAMPLE_ID',
  'IS_IN_DATASET',
  'LAST_QUEUED_AT',
  'LS_USER_ID',
])
const ALL_SELECTS = Object.keys(RUN_FIELDS)

/** Names of all fields, as in `selects`. */
export const RUN_SELECTS = ALL_SELECTS.filter((select) => !ONLY_PUBLIC.has(select)) as [
  TraceRunSelect,
  ...TraceRunSelect[],
]

/** Names of the fields of public reads. */
export const PUBLIC_RUN_SELECTS = ALL_SELECTS.filter((select) => !NOT_PUBLIC.has(select)) as [
  TraceRunPublicSelect,
  ...TraceRunPublicSelect[],
]

function attachmentsJson(traceRun: TraceRun | undefined, links: RunLinks): Record<string, string> {
  const { id, attachments } = traceRun?.merged ?? { id: '', attachments: {} }
  return Object.fromEntries(Object.keys(attachments).map((name) => [name, attachmentUrl(links, id, name)]))
}

/** Columns that every response needs: the row's place in the order and in its trace. */
const ALWAYS: readonly Column[] = ['project_id', 'sort_time', 'run_id', 'trace_id']
/** Columns that are needed to derive a TraceRun again. */
const DERIVE: readonly Column[] = [
  'version',
  'parent_run_id',
  'dotted_order',
  'provider',
  'model',
  'input_tokens',
  'output_tokens',
  'input_source',
  'output_source',
  'issues',
]

/** The columns of table `runs` that the selected fields need. */
export function columnsOf(selects: readonly RunSelect[]): Column[] {
  const derive = mayNeedPayload(selects) ? DERIVE : []
  return [...new Set([...ALWAYS, ...derive, ...selects.flatMap((select) => RUN_FIELDS[select].columns)])]
}

/** Whether the payloads of some rows may be needed. */
export function mayNeedPayload(selects: readonly RunSelect[]): boolean {
  return selects.some((select) => RUN_FIELDS[select].whole !== undefined)
}

export function needsPayload(selects: readonly RunSelect[], row: TraceRunRow): boolean {
  return selects.some((select) => {
    const { whole = false } = RUN_FIELDS[select]
    return typeof whole === 'boolean' ? whole : whole(row)
  })
}

/** Whether one of the fields shows these facts about the trace. */
export function showsOfTrace(selects: readonly RunSelect[], what: 'sums' | 'thread'): boolean {
  return selects.some((select) => RUN_FIELDS[select].of_trace === what)
}

/** Name and value of each selected field, in the order of the table. */
export function selectedFields(selects: ReadonlySet<RunSelect>, parts: RunParts): [string, unknown][] {
  return (ALL_SELECTS as RunSelect[])
    .filter((select) => selects.has(select))
    .map((select) => [select.toLowerCase(), RUN_FIELDS[select].value(parts)])
}
