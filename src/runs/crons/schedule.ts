import { Cron } from 'croner'
import { AppError } from '../../base/errors.ts'

/**
 * When a cron is due: five fields (minute, hour, day, month, weekday), or six with seconds first, or a name such as
 * `@daily`.
 */
export interface Schedule {
  schedule: string
  /** IANA name; null for UTC. */
  timezone: string | null
  /** Epoch milliseconds; null for no end. */
  end_time: number | null
}

/**
 * The first time after `after` (both epoch milliseconds) at which a schedule is due; null when there is none. @throws
 * AppError invalid_request when schedule or timezone are invalid
 */
export function nextRunDate({ schedule, timezone, end_time }: Schedule, after: number): number | null {
  let next: Date | null
  try {
    const cron = new Cron(schedule, { timezone: timezone ?? 'UTC', mode: '5-or-6-parts', paused: true })
    next = cron.nextRun(new Date(after))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new AppError('invalid_request', { message: `The schedule cannot be read: ${reason}`, cause: error })
  }
  if (next === null || (end_time !== null && next.getTime() > end_time)) return null
  return next.getTime()
}
