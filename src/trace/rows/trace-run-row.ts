import { NIL_UUID } from '../../base/ids.ts'
import { type JsonObject, isObject } from '../../schema/json.ts'
import { isPlausible } from '../derive/derive.ts'
import type { TraceRun } from '../derive/trace-run.ts'
import type { ModelPart } from '../tokens/usage/record.ts'
import type { CostDetails } from '../price/cost-details.ts'
import { PRICE_ISSUES } from '../price/issues.ts'
import {
  type Codec,
  f64,
  i128,
  map,
  nullable,
  rowFormat,
  string,
  strings,
  ticks,
  u64,
  u8,
  uuid,
} from './row-format.ts'
import { callFactsOf, callIdOf } from '../derive/same-call.ts'
import { parseTime } from '../derive/time.ts'
import { CHECKS } from '../derive/verdicts.ts'
import { previewOf } from './preview.ts'

/** A row of table `runs`: a TraceRun without its payloads. Times are epoch microseconds, costs 10^-18 dollars. */
export interface TraceRunRow {
  workspace_id: string
  project_id: string
  sort_time: number
  run_id: string
  /**
   * Increases with the known fragments and roots of the trace, then with a known parent, then with prices; the row with
   * the highest version counts.
   */
  version: number
  is_deleted: number
  trace_id: string
  /** NIL_UUID for a root. */
  parent_run_id: string
  dotted_order: string
  name: string
  run_type: string
  status: string
  start_time: number
  end_time: number | null
  first_token_time: number | null
  /** Epoch milliseconds. */
  received_at: number
  user_id: string
  api_key_id: string
  error: string
  inputs_preview: string
  outputs_preview: string
  tags: string[]
  thread_id: string
  metadata: Record<string, string>
  provider: string
  model: string
  model_source: string
  input_format: string
  output_format: string
  input_tokens: number | null
  output_tokens: number | null
  input_token_details: Record<string, number>
  output_token_details: Record<string, number>
  input_cost: bigint | null
  output_cost: bigint | null
  total_cost: bigint | null
  input_source: string
  output_source: string
  /** Bit i is set if CHECKS[i] is ok. */
  checks: number
  issues: string[]
  /** The price of the computed costs; empty if none was computed. */
  price_model_id: string
  /** Bits of SENT for costs that the client sent, which price changes do not affect. */
  sent_costs: number
  /** Parts of input_cost and output_cost; empty if unknown. */
  input_cost_details: CostDetails
  output_cost_details: CostDetails
  /** Results of callIdOf and callFactsOf; 0 for types other than llm. */
  call_id: number
  call_facts: number
  /** Numbers of usage that are no tokens. */
  usage_units: Record<string, number>
  /** Conditions of the price; `models` is the JSON of the parts of the call by model. */
  usage_conditions: Record<string, string>
  /** The model that the answer names, if it is another name than `model`; otherwise empty. */
  answered_model: string
  /** vendor, client or computed; empty without a cost, and in rows of earlier releases. */
  cost_source: string
  /** What the prices say beside a stated cost. */
  computed_cost: bigint | null
  /** What a computed total has for units and the fee of the call. */
  unit_costs: CostDetails
}

/**
 * Whether a cost is in the range of Decimal(38, 18). A higher cost results from a wrong price; it is stored as unknown,
 * because the row could not be stored otherwise.
 */
const fits = (value: bigint | null): boolean =>
  value === null || (value < 10n ** 38n && value > -(10n ** 38n))
const knownCost = nullable(i128)
const cost: Codec<bigint | null> = {
  ...knownCost,
  write: (out, value) => knownCost.write(out, fits(value) ? value : null),
}
/**
 * Parts of a cost. A part that is too large is stored as zero; the cost is then too large as well, and is stored as
 * null.
 */
const costs = map<bigint>({ ...i128, write: (out, value) => out.i128(fits(value) ? value : 0n) })
const texts = map(string)
const counts = map(u64)
const optionalTicks = nullable(ticks)
const optionalCount = nullable(u64)

/** Rows of table `runs`. */
export const TRACE_RUN_ROWS = rowFormat<TraceRunRow>({
  workspace_id: uuid,
  project_id: uuid,
  sort_time: ticks,
  run_id: uuid,
  version: u64,
  is_deleted: u8,
  trace_id: uuid,
  parent_run_id: uuid,
  dotted_order: string,
  name: string,
  run_type: string,
  status: string,
  start_time: ticks,
  end_time: optionalTicks,
  first_token_time: optionalTicks,
  received_at: ticks,
  user_id: uuid,
  api_key_id: uuid,
  error: string,
  inputs_preview: string,
  outputs_preview: string,
  tags: strings,
  thread_id: string,
  metadata: texts,
  provider: string,
  model: string,
  model_source: string,
  input_format: string,
  output_format: string,
  input_tokens: optionalCount,
  output_tokens: optionalCount,
  input_token_details: counts,
  output_token_details: counts,
  input_cost: cost,
  output_cost: cost,
  total_cost: cost,
  input_source: string,
  output_source: string,
  checks: u8,
  issues: strings,
  price_model_id: string,
  sent_costs: u8,
  input_cost_details: costs,
  output_cost_details: costs,
  call_id: u64,
  call_facts: u8,
  usage_units: map(f64),
  usage_conditions: texts,
  answered_model: string,
  cost_source: string,
  computed_cost: cost,
  unit_costs: costs,
})

