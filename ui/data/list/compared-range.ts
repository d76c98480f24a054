import { joinFilter, splitFilter } from '../filter/filter.ts'

/** A range of times as ISO times; '' for no limit. */
export interface TimeSpan {
  since: string
  until: string
}

/** The filter with the clauses of another one that it lacks. */
export function withClauses(filter: string, added: string): string {
  return joinFilter([...new Set([...splitFilter(filter), ...splitFilter(added)])])
}

const EVER: TimeSpan = { since: '', until: '' }

/**
 * The range whose other runs a range is compared with: the one before if it has the range as a part of it, otherwise
 * all times.
 */
export function rangeAround(range: TimeSpan, before: TimeSpan): TimeSpan {
  const isEarlier = before.since === '' || Date.parse(before.since) <= Date.parse(range.since)
  const isLater = before.until === '' || Date.parse(before.until) >= Date.parse(range.until)
  const isSame = before.since === range.since && before.until === range.until
  return isEarlier && isLater && !isSame ? before : EVER
}
