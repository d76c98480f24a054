import type { Issue } from '../../schema/issue.ts'
import { idText, isObject, type JsonObject, type JsonValue, text } from '../../schema/json.ts'
import type { StoredFragment } from '../rows/fragment.ts'
import { firstTokenTime } from './first-token.ts'
import { isEmptyJson, parseLooseJson } from '../json/loose-json.ts'
import { type ParentLineage, deriveLineage } from './lineage/lineage.ts'
import { type LlmContext, deriveLlm } from './llm.ts'
import type { TraceRun } from './trace-run.ts'
import { mergeFragments, metadataOf, usageMetadataOf } from './merge.ts'
import type { MergedTraceRun } from './merged-trace-run.ts'
import type { MappedSpan } from '../otel/map/span.ts'
import { mapMerged, withSpan } from '../otel/span/apply.ts'
import { priceTraceRun } from '../price/price-trace-run.ts'
import { normalizeProvider } from '../price/provider-name.ts'
import { parseTime, SUB_MILLISECOND } from './time.ts'
import { type Usage, emptyUsage } from '../tokens/usage/record.ts'
import { reportedUsage } from '../tokens/usage/usage.ts'

export interface DeriveContext extends LlmContext {
  /** Finds another TraceRun of the workspace, for children that were sent without their place in the trace. */
  parentOf(id: string): ParentLineage | undefined
}

/** Earliest plausible start time, 2015-01-01; an earlier time is from a wrong clock. */
const EARLIEST = Date.UTC(2015, 0, 1) * 1000
const DAY = 86_400_000_000

/** Whether TraceRuns of this type are calls, with token counts of their own (rule N6). */
export function carriesUsage(runType: string): boolean {
  return runType === 'llm' || runType === 'embedding'
}

/**
 * Derives a TraceRun from its fragments. Pure: the same fragments in any order give the same result, at ingest and at
 * read.
 */
export function deriveTraceRun(fragments: readonly StoredFragment[], context: DeriveContext): TraceRun {
  return deriveMerged(mergeFragments(fragments), context)
}

/** As deriveTraceRun, for fragments that have been merged already. */
export function deriveMerged(sent: MergedTraceRun, context: DeriveContext): TraceRun {
  const mapped = mapMerged(sent)
  const merged = mapped ? withSpan(sent, mapped) : sent
  const { head } = merged
  const issues: Issue[] = [...merged.issues, ...(mapped?.issues ?? [])]
  const times = readTimes(merged, issues)
  const lineage = deriveLineage(merged, times.start_time, context.parentOf, issues)
  const run_type = readRunType(head, issues)
  const error = readError(merged) ?? mapped?.error
  const metadata = metadataOf(merged)
  const outputs =
    mapped?.outputs?.value ??
    (usesOutputs(merged, run_type) ? readSide(merged, 'outputs', issues) : undefined)
  const traceRun: TraceRun = {
    ...lineage,
    start_time: times.start_time,
    end_time: times.end_time,
    sort_time: times.sort_time,
    merged,
    mapped,
    id: merged.id,
    name: text(head['name']) ?? 'unnamed',
    run_type,
    status: error !== undefined ? 'error' : times.end_time !== undefined ? 'success' : 'pending',
    first_token_time: mapped?.first_token_time,
    error,
    tags: readTags(head['tags'], issues),
    metadata,
    thread_id: readThread(metadata),
    usage: emptyUsage(),
    called: undefined,
    llm: undefined,
    issues,
  }
  if (carriesUsage(run_type)) {
    const inputs = mapped?.inputs?.value ?? readSide(merged, 'inputs', issues)
    deriveLlm(traceRun, inputs, outputs, context)
    if (context.prices) priceTraceRun(traceRun, context.prices(merged.workspace_id))
  } else if (mapped?.summed !== undefined) {
    addSum(traceRun, mapped, context)
  } else {
    traceRun.usage = costsOnly(
      reportedUsage(ownUsage(outputs), usageMetadataOf(merged), [], { run_type }, mapped?.usage),
    )
    if (run_type === 'retriever' && mapped === undefined) addRerank(traceRun, outputs, context)
  }
  const start = sentStart(merged)
  // Without a start the time to the first token is unknown; the receive time would give a wrong one.
  if (run_type === 'llm' && merged.raw.events && start !== undefined) {
    traceRun.first_token_time = firstTokenTime(
      parseLooseJson(merged.raw.events).value,
      start,
      times.end_time,
      issues,
    )
  }
  return traceRun
}

