import type { Issue } from '../../schema/issue.ts'
import { parseTime, SUB_MILLISECOND } from '../time.ts'
import { type SpanView, asNumber, readJson } from './span-view.ts'

/** Events that mark the first piece of an answer. */
const FIRST_EVENTS = new Set([
  'new_token',
  'gen_ai.first_token',
  'ai.stream.firstChunk',
  'First Token Stream Event',
  'llm.content.completion.chunk',
])

/**
 * When the first token arrived, epoch microseconds, by the sources of contract §2.8 in their order: the convention's
 * seconds (as attribute of the answer, or as AI SDK 7 spells it), Vercel's milliseconds, events. A time before the start or after the end is flagged and ignored.
 */
export function firstTokenOfSpan(
  view: SpanView,
  start: number | undefined,
  end: number | undefined,
  issues: Issue[],
): number | undefined {
  let outside: string | undefined
  for (const [time, path] of candidates(view, start)) {
    const early = start !== undefined && time + SUB_MILLISECOND < start
    const late = end !== undefined && time > end + SUB_MILLISECOND
    if (!early && !late) return time
    outside ??= path
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

function* candidates(view: SpanView, start: number | undefined): Generator<[time: number, path: string]> {
  if (start !== undefined) {
    for (const [key, micros] of [
      ['gen_ai.response.time_to_first_chunk', 1e6],
      // The name of the metric, which AI SDK 7 puts on its spans.
      ['gen_ai.client.operation.time_to_first_chunk', 1e6],
      ['ai.response.msToFirstChunk', 1e3],
      ['ai.stream.msToFirstChunk', 1e3],
    ] as const) {
      const delay = asNumber(view.get(key))
      if (delay !== undefined) yield [start + Math.round(delay * micros), `attributes.${key}`]
    }
  }
  let first: number | undefined
  for (const event of view.span.events) {
    const time = FIRST_EVENTS.has(event.name) ? parseTime(event.time) : undefined
    if (time !== undefined && (first === undefined || time < first)) first = time
  }
  if (first !== undefined) yield [first, 'events']
  const completion = 'langfuse.observation.completion_start_time'
  const said = parseTime(readJson(view.get(completion) ?? ''))
  if (said !== undefined) yield [said, `attributes.${completion}`]
}
