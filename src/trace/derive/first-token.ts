import type { Issue } from '../../schema/issue.ts'
import { type JsonValue, isObject } from '../../schema/json.ts'
import { parseTime, SUB_MILLISECOND } from './time.ts'

/**
 * Time of the first token in epoch microseconds: the earliest event named `new_token` with a time between start and
 * end. Events without a time are ignored (D-16).
 */
export function firstTokenTime(
  events: JsonValue | undefined,
  start: number | undefined,
  end: number | undefined,
  issues: Issue[],
): number | undefined {
  if (!Array.isArray(events)) return undefined
  let first: number | undefined
  let untimed = -1
  let outside = -1
  for (let i = 0; i < events.length; i++) {
    const event = events[i]
    if (!isObject(event) || event['name'] !== 'new_token') continue
    const time = parseTime(event['time'])
    if (time === undefined) untimed = i
    else if (isBefore(time, start) || isBefore(end, time)) outside = i
    else if (first === undefined || time < first) first = time
  }
  if (first === undefined && untimed >= 0) {
    issues.push({
      code: 'new_token_without_time',
      severity: 'warning',
      path: `events[${untimed}].time`,
      message: 'The new_token event carries no time, so the time to first token is unknown.',
      fix: 'Add an ISO 8601 time to the new_token event.',
    })
  }
  if (outside >= 0) {
    issues.push({
      code: 'new_token_outside_run',
      severity: 'warning',
      path: `events[${outside}].time`,
      message: 'A new_token event lies before the start or after the end and was ignored.',
      fix: 'Use the same clock for start_time, end_time and events.',
    })
  }
  return first
}

/** Whether a `new_token` event shows that an answer has begun, even if the event has no usable time. */
export function hasNewToken(events: JsonValue | undefined): boolean {
  return Array.isArray(events) && events.some((event) => isObject(event) && event['name'] === 'new_token')
}

/** Compares times with the precision of a millisecond, see SUB_MILLISECOND. */
function isBefore(a: number | undefined, b: number | undefined): boolean {
  return a !== undefined && b !== undefined && a + SUB_MILLISECOND < b
}
