import { isUtf8 } from 'node:buffer'
import { NIL_UUID } from '../../base/ids.ts'
import type { Issue } from '../../schema/issue.ts'
import type { JsonValue } from '../../schema/json.ts'
import { formatDecimal } from '../price/decimal.ts'
import { carriesUsage } from '../derive/derive.ts'
import type { TraceRun } from '../derive/trace-run.ts'
import type { BigField } from '../rows/fragment.ts'
import { type FeedbackStats, feedbackStatsJson } from './feedback-stats.ts'
import { parseLooseJson } from './loose-json.ts'
import { headUuid } from '../derive/merge.ts'
import { areParts, type CostDetails } from '../price/cost-details.ts'
import { PRICE_ISSUES, priceIssue, unpricedFacts } from '../price/issues.ts'
import { isFramework, normalizeProvider, providerOfPrice } from '../price/provider-name.ts'
import type { RollUp, Totals } from '../derive/roll-up.ts'
import { lifetimesOf } from '../tokens/usage/reconcile.ts'
import { type EstimatedPart, type EstimatedRow, estimatedPart } from '../tokens/estimated-part.ts'
import { formatTime } from '../derive/time.ts'
import { type AttachmentLinks, attachmentUrl } from './run-links.ts'
import type { TraceRunRow } from '../rows/trace-run-row.ts'
import { CHECKS } from '../derive/verdicts.ts'

/** JSON text or bytes. Pieces are joined without parsing the parts that clients sent. */
export type Piece = string | Uint8Array

const LIST_PEEK_BYTES = 64

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
type Faults = Pick<Totals, 'error_runs' | 'unpriced_runs'>

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

function countFields(counts: TopCounts) {
  return {
    prompt_tokens: counts.prompt_tokens,
    completion_tokens: counts.completion_tokens,
    total_tokens: counts.prompt_tokens + counts.completion_tokens,
    prompt_cost: cost(counts.prompt_cost),
    completion_cost: cost(counts.completion_cost),
    total_cost: cost(counts.total_cost),
    estimated_prompt_tokens: counts.estimated_prompt_tokens,
    estimated_completion_tokens: counts.estimated_completion_tokens,
    estimated_cost: cost(counts.estimated_cost),
  }
}

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

/** The facts about a trace that the fields of its TraceRuns show. */
export interface OfTrace extends Pick<RollUp, 'same_calls' | 'thread_id'> {
  of(run_id: string): TopCounts & Partial<Faults>
}

/** The fields of a TraceRun that depend on the other known TraceRuns of its trace and on its feedback. */
export function aboutInTrace(
  row: TraceRunRow,
  trace: OfTrace | undefined,
  feedback?: FeedbackStats,
): InTrace {
  const sums = trace?.of(row.run_id)
  const counts = carriesUsage(row.run_type) ? undefined : sums
  const ofTrace = row.parent_run_id === NIL_UUID ? trace?.thread_id : undefined
  return {
    counts: counts ?? ownCounts(row),
    faults: faultsOf(row, sums),
    same_call_as: trace?.same_calls.get(row.run_id),
    thread_id: row.thread_id === '' ? ofTrace : row.thread_id,
    feedback,
  }
}

function faultsOf(row: TraceRunRow, sums: Partial<Faults> | undefined): Faults | undefined {
  if (sums?.error_runs !== undefined && sums.unpriced_runs !== undefined)
    return { error_runs: sums.error_runs, unpriced_runs: sums.unpriced_runs }
  if (!carriesUsage(row.run_type)) return undefined
  const hasTokens = row.input_tokens !== null || row.output_tokens !== null
  return {
    error_runs: Number(row.status === 'error'),
    unpriced_runs: Number(hasTokens && row.total_cost === null),
  }
}

export function totalsJson(totals: Totals) {
  const { llm_runs, error_runs, unpriced_runs } = totals
  return { ...countFields(totals), llm_runs, error_runs, unpriced_runs }
}

/** Fields that lean and full reads share; `row` is the TraceRun's lean row. */
function commonFields(row: TraceRunRow, { counts, same_call_as, thread_id, feedback }: InTrace) {
  return {
    id: row.run_id,
    trace_id: row.trace_id,
    parent_run_id: row.parent_run_id === NIL_UUID ? null : row.parent_run_id,
    parent_run_ids: parentIds(row.dotted_order),
    dotted_order: row.dotted_order,
    session_id: row.project_id,
    name: row.name,
    run_type: row.run_type,
    status: row.status,
    start_time: time(row.start_time),
    end_time: time(row.end_time),
    first_token_time: time(row.first_token_time),
    received_at: time(row.received_at * 1000),
    ...countFields(counts),
    prompt_token_details: inputDetails(row),
    completion_token_details: row.output_token_details,
    prompt_cost_details: costDetails(counts.prompt_cost, row.input_cost, row.input_cost_details),
    completion_cost_details: costDetails(counts.completion_cost, row.output_cost, row.output_cost_details),
    thread_id: thread_id ?? null,
    app_path: `/app/traces/${row.trace_id}?run=${row.run_id}`,
    in_dataset: null,
    reference_example_id: null,
    feedback_stats: feedback ? feedbackStatsJson(feedback) : null,
    price_model_id: row.price_model_id || null,
    same_call_as: same_call_as ?? null,
    usage_units: row.usage_units,
    unit_costs: costTexts(row.unit_costs),
    cost_source: row.cost_source || null,
    computed_cost: cost(row.computed_cost),
  }
}

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

