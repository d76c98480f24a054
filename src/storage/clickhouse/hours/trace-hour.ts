import { PROJECT } from '../threads/turns-sql.ts'

const HOUR_US = 3_600_000_000
/** Maximum number of ranges of time in one condition; more are joined to one range from the first to the last hour. */
const MAX_RANGES = 100

/** SQL of the hour of a row of `runs`, counted from 1970. */
export const RUN_HOUR = `toInt32(intDiv(toUnixTimestamp64Micro(sort_time), ${HOUR_US}))`

/**
 * SQL of the hour to which the trace of a row of `runs` belongs, as in migration 0018: the start of the first segment of
 * its dotted_order, so that it needs no other row of the trace.
 */
export const TRACE_HOUR = `toInt32(ifNull(intDiv(toUnixTimestamp(
  parseDateTimeOrNull(substring(dotted_order, 1, 11), '%Y%m%dT%H', 'UTC')), 3600), ${RUN_HOUR}))`

/**
 * SQL of the number that stands for the day of `hour` where hours do too: in run_hours, whose rows of days have it as
 * `hour`. It is beyond any hour of a trace, and not in figure_hours, so that servers of earlier releases never read them.
 */
export const DAY_OF_HOUR = 'toInt32(100000000 + floor(hour / 24))'
/** SQL of the hash by which figure_days knows hours with their numbers of changes. */
export const hoursHash = (changes: string): string => `sum(cityHash64(hour, ${changes}))`

/** An hour of a project, and the hours in which rows of its traces are. */
export interface HourRows {
  hour: number
  run_hours: readonly number[]
}

/** SQL condition on rows of `runs`: the trace belongs to one of these hours of the project; there is at least one. */
export function inHours(hours: readonly HourRows[]): string {
  const own = hours.map(({ hour }) => hour).join(', ')
  return `${PROJECT} AND ${inRunHours(hours, 'sort_time')} AND ${TRACE_HOUR} IN (${own})`
}

/** SQL condition on a time: it is in an hour in which these hours have rows. */
export function inRunHours(hours: readonly HourRows[], column: string): string {
  const ranges: { from: number; to: number }[] = []
  for (const hour of [...new Set(hours.flatMap(({ run_hours }) => run_hours))].sort((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last?.to === hour) last.to = hour + 1
    else ranges.push({ from: hour, to: hour + 1 })
  }
  if (ranges.length === 0) return '0'
  const few = ranges.length > MAX_RANGES ? [{ from: ranges[0]!.from, to: ranges.at(-1)!.to }] : ranges
  const time = (hour: number): string => `fromUnixTimestamp64Micro(${hour * HOUR_US})`
  return `(${few.map(({ from, to }) => `${column} >= ${time(from)} AND ${column} < ${time(to)}`).join(' OR ')})`
}

/** The hour of a time in epoch microseconds. */
export const hourOf = (time: number): number => Math.floor(time / HOUR_US)
