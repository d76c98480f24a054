import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatTime, parseTime } from './time.ts'
import { tries } from '../../../test/support/properties.ts'

const BASE = Date.UTC(2026, 10, 20, 8, 59, 22) * 1000

describe('parseTime', () => {
  it.each([
    ['2026-11-20T08:59:22.841001Z', BASE + 841_001],
    ['2026-11-20T09:16:30.936437+00:00', BASE + 1_028_936_437],
    ['2026-11-20T10:59:22+02:00', BASE],
    ['2026-11-20T03:29:22-0530', BASE],
    ['2026-11-20T06:59:22-02', BASE],
    ['2026-11-20T08:59:22', BASE],
    ['2026-11-20 08:59:22.5', BASE + 500_000],
    ['2026-11-20t08:59:22,123z', BASE + 123_000],
    ['2026-11-20T08:59:22.123456789Z', BASE + 123_456],
    ['2026-11-20T08:59Z', BASE - 22_000_000],
    ['2026-11-20', Date.UTC(2026, 10, 20) * 1000],
    ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1) * 1000],
    ['1970-01-01T00:00:00Z', 0],
    ['2100-01-01T00:00:00Z', Date.UTC(2100, 0, 1) * 1000],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29) * 1000],
  ])('reads %s', (text, micros) => {
    expect(parseTime(text)).toBe(micros)
  })

  it.each([
    [1795166133964, 1795166133964_000],
    [1795166133964.25, 1795166133964_250],
    [1795166133, 1795166133_000_000],
    [0, 0],
  ])('reads the number %d as milliseconds, or as seconds if it is small', (number, micros) => {
    expect(parseTime(number)).toBe(micros)
  })

  it.each([
    '',
    'yesterday',
    '2026-13-01',
    '2026-02-30',
    '2023-02-29T00:00:00Z',
    '2100-02-29',
    '2026-11-20T24:00:00Z',
    '2026-11-20T08:60:00Z',
    '2026-11-20T08:59:22.Z',
    '2026-11-20T08:59:22+25:00',
    '2026-11-20T08:59:22 PST',
    '20261120T085922Z',
    '9999-12-31T00:00:00Z',
    '1899-12-31T23:59:59Z',
    '1795166133964',
    '2026-1-2T00:00:00Z',
    ' 2026-11-20',
    1e300,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1.7e18,
    null,
    undefined,
    true,
    {},
    [],
  ])('refuses %s', (value) => {
    expect(parseTime(value)).toBeUndefined()
  })

  it('agrees with Date on every millisecond from 1900 to 2255', () => {
    const millis = fc.integer({ min: Date.UTC(1900, 0, 1), max: Date.UTC(2255, 0, 1) })
    fc.assert(
      fc.property(millis, (ms) => {
        expect(parseTime(new Date(ms).toISOString())).toBe(ms * 1000)
      }),
      tries(1000),
    )
  })
})

describe('formatTime', () => {
  it('writes three digits for milliseconds and six below', () => {
    expect(formatTime(BASE + 841_000)).toBe('2026-11-20T08:59:22.841Z')
    expect(formatTime(BASE + 841_001)).toBe('2026-11-20T08:59:22.841001Z')
    expect(formatTime(-1)).toBe('1969-12-31T23:59:59.999999Z')
  })

  it('is reversed by parseTime', () => {
    const micros = fc.integer({ min: Date.UTC(1900, 0, 1) * 1000, max: Date.UTC(2255, 0, 1) * 1000 })
    fc.assert(
      fc.property(micros, (time) => {
        expect(parseTime(formatTime(time))).toBe(time)
      }),
      tries(),
    )
  })
})