/** The lean form: one entry of a list. It has previews instead of inputs and outputs. */
function leanTraceRun(row: TraceRunRow, about: InTrace): Record<string, unknown> {
  return {
    ...commonFields(row, about),
    ...listFields(row, about),
    error: row.error === '' ? null : row.error,
    tags: row.tags,
    extra: { metadata: row.metadata },
    ...(isLlm(row) ? { llm: leanLlm(row) } : {}),
  }
}

/** Fields that only lists have. */
function listFields(row: TraceRunRow, { faults, glimpse }: InTrace) {
  return {
    error_runs: faults?.error_runs ?? null,
    unpriced_runs: faults?.unpriced_runs ?? null,
    failed_names: glimpse?.failed ?? [],
    inputs_preview: row.inputs_preview || (glimpse?.asked ?? ''),
    outputs_preview: row.outputs_preview || (glimpse?.answered ?? ''),
  }
}

function isLlm(row: TraceRunRow): boolean {
  return row.run_type === 'llm' || row.run_type === 'embedding'
}

function leanLlm(row: TraceRunRow) {
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
function providerSource({ provider, metadata, price_model_id }: TraceRunRow): string | null {
  if (provider === '') return null
  const sent = metadata['ls_provider']
  if (sent !== undefined && !isFramework(sent)) return 'metadata.ls_provider'
  return providerOfPrice(price_model_id) === normalizeProvider(provider) ? 'price' : 'model'
}

function timeToFirstToken(row: TraceRunRow): number | null {
  return row.first_token_time === null ? null : Math.max(0, row.first_token_time - row.start_time) / 1000
}

/** Rule LLM-11: output tokens per second from the first token, otherwise from the start, to the end. */
function tokensPerSecond(row: TraceRunRow): number | null {
  const { run_type, output_tokens, first_token_time, start_time, end_time } = row
  if (run_type !== 'llm' || !output_tokens || end_time === null) return null
  const micros = end_time - (first_token_time ?? start_time)
  return micros > 0 ? (output_tokens * 1e6) / micros : null
}

function usageMetadata(row: TraceRunRow) {
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

/** The fields of each TraceRun in a response: all or the selected ones, without the omitted ones. */
export interface FieldChoice {
  select?: readonly string[] | undefined
  omit?: readonly string[] | undefined
  /** Whether times have no zone, as LangSmith's v1 has them. */
  zoneless?: boolean | undefined
  /** For the links of `s3_urls`; without it, responses do not have the field. */
  links?: AttachmentLinks | undefined
}

const TIMES: ReadonlySet<string> = new Set(['start_time', 'end_time', 'first_token_time'])

/** Fields that are returned when another one is selected, as LangSmith does. */
const WITH: Readonly<Record<string, string>> = {
  prompt_tokens: 'prompt_token_details',
  completion_tokens: 'completion_token_details',
  prompt_cost: 'prompt_cost_details',
  completion_cost: 'completion_cost_details',
  inputs: 's3_urls',
}

/** Fields of every TraceRun, selected or not: the Python SDK rejects a TraceRun without them. */
const ALWAYS = ['id', 'name', 'run_type', 'start_time', 'trace_id']

/** The lean form as pieces of JSON. */
export function leanPieces(row: TraceRunRow, about: InTrace, choice: FieldChoice): Piece[] {
  return objectPieces(Object.entries(leanTraceRun(row, about)), choice)
}

/**
 * The full form as pieces of JSON. JSON from the client is returned byte for byte, so that numbers beyond 2^53 and key
 * order are kept. `row` is the lean row of `traceRun`.
 */
export function fullPieces(
  traceRun: TraceRun,
  row: TraceRunRow,
  about: InTrace,
  choice: FieldChoice,
): Piece[] {
  const { merged, llm } = traceRun
  const fields = {
    ...commonFields(row, about),
    // A list may select them beside a field of the payloads.
    ...(choice.select && listFields(row, about)),
    reference_example_id: headUuid(merged, 'reference_example_id') ?? null,
    tags: traceRun.tags,
    error: traceRun.error ?? null,
    extra: { ...merged.extra, metadata: traceRun.metadata },
    attachments: attachmentsOf(traceRun),
    ...(choice.links && { s3_urls: linkedAttachments(traceRun, choice.links) }),
    issues: allIssues(traceRun, row),
    ...(llm ? { llm: fullLlm(traceRun, row) } : {}),
    // The sides of a span are built from its attributes at every read.
    inputs: traceRun.mapped?.inputs?.value ?? sentJson(merged.raw, 'inputs') ?? {},
    outputs: traceRun.mapped?.outputs?.value ?? sentJson(merged.raw, 'outputs') ?? null,
    events: eventList(sentJson(merged.raw, 'events')),
    serialized: sentJson(merged.raw, 'serialized') ?? null,
  }
  return objectPieces(Object.entries(fields), choice)
}

/** A JSON object of the chosen fields. */
function objectPieces(
  fields: readonly (readonly [string, unknown])[],
  { select, omit = [], zoneless = false }: FieldChoice,
): Piece[] {
  const keep = select && new Set([...select, ...select.flatMap((name) => WITH[name] ?? []), ...ALWAYS])
  const chosen = fields.filter(([name]) => (!keep || keep.has(name)) && !omit.includes(name))
  if (!zoneless) return jsonObject(chosen)
  return jsonObject(chosen.map(([name, value]) => [name, TIMES.has(name) ? withoutZone(value) : value]))
}

function withoutZone(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/Z$/, '') : value
}

/** A JSON object of these fields; bytes are inserted as JSON text. */
export function jsonObject(fields: readonly (readonly [string, unknown])[]): Piece[] {
  const pieces: Piece[] = ['{']
  for (const [name, value] of fields) {
    pieces.push(
      `${pieces.length === 1 ? '' : ','}"${name}":`,
      value instanceof Uint8Array ? value : JSON.stringify(value),
    )
  }
  pieces.push('}')
  return pieces
}

function attachmentsOf({ id, merged }: TraceRun) {
  return Object.fromEntries(
    Object.entries(merged.attachments).map(([name, { mime_type, size }]) => [
      name,
      { mime_type, size, url: `/api/v1/runs/${id}/attachments/${encodeURIComponent(name)}` },
    ]),
  )
}

/** Attachments as LangSmith's SDKs read them: with links that need no key. */
function linkedAttachments({ id, merged }: TraceRun, links: AttachmentLinks) {
  return Object.fromEntries(
    Object.entries(merged.attachments).map(([name, { mime_type }]) => [
      `attachment.${name}`,
      { presigned_url: attachmentUrl(links, id, name), mime_type },
    ]),
  )
}

function fullLlm(traceRun: TraceRun, row: TraceRunRow) {
  const llm = traceRun.llm!
  return {
    ...leanLlm(row),
    checks: llm.checks,
    messages: { input: llm.input_messages, output: llm.output_messages },
    issues: allIssues(traceRun, row),
  }
}

/** The issues of the TraceRun, and those about prices, which the row stores by code. */
function allIssues({ issues, llm, called, usage }: TraceRun, row: TraceRunRow): Issue[] {
  const known = new Set(issues.map(({ code }) => code))
  const codes = PRICE_ISSUES.filter((code) => row.issues.includes(code) && !known.has(code))
  if (codes.length === 0) return issues
  const call = {
    provider: (llm ?? called)?.provider,
    model: (llm ?? called)?.model,
    ...unpricedFacts(usage),
  }
  return [...issues, ...codes.map((code) => priceIssue(code, call))]
}

const LIST_START = /^\s*\[/

/** Returns a list of events, which clients expect; any other value becomes the only entry of a list. */
export function eventList(events: Uint8Array | JsonValue | undefined): Uint8Array | JsonValue[] {
  if (events === undefined || events === null) return []
  if (!(events instanceof Uint8Array)) return Array.isArray(events) ? events : [events]
  const text = Buffer.from(events.buffer, events.byteOffset, events.byteLength)
  if (LIST_START.test(text.toString('latin1', 0, LIST_PEEK_BYTES))) return events
  const value = JSON.parse(text.toString('utf8')) as JsonValue
  return value === null ? [] : Array.isArray(value) ? value : [value]
}

/** The bytes of a big field if they are JSON; otherwise the value that could be read from them. */
export function sentJson(
  raw: Partial<Record<BigField, Uint8Array>>,
  field: BigField,
): Uint8Array | JsonValue | undefined {
  const bytes = raw[field]
  if (!bytes) return undefined
  const { value, ok, repaired } = parseLooseJson(bytes)
  return ok && !repaired && isUtf8(bytes) ? bytes : value
}

export function joinPieces(pieces: readonly Piece[]): Uint8Array<ArrayBuffer> {
  const buffers = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  const out = new Uint8Array(buffers.reduce((size, piece) => size + piece.length, 0))
  let at = 0
  for (const piece of buffers) {
    out.set(piece, at)
    at += piece.length
  }
  return out
}
