import { describe, expect, it } from 'vitest'
import { nextRunDate } from './schedule.ts'

const at = (text: string): number => Date.parse(text)
const next = (schedule: string, after: string, timezone: string | null = null, end: string | null = null) => {
  const found = nextRunDate({ schedule, timezone, end_time: end === null ? null : at(end) }, at(after))
  return found === null ? null : new Date(found).toISOString()
}

describe('nextRunDate', () => {
  it.each([
    ['*/5 * * * *', '2026-11-20T10:00:00Z', '2026-11-20T10:05:00.000Z'],
    ['0 9 * * 1-5', '2026-11-20T09:00:00Z', '2026-11-23T09:00:00.000Z'],
    ['30 0 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T00:30:00.000Z'],
    ['*/10 * * * * *', '2026-11-20T10:00:01Z', '2026-11-20T10:00:10.000Z'],
    ['@daily', '2026-11-20T10:00:00Z', '2026-11-21T00:00:00.000Z'],
  ])('%s after %s is %s in UTC', (schedule, after, expected) => {
    expect(next(schedule, after)).toBe(expected)
  })

  it('reads schedules in their time zone, over a change of the clock', () => {
    expect(next('0 9 * * *', '2026-03-07T15:00:00Z', 'America/New_York')).toBe('2026-03-08T13:00:00.000Z')
    expect(next('0 9 * * *', '2026-03-06T15:00:00Z', 'America/New_York')).toBe('2026-03-07T14:00:00.000Z')
  })

  it('is null after the end, and when no such day exists', () => {
    expect(next('0 * * * *', '2026-11-20T10:30:00Z', null, '2026-11-20T10:59:00Z')).toBeNull()
    expect(next('0 * * * *', '2026-11-20T10:30:00Z', null, '2026-11-20T11:00:00Z')).toBe(
      '2026-11-20T11:00:00.000Z',
    )
    expect(next('0 0 30 2 *', '2026-11-20T10:30:00Z')).toBeNull()
  })

  it.each([['61 * * * *'], ['* * * *'], [''], ['x'], ['* * * * * * *']])('refuses %j', (schedule) => {
    expect(() => next(schedule, '2026-11-20T10:30:00Z')).toThrowError(
      expect.objectContaining({ code: 'invalid_request' }),
    )
  })

  it('refuses an unknown time zone', () => {
    expect(() => next('* * * * *', '2026-11-20T10:30:00Z', 'Mars/Base')).toThrowError(
      expect.objectContaining({ code: 'invalid_request' }),
    )
  })
})