/** The columns that the roll-up of one trace reads. */
const SUM_COLUMNS = [
  'run_id',
  'parent_run_id',
  'run_type',
  'model',
  'status',
  'start_time',
  'end_time',
  'first_token_time',
  'thread_id',
  'input_tokens',
  'output_tokens',
  'input_cost',
  'output_cost',
  'total_cost',
  'input_source',
  'output_source',
  'sent_costs',
  'call_id',
  'call_facts',
] as const satisfies readonly (keyof TraceRunRow)[]

/** The columns that roll-ups of several traces read. */
export const ROLL_UP_COLUMNS = ['trace_id', ...SUM_COLUMNS] as const satisfies readonly (keyof TraceRunRow)[]

/** Maximum number of TraceRuns in the outline of a trace. */
export const MAX_OUTLINE_RUNS = 200_000

export const TRACE_OUTLINE_COLUMNS = [
  ...SUM_COLUMNS,
  'name',
  'checks',
] as const satisfies readonly (keyof TraceRunRow)[]

export type OutlineColumns = Pick<TraceRunRow, (typeof TRACE_OUTLINE_COLUMNS)[number]>

export type RollUpColumns = Pick<TraceRunRow, (typeof ROLL_UP_COLUMNS)[number]>

/** The bit of column `checks` that is set if the check is ok. */
export function checkBit(check: (typeof CHECKS)[number]): number {
  return CHECKS.indexOf(check)
}

/** Number of versions of a row from the same fragments: PRICINGS before the parent arrived, and as many after. */
const VERSIONS = 2 ** 21
/** Number of versions of each kind: the first as derived, the others after changes of prices. */
const PRICINGS = 2 ** 20

/** The number of fragments, and of other roots of its trace, from which a row was derived. */
export function derivedFrom({ version }: Pick<TraceRunRow, 'version'>): number {
  return Math.floor(version / VERSIONS)
}

/** Whether `row` was derived from fewer fragments and roots than `newer`. */
export function isOutdated(row: TraceRunRow, newer: TraceRunRow): boolean {
  return derivedFrom(row) < derivedFrom(newer)
}

/** The version of the same row with other prices: a row derived from more fragments still overrides it. */
export function repricedVersion(version: number): number {
  return version % PRICINGS === PRICINGS - 1 ? version : version + 1
}

/** The lean row of a TraceRun. */
export function toRow(traceRun: TraceRun): TraceRunRow {
  const { merged, mapped, llm, called, usage } = traceRun
  const isCall = llm !== undefined && traceRun.run_type === 'llm'
  return {
    workspace_id: merged.workspace_id,
    project_id: merged.project_id,
    sort_time: traceRun.sort_time,
    run_id: traceRun.id,
    version:
      (merged.fragments + traceRun.other_roots) * VERSIONS + (traceRun.awaits === undefined ? PRICINGS : 0),
    is_deleted: 0,
    trace_id: traceRun.trace_id,
    parent_run_id: traceRun.parent_run_id ?? NIL_UUID,
    dotted_order: traceRun.dotted_order,
    name: cut(traceRun.name, 512),
    run_type: traceRun.run_type,
    status: traceRun.status,
    start_time: storable(traceRun.start_time),
    end_time: traceRun.end_time === undefined ? null : storable(traceRun.end_time),
    first_token_time: traceRun.first_token_time === undefined ? null : storable(traceRun.first_token_time),
    received_at: merged.received_at,
    user_id: merged.user_id,
    api_key_id: merged.api_key_id,
    error: cut(traceRun.error ?? '', 500),
    inputs_preview: previewOf({
      side: 'inputs',
      messages: llm?.input_messages,
      raw: merged.raw.inputs,
      mapped: mapped?.inputs?.value,
    }),
    outputs_preview: previewOf({
      side: 'outputs',
      messages: llm?.output_messages,
      raw: merged.raw.outputs,
      mapped: mapped?.outputs?.value,
    }),
    tags: traceRun.tags.slice(0, 50).map((tag) => cut(tag, 200)),
    thread_id: cut(traceRun.thread_id ?? '', 256),
    metadata: shortTexts(traceRun.metadata),
    provider: (llm ?? called)?.provider ?? '',
    model: (llm ?? called)?.model ?? '',
    model_source: llm?.model_source ?? '',
    input_format: llm?.input_format ?? '',
    output_format: llm?.output_format ?? '',
    input_tokens: usage.input_tokens ?? null,
    output_tokens: usage.output_tokens ?? null,
    input_token_details: usage.input_token_details,
    output_token_details: usage.output_token_details,
    input_cost: usage.input_cost ?? null,
    output_cost: usage.output_cost ?? null,
    total_cost: usage.total_cost ?? null,
    input_source: usage.source.input ?? '',
    output_source: usage.source.output ?? '',
    checks: llm ? CHECKS.reduce((bits, check, i) => bits | (llm.checks[check].ok ? 1 << i : 0), 0) : 0,
    issues: codesOf(traceRun),
    price_model_id: usage.price_model_id ?? '',
    sent_costs: usage.sent_costs ?? 0,
    input_cost_details: usage.input_cost_details,
    output_cost_details: usage.output_cost_details,
    call_id: isCall ? callIdOf(llm, isUnanswered(traceRun)) : 0,
    call_facts: isCall ? callFactsOf(llm, usage, traceRun.first_token_time, mapped?.is_vendors ?? false) : 0,
    usage_units: usage.units,
    usage_conditions: storedConditions(usage),
    answered_model: llm?.answered_model ?? '',
    cost_source: usage.cost_source ?? '',
    computed_cost: usage.computed_cost ?? null,
    unit_costs: usage.unit_costs,
  }
}