/** Derives a TraceRun from its main fields alone. Payloads are not read, so tokens and costs stay unknown. */
export function deriveHead(heads: MergedTraceRun, parentOf: DeriveContext['parentOf']): TraceRun {
  const none = { tokens: 0, encoding: '', sampled: false }
  const startEstimate = () => ({ input: () => none, output: () => none })
  return { ...deriveMerged(heads, { processors: [], startEstimate, parentOf }), usage: emptyUsage() }
}

function sentStart(merged: MergedTraceRun): number | undefined {
  return parseTime(merged.head['start_time'])
}

/** The start time of a TraceRun in epoch microseconds: as sent, otherwise the receive time of its first fragment. */
export function startTimeOf(merged: MergedTraceRun): number {
  return sentStart(merged) ?? merged.received_at * 1000
}

/** Whether a start is plausible, so that lists can be ordered by it. */
export function isPlausible(start: number | undefined, receivedAt: number): start is number {
  return start !== undefined && start >= EARLIEST && start <= receivedAt * 1000 + DAY
}

function readTimes(
  merged: MergedTraceRun,
  issues: Issue[],
): { start_time: number; end_time: number | undefined; sort_time: number } {
  const received = merged.received_at * 1000
  const start = sentStart(merged)
  const end = parseTime(merged.head['end_time'])
  if (start === undefined) {
    issues.push({
      code: 'start_time_missing',
      severity: 'warning',
      path: 'start_time',
      message: 'No start_time was sent; the receive time stands for it.',
      fix: 'Send start_time as an ISO 8601 time.',
    })
  } else if (!isPlausible(start, merged.received_at)) {
    issues.push({
      code: 'implausible_time',
      severity: 'warning',
      path: 'start_time',
      message: 'start_time is far from the time of receipt; lists order this by the receive time.',
      fix: "Set the sender's clock.",
    })
  }
  if (start !== undefined && end !== undefined && end + SUB_MILLISECOND < start) {
    issues.push({
      code: 'end_before_start',
      severity: 'warning',
      path: 'end_time',
      message: 'end_time lies before start_time.',
      fix: 'Use one clock for both.',
    })
  }
  return {
    start_time: start ?? received,
    end_time: end,
    sort_time: isPlausible(start, merged.received_at) ? start : received,
  }
}

/** Known types; others are kept as sent. */
export const RUN_TYPES: ReadonlySet<string> = new Set([
  'tool',
  'chain',
  'llm',
  'retriever',
  'embedding',
  'prompt',
  'parser',
])

function readRunType(head: JsonObject, issues: Issue[]): string {
  const raw = text(head['run_type'])
  if (raw === undefined) return 'chain'
  if (RUN_TYPES.has(raw)) return raw
  const lower = raw.trim().toLowerCase()
  if (RUN_TYPES.has(lower)) return lower
  issues.push({
    code: 'unknown_run_type',
    severity: 'warning',
    path: 'run_type',
    message: `"${raw.slice(0, 64)}" is not a known run type; it is kept as sent.`,
    fix: `Use one of ${[...RUN_TYPES].join(', ')}.`,
  })
  return raw.slice(0, 64)
}

