import { shortTime } from './format/times.ts'
import { UNKNOWN } from './format/numbers.ts'

/** A time in the reader's zone; in UTC, with all digits, on hover. */
export function Time({ time }: { time: string | null | undefined }) {
  if (time === null || time === undefined) return <>{UNKNOWN}</>
  return (
    <time dateTime={time} title={time}>
      {shortTime(time)}
    </time>
  )
}
