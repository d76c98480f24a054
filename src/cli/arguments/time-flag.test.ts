import { describe, expect, it } from 'vitest'
import { futureTime, pastTime } from './time-flag.ts'

const NOW = Date.UTC(2026, 10, 20, 9)
const past = (text: string): string => pastTime({ flag: '--from', text }, NOW)
const future = (text: string): string => futureTime({ flag: '--expires', text }, NOW)

describe('a time in a flag', () => {
  it.each([
    ['12h', '2026-11-19T21:00:00.000Z'],
    ['10m', '2026-11-20T08:50:00.000Z'],
    ['30d', '2026-10-21T09:00:00.000Z'],
    ['1w', '2026-11-13T09:00:00.000Z'],
    ['1y', '2025-11-20T09:00:00.000Z'],
    ['now', '2026-11-20T09:00:00.000Z'],
    ['2026-11-01', '2026-11-01'],
    ['2026-11-01T12:00:00+01:00', '2026-11-01T12:00:00+01:00'],
  ])('is read from %s', (text, time) => expect(past(text)).toBe(time))

  it('is counted forward for a time in the future', () =>
    expect(future('2d')).toBe('2026-11-22T09:00:00.000Z'))

  it('is refused when it is past and must not be', () => {
    expect(() => future('2026-11-20')).toThrow('--expires must be in the future. It is "2026-11-20".')
    expect(future('2026-11-20T09:00:00-01:00')).toBe('2026-11-20T09:00:00-01:00')
  })

  it.each(['30days', '30 d', 'yesterday', '', '-1d', '2026-13-01', '20261101', '1700000000'])(
    'is not read from %j',
    (text) => {
      expect(() => past(text)).toThrow(
        `--from must be a time such as 2026-11-20 or 2026-11-20T09:00:00Z, or how long ago: 10m, 12h, 30d, 4w or 1y. It is "${text}".`,
      )
      expect(() => future(text)).toThrow(`or in how long: 10m, 12h, 30d, 4w or 1y. It is "${text}".`)
    },
  )
})
