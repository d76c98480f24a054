import { describe, expect, it } from 'vitest'
import { formatUsageTime, parseUsageTime } from './time.ts'

const NOON = Date.UTC(2026, 0, 15, 12)

describe('USAGE-3: times of a query', () => {
  it.each([
    ['2026-01-15T12:00:00Z', NOON],
    ['2026-01-15t12:00:00z', NOON],
    ['2026-01-15T14:00:00+02:00', NOON],
    ['2026-01-15T14:00:00+0200', NOON],
    ['2026-01-15T07:00:00-05', NOON],
    ['2026-01-15T17:30:00 05:30', NOON],
    ['2026-01-15 17:30:00 0530', NOON],
    ['2026-01-15T12:00:00', NOON],
    ['2026-01-15 12:00', NOON],
    ['2026-01-15', NOON - 12 * 3_600_000],
    ['2026-01-15T12:00:00.069Z', NOON + 69],
    ['2026-01-15T12:00:00,5', NOON + 500],
    ['2026-01-15T12:00:00.000250Z', NOON + 0.25],
    ['1970-01-01T00:00:00.069Z', 69],
    ['2028-02-29T00:00:00Z', Date.UTC(2028, 1, 29)],
    ['9999-12-31T23:59:59Z', Date.UTC(9999, 11, 31, 23, 59, 59)],
  ])('reads %s', (text, time) => {
    expect(parseUsageTime(text)).toBe(time)
  })

  it.each([
    '',
    'yesterday',
    '1768478400',
    '2026-02-29',
    '2026-13-01',
    '2026-01-15T24:00:00Z',
    '2026-01-15T12:60:00Z',
    '2026-01-15T12:00:60Z',
    '2026-01-15T12:00:00+24:00',
    '2026-01-15T12:00:00+01:60',
    '2026-01-15T12:00:00.Z',
    '2026-01-15 0530',
    '2026-01-15T12:00:00ZZ',
    `2026-01-15T12:00:00.${'1'.repeat(100)}Z`,
    ' 2026-01-15',
  ])('refuses %j', (text) => {
    expect(parseUsageTime(text)).toBeUndefined()
  })

  it('shows bucket times without a fraction', () => {
    expect(formatUsageTime(NOON)).toBe('2026-01-15T12:00:00Z')
  })
})
