import { isUtf8 } from 'node:buffer'
import { NIL_UUID } from '../../base/ids.ts'
import type { Issue } from '../../schema/issue.ts'
import type { JsonValue } from '../../schema/json.ts'
import { carriesUsage } from '../derive/derive.ts'
import { headUuid } from '../derive/merge.ts'
import type { RollUp } from '../derive/roll-up.ts'
import type { TraceRun } from '../derive/trace-run.ts'
import { PRICE_ISSUES, priceIssue, unpricedFacts } from '../price/issues.ts'
import type { BigField } from '../rows/fragment.ts'
import { TRACE_RUN_ROWS, type TraceRunRow } from '../rows/trace-run-row.ts'
import type { FeedbackStats } from './feedback-stats.ts'
import { parseLooseJson } from './loose-json.ts'
import {
  columnsOfFields,
  type Faults,
  type InTrace,
  leanLlm,
  ownCounts,
  ROW_FIELDS,
  type RowField,
  type TopCounts,
} from './row-fields.ts'
import { type AttachmentLinks, attachmentUrl } from './run-links.ts'

/** JSON text or bytes. Pieces are joined without parsing the parts that clients sent. */
export type Piece = string | Uint8Array

const LIST_PEEK_BYTES = 64

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

const ROW_NAMES = Object.keys(ROW_FIELDS) as (keyof typeof ROW_FIELDS)[]

/** Fields that only lists have, and complete TraceRuns that a list selects. */
const LIST_FIELDS: ReadonlySet<string> = new Set<keyof typeof ROW_FIELDS>([
  'error_runs',
  'unpriced_runs',
  'failed_names',
  'inputs_preview',
  'outputs_preview',
])

/** Fields of a list that a root may have from the TraceRuns below it. */
const GLIMPSED: readonly string[] = ['inputs_preview', 'outputs_preview', 'failed_names']

/** Fields of a list that are only in the payloads, wholly or in part. */
const PAYLOAD_FIELDS: readonly string[] = [
  'inputs',
  'outputs',
  'events',
  'serialized',
  'attachments',
  's3_urls',
  'messages',
  'extra',
  'llm',
  'issues',
]

/** Names of the chosen fields; undefined for all of them. */
function namesOf(select: readonly string[] | undefined): Set<string> | undefined {
  return select && new Set([...select, ...select.flatMap((name) => WITH[name] ?? []), ...ALWAYS])
}

/** What a list with these fields has to read. */
export interface ListNeeds {
  /** Columns of its lean rows. */
  columns: readonly (keyof TraceRunRow)[]
  payloads: boolean
  /** The other TraceRuns of its traces. */
  traces: boolean
  feedback: boolean
  glimpses: boolean
}

/** Without `select`, everything but payloads. */
export function listNeeds(select: readonly string[] | undefined): ListNeeds {
  const names = namesOf(select)
  const has = (name: string): boolean => names?.has(name) !== false
  const fields: RowField[] = ROW_NAMES.filter(has).map((name) => ROW_FIELDS[name])
  const payloads = select?.some((name) => PAYLOAD_FIELDS.includes(name)) === true
  return {
    columns: payloads || names === undefined ? TRACE_RUN_ROWS.columns : columnsOfFields(fields),
    payloads,
    traces: fields.some(({ of_trace }) => of_trace),
    feedback: has('feedback_stats'),
    glimpses: GLIMPSED.some(has),
  }
}

/** The lean form as pieces of JSON: one entry of a list. It has previews instead of inputs and outputs. */
export function leanPieces(row: TraceRunRow, about: InTrace, choice: FieldChoice): Piece[] {
  return objectPieces(
    ROW_NAMES.map((name) => [name, () => ROW_FIELDS[name].value(row, about)]),
    choice,
  )
}

/** A field's name, and what makes its value; undefined for a TraceRun that does not have it. */
type Field = readonly [name: string, make: () => unknown]

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
  const { merged, llm, mapped } = traceRun
  const { links } = choice
  const whole: Record<string, () => unknown> = {
    reference_example_id: () => headUuid(merged, 'reference_example_id') ?? null,
    tags: () => traceRun.tags,
    error: () => traceRun.error ?? null,
    extra: () => ({ ...merged.extra, metadata: traceRun.metadata }),
    attachments: () => attachmentsOf(traceRun),
    s3_urls: () => links && linkedAttachments(traceRun, links),
    issues: () => allIssues(traceRun, row),
    llm: () => llm && fullLlm(traceRun, row),
    // The sides of a span are built from its attributes at every read.
    inputs: () => mapped?.inputs?.value ?? sentJson(merged.raw, 'inputs') ?? {},
    outputs: () => mapped?.outputs?.value ?? sentJson(merged.raw, 'outputs') ?? null,
    events: () => eventList(sentJson(merged.raw, 'events')),
    serialized: () => sentJson(merged.raw, 'serialized') ?? null,
  }
  // A list may select fields of lists beside a field of the payloads.
  const ofRow = ROW_NAMES.filter(
    (name) => !Object.hasOwn(whole, name) && (choice.select !== undefined || !LIST_FIELDS.has(name)),
  ).map((name): Field => [name, () => ROW_FIELDS[name].value(row, about)])
  return objectPieces([...ofRow, ...Object.entries(whole)], choice)
}

/** A JSON object of the chosen fields; the values of others are not made. */
function objectPieces(
  fields: readonly Field[],
  { select, omit = [], zoneless = false }: FieldChoice,
): Piece[] {
  const names = namesOf(select)
  const made = fields
    .filter(([name]) => names?.has(name) !== false && !omit.includes(name))
    .map(([name, make]) => [name, make()] as const)
    .filter(([, value]) => value !== undefined)
  if (!zoneless) return jsonObject(made)
  return jsonObject(made.map(([name, value]) => [name, TIMES.has(name) ? withoutZone(value) : value]))
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