function storedConditions({ conditions, models }: TraceRun['usage']): Record<string, string> {
  return models.length === 0 ? conditions : { ...conditions, models: JSON.stringify(models) }
}

/** The parts of a call by model, as `storedConditions` wrote them. */
export function modelsOf({ usage_conditions }: Pick<TraceRunRow, 'usage_conditions'>): ModelPart[] {
  const { models } = usage_conditions
  return models === undefined ? [] : (JSON.parse(models) as ModelPart[])
}

/** Whether this is a failed call without a known answer or counts. */
function isUnanswered({ status, usage, llm }: TraceRun): boolean {
  const { input, output } = usage.source
  return status === 'error' && llm?.response_id === undefined && input === null && output === null
}

/** Codes of issues. Those about prices are first, because they cannot be derived again without prices. */
function codesOf({ issues }: TraceRun): string[] {
  const codes = new Set(issues.map(({ code }) => code))
  const byPrice = PRICE_ISSUES.filter((code) => codes.has(code))
  return [...new Set([...byPrice, ...codes])].slice(0, 20)
}

/**
 * Rows that delete earlier rows of the TraceRun. A derivation from fewer fragments may have written such a row under
 * another sort key. Usually there are none, because both SDKs repeat project and start in their updates.
 */
export function tombstones(traceRun: TraceRun, row: TraceRunRow): TraceRunRow[] {
  const { keys } = traceRun.merged
  const [first] = keys
  const isSettled = parseTime(first!.start_time) !== undefined && traceRun.sort_time === traceRun.start_time
  const isSame = keys.every(
    (key) => key.start_time === first!.start_time && key.project_id === first!.project_id,
  )
  if (keys.length === 1 || (isSettled && isSame)) return []
  const times = new Set<number>()
  const projects = new Set<string>()
  for (const key of keys) {
    const start = parseTime(key.start_time)
    for (const { received_at } of keys)
      times.add(isPlausible(start, received_at) ? start : received_at * 1000)
    projects.add(key.project_id)
  }
  const out: TraceRunRow[] = []
  for (const sort_time of times) {
    for (const project_id of projects) {
      if (sort_time !== row.sort_time || project_id !== row.project_id)
        out.push({ ...row, sort_time, project_id, is_deleted: 1 })
    }
  }
  return out
}

/** Limits a time to the range of DateTime64(6), 1900 to 2261. */
function storable(micros: number): number {
  return Math.min(Math.max(micros, -2_208_988_800_000_000), 9_200_000_000_000_000)
}

function cut(value: string, size: number): string {
  return value.length <= size ? value : `${value.slice(0, size - 1)}…`
}

/** Metadata that lists can show and filter by: scalars, at most 32 of them. */
function shortTexts(metadata: JsonObject): Record<string, string> {
  const out: Record<string, string> = {}
  let left = 32
  for (const key of Object.keys(metadata)) {
    const value = metadata[key]
    if (value === null || value === undefined || isObject(value) || Array.isArray(value) || key.length > 128)
      continue
    out[key] = cut(String(value), 256)
    if (--left === 0) break
  }
  return out
}
