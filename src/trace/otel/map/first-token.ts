import type { Issue } from '../../../schema/issue.ts'
import { parseTime, SUB_MILLISECOND } from '../../derive/time.ts'
import { type SpanView, asNumber, readJson } from '../span/view.ts'

/** Names of events that mark the first piece of an answer. */
const FIRST_EVENTS = new Set([
  'new_token',
  'gen_ai.first_token',
  'ai.stream.firstChunk',
  'First Token Stream Event',
  'llm.content.completion.chunk',
  // OpenLLMetry sends this event for each piece, MLflow too.
  'gen_ai.content.completion.chunk',
  'mlflow.chunk.item.0',
])

/**
 * Time of the first token in epoch microseconds. Sources in order of precedence: the convention's seconds (as attribute
 * of the answer, or in the spelling of AI SDK 7), Vercel's milliseconds, events. A time before the start or after the
 * end is reported as an issue and ignored, as is an event without a time (D-16).
 */
export function firstTokenOfSpan(
  view: SpanView,
  start: number | undefined,
  end: number | undefined,
  issues: Issue[],
): number | undefined {
  let outside: string | undefined
  for (const [time, path] of candidates(view, start, end)) {
    const early = start !== undefined && time + SUB_MILLISECOND < start
    const late = end !== undefined && time > end + (isLateEvent(view, path) ? LATE : SUB_MILLISECOND)
    if (!early && !late) return time
    outside ??= path
  }
  const untimed = view.span.events.findIndex(({ name, time }) => FIRST_EVENTS.has(name) && !isTimed(time))
  if (outside === undefined && untimed >= 0) {
    issues.push({
      code: 'new_token_without_time',
      severity: 'warning',
      path: `extra.otel_span.events[${untimed}].time`,
      message: 'The event of the first token carries no time, so the time to first token is unknown.',
      fix: 'Set the time of the event.',
    })
  }
  if (outside !== undefined) {
    issues.push({
      code: 'new_token_outside_run',
      severity: 'warning',
      path: `extra.otel_span.${outside}`,
      message: 'The time of the first token lies before the start or after the end and was ignored.',
      fix: 'Use the same clock for the span and its events.',
    })
  }
  return undefined
}

function isTimed(time: string): boolean {
  return parseTime(time) !== undefined
}

/** Whether an event of the span, with any time, shows that an answer has begun. */
export function hasTokenEvent({ span }: SpanView): boolean {
  return span.events.some(({ name }) => FIRST_EVENTS.has(name))
}

/**
 * The time of Haystack's first token in the sender's local time, in an output that OpenInference printed, or in the
 * JSON of Haystack's own tracer.
 */
const PRINTED = /['"]completion_start_time['"]: ?['"](\d{4}-\d\d-\d\dT[\d:.]{8,15})['"]/
const PRINTED_IN = ['output.value', 'haystack.component.output'] as const
/** All offsets of time zones are multiples of this number of microseconds. */
const QUARTER = 900_000_000

/** The printed time. Its time zone is unknown; the zone that makes it the closest time after the start is used. */
function printedTime(view: SpanView, start: number): number | undefined {
  if (!/haystack/i.test(view.span.scope.name ?? '')) return undefined
  const local = PRINTED.exec(view.text(...PRINTED_IN) ?? '')?.[1]
  const time = local === undefined ? undefined : parseTime(`${local}Z`)
  return time === undefined ? undefined : start + ((((time - start) % QUARTER) + QUARTER) % QUARTER)
}

/**
 * Maximum microseconds from the end of LlamaIndex's span to the first token: the span of a stream ends when the stream
 * is returned, before its first piece.
 */
const LATE = 10_000_000

function isLateEvent({ span }: SpanView, path: string): boolean {
  return path === 'events' && /llama_?index/i.test(span.scope.name ?? '')
}

/** Maximum microseconds by which a delay may exceed the span's end, because another clock measures it. */
const CLOCKS_APART = 50_000

function after(start: number, delay: number, end: number | undefined): number {
  const time = start + Math.round(delay)
  return end !== undefined && time > end && time <= end + CLOCKS_APART ? end : time
}

function* candidates(
  view: SpanView,
  start: number | undefined,
  end: number | undefined,
): Generator<[time: number, path: string]> {
  if (start !== undefined) {
    for (const [key, micros] of [
      ['gen_ai.response.time_to_first_chunk', 1e6],
      // AI SDK 7 has the metric of this name as an attribute of its spans.
      ['gen_ai.client.operation.time_to_first_chunk', 1e6],
      ['ttft_ms', 1e3],
      ['ai.response.msToFirstChunk', 1e3],
      ['ai.stream.msToFirstChunk', 1e3],
    ] as const) {
      const delay = asNumber(view.get(key))
      if (delay !== undefined) yield [after(start, delay * micros, end), `attributes.${key}`]
    }
    const server = 'gen_ai.server.time_to_first_token'
    const wait = asNumber(view.get(server))
    // The conventions use seconds, Strands uses milliseconds.
    const unit = view.span.scope.name?.startsWith('strands') ? 1e3 : 1e6
    if (wait !== undefined) yield [after(start, wait * unit, end), `attributes.${server}`]
    const printed = printedTime(view, start)
    if (printed !== undefined) yield [printed, 'attributes.output.value']
  }
  let first: number | undefined
  for (const event of view.span.events) {
    const time = FIRST_EVENTS.has(event.name) ? parseTime(event.time) : undefined
    if (time !== undefined && (first === undefined || time < first)) first = time
  }
  if (first !== undefined) yield [first, 'events']
  for (const key of ['langfuse.observation.completion_start_time', 'mastra.completion_start_time']) {
    const time = parseTime(readJson(view.get(key) ?? ''))
    if (time !== undefined) yield [time, `attributes.${key}`]
  }
}
