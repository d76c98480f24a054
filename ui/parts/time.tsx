import { shortTime } from './format/times.ts'
import { readPreference } from './preferences.ts'
import { UNKNOWN } from './format/numbers.ts'

/** A time in the zone that the reader chose; in UTC, with all digits, on hover. */
export function Time({ time }: { time: string | null | undefined }) {
  if (time === null || time === undefined) return <>{UNKNOWN}</>
  return (
    <time dateTime={time} title={time}>
      {shortTime(time, readPreference('zone'))}
    </time>
  )
}
