import { shortTime } from './format/times.ts'
import { readPreference } from './preferences.ts'
import { UNKNOWN } from './format/numbers.ts'

/** A short time in the zone that the user chose; on hover, the whole time in UTC. */
export function Time({ time }: { time: string | null | undefined }) {
  if (time === null || time === undefined) return <>{UNKNOWN}</>
  return (
    <time dateTime={time} title={time}>
      {shortTime(time, readPreference('zone'))}
    </time>
  )
}
