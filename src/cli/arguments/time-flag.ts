import { AppError } from '../../base/errors.ts'
import { parseTime } from '../../trace/derive/time.ts'

const MINUTES: Readonly<Record<string, number>> = {
  m: 1,
  h: 60,
  d: 24 * 60,
  w: 7 * 24 * 60,
  y: 365 * 24 * 60,
}
const MINUTE_MS = 60_000
const SPAN = /^(\d{1,5})([mhdwy])$/
/** Pattern of a time. It checks only the date; the server parses the rest. */
const ISO = /^\d{4}-\d\d-\d\d([T ].*)?$/

export interface TimeFlag {
  flag: string
  text: string
}

/** A duration before `now` (epoch milliseconds) as ISO 8601, or an ISO 8601 time unchanged. @throws AppError invalid_request */
export function pastTime({ flag, text }: TimeFlag, now: number): string {
  if (text === 'now') return new Date(now).toISOString()
  return timeOf(text, now, -1) ?? refuse({ flag, text }, 'how long ago')
}

/** A duration after `now` as ISO 8601, or an ISO 8601 time unchanged. @throws AppError invalid_request */
export function futureTime({ flag, text }: TimeFlag, now: number): string {
  const time = timeOf(text, now, 1) ?? refuse({ flag, text }, 'in how long')
  if ((parseTime(time) ?? 0) / 1000 > now) return time
  throw new AppError('invalid_request', { message: `${flag} must be in the future. It is "${text}".` })
}

function timeOf(text: string, now: number, direction: 1 | -1): string | undefined {
  const [, count, unit = ''] = SPAN.exec(text) ?? []
  if (count !== undefined)
    return new Date(now + direction * Number(count) * (MINUTES[unit] ?? 1) * MINUTE_MS).toISOString()
  return ISO.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined
}

function refuse({ flag, text }: TimeFlag, span: string): never {
  throw new AppError('invalid_request', {
    message: `${flag} must be a time such as 2026-11-20 or 2026-11-20T09:00:00Z, or ${span}: 10m, 12h, 30d, 4w or 1y. It is "${text}".`,
  })
}