/** Reads `error`, which is sent as a JSON string or as plain text; an object is kept as its JSON. */
function readError(merged: MergedTraceRun): string | undefined {
  const bytes = merged.raw.error
  if (!bytes) return undefined
  const { value } = parseLooseJson(bytes)
  if (value === null || value === '' || value === false) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function readTags(value: JsonValue | undefined, issues: Issue[]): string[] {
  if (value === undefined) return []
  if (!Array.isArray(value) || value.some((tag) => typeof tag !== 'string')) {
    issues.push({
      code: 'invalid_tags',
      severity: 'warning',
      path: 'tags',
      message: 'tags is not a list of strings; what is no string was dropped.',
      fix: 'Send tags as a list of strings.',
    })
  }
  return Array.isArray(value) ? value.filter((tag): tag is string => typeof tag === 'string') : []
}

/**
 * The thread that the TraceRun itself names (D-54); the thread of a trace is that of its earliest TraceRun that names
 * one.
 */
function readThread(metadata: JsonObject): string | undefined {
  return (
    idText(metadata['thread_id']) ?? idText(metadata['session_id']) ?? idText(metadata['conversation_id'])
  )
}

/** Whether outputs must be read. For types without token counts, only if they may contain a cost. */
function usesOutputs(merged: MergedTraceRun, runType: string): boolean {
  const bytes = merged.raw.outputs
  return (
    bytes !== undefined &&
    (carriesUsage(runType) ||
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes('usage_metadata') ||
      (runType === 'retriever' && mayBeRerank(merged, bytes)))
  )
}

/** Whether outputs may be a vendor's answer to a rerank: a model is named, and there is usage. */
function mayBeRerank(merged: MergedTraceRun, bytes: Uint8Array): boolean {
  const outputs = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isOfModel = metadataOf(merged)['ls_model_name'] !== undefined || outputs.includes('"model"')
  return isOfModel && ['"usage"', '"billed_units"', '"total_tokens"'].some((name) => outputs.includes(name))
}

/** Reads a side as JSON. A side that is not JSON is kept as text, with an issue. */
function readSide(
  merged: MergedTraceRun,
  side: 'inputs' | 'outputs',
  issues: Issue[],
): JsonValue | undefined {
  const bytes = merged.raw[side]
  // Creates of the Python client contain `{}` for outputs that are sent later.
  if (!bytes || isEmptyJson(bytes)) return undefined
  const parsed = parseLooseJson(bytes)
  if (!parsed.ok)
    issues.push({
      code: 'side_not_json',
      severity: 'error',
      path: side,
      message: `${side} is not JSON and is kept as text.`,
      fix: 'Log values that can be serialised; see what the client printed.',
    })
  else if (parsed.repaired)
    issues.push({
      code: 'side_repaired',
      severity: 'warning',
      path: side,
      message: `${side} holds bare NaN or Infinity, which is not JSON; they read as null.`,
      fix: 'Replace NaN and Infinity before logging.',
    })
  return parsed.value
}

/**
 * On types without token counts, sent costs count but sent tokens do not, because parents repeat the sums of their
 * children (rule N6).
 */
function costsOnly(usage: Usage): Usage {
  return usage.total_cost === undefined ? emptyUsage() : { ...emptyUsage(), total_cost: usage.total_cost }
}

/**
 * Adds the usage of a rerank, which is a call of a model: its answer has a vendor's usage. A search of the user's own
 * store has none.
 */
function addRerank(traceRun: TraceRun, outputs: JsonValue | undefined, context: DeriveContext): void {
  const { metadata, run_type, start_time, issues, merged } = traceRun
  const sent = text(metadata['ls_provider'])
  const provider = sent === undefined ? undefined : normalizeProvider(sent)
  const answer = isObject(outputs) ? outputs['model'] : undefined
  const model = text(metadata['ls_model_name']) ?? text(answer)
  const found: Issue[] = []
  const usage = reportedUsage(outputs, usageMetadataOf(merged), found, { run_type, provider })
  const isCall = model !== undefined && (usage.source.input !== null || Object.keys(usage.units).length > 0)
  if (!isCall) return
  traceRun.usage = usage
  traceRun.called = { model, provider }
  issues.push(...found)
  if (context.prices)
    priceTraceRun(
      { start_time, usage, llm: { model, provider }, issues },
      context.prices(merged.workspace_id),
    )
}

/**
 * Adds the sum of the calls below a span, in which it counts if none of them has usage (rule U9). Of its issues only
 * those about unread numbers are kept, since the others would be about a sum that usually counts nothing.
 */
function addSum(traceRun: TraceRun, { usage: places, summed }: MappedSpan, context: DeriveContext): void {
  const { start_time, issues, merged } = traceRun
  const found: Issue[] = []
  const usage = reportedUsage(
    undefined,
    usageMetadataOf(merged),
    found,
    { run_type: 'llm', ...summed },
    places,
  )
  issues.push(...found.filter(({ code }) => code === 'usage_unread'))
  if (usage.source.input === null && usage.source.output === null) {
    traceRun.usage = costsOnly(usage)
    return
  }
  traceRun.usage = usage
  traceRun.called = summed
  if (context.prices)
    priceTraceRun({ start_time, usage, llm: summed, issues: [] }, context.prices(merged.workspace_id))
}

/** The usage that the TraceRun reports about itself. Messages inside its outputs contain the usage of its children. */
function ownUsage(outputs: JsonValue | undefined): JsonValue | undefined {
  return isObject(outputs) && outputs['usage_metadata'] !== undefined
    ? { usage_metadata: outputs['usage_metadata'] }
    : undefined
}
