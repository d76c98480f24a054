import { AppError } from '../base/errors.ts'

const HOURS: Readonly<Record<string, number>> = { h: 1, d: 24, w: 7 * 24, y: 365 * 24 }
const HOUR_MS = 3_600_000
const SPAN = /^(\d{1,5})([hdwy])$/
/** Day first; what follows is the server's to read. */
const ISO = /^\d{4}-\d\d-\d\d([T ].*)?$/

/** A flag's value as it was typed, and the flag as it is called. */
export interface TimeFlag {
  flag: string
  text: string
}

/** The time so long before `now` (epoch milliseconds), `now` itself, or a time of ISO 8601 as it is. @throws AppError invalid_request */
export function pastTime({ flag, text }: TimeFlag, now: number): string {
  if (text === 'now') return new Date(now).toISOString()
  return timeOf(text, now, -1) ?? refuse({ flag, text }, 'how long ago')
}

/** The time so long after `now`, or a time of ISO 8601 as it is. @throws AppError invalid_request */
export function futureTime({ flag, text }: TimeFlag, now: number): string {
  return timeOf(text, now, 1) ?? refuse({ flag, text }, 'in how long')
}

function timeOf(text: string, now: number, direction: 1 | -1): string | undefined {
  const [, count, unit = ''] = SPAN.exec(text) ?? []
  if (count !== undefined)
    return new Date(now + direction * Number(count) * (HOURS[unit] ?? 1) * HOUR_MS).toISOString()
  return ISO.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined
}

function refuse({ flag, text }: TimeFlag, span: string): never {
  throw new AppError('invalid_request', {
    message: `${flag} must be a time such as 2026-11-20 or 2026-11-20T09:00:00Z, or ${span}: 12h, 30d, 4w or 1y. It is "${text}".`,
  })
}
