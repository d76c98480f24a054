import { describe, expect, it } from 'vitest'
import { bucketsOf, intervalOf, placeOfBucket } from './buckets.ts'

describe('buckets of a range', () => {
  it('are at most 60, of a round length', () => {
    const until = (to: string): string => intervalOf('2026-11-01T00:00:00Z', to).text
    expect(until('2026-11-01T00:00:40Z')).toBe('1s')
    expect(until('2026-11-01T01:00:00Z')).toBe('1m')
    expect(until('2026-11-02T00:00:00Z')).toBe('30m')
    expect(until('2026-12-01T00:00:00Z')).toBe('12h')
    expect(until('2027-11-01T00:00:00Z')).toBe('7d')
    expect(intervalOf('0001-01-01T00:00:00Z', '2026-11-01T00:00:00Z').text).toBe('3650d')
  })

  it('cover the range once, cut at both ends', () => {
    const [from, to] = ['2026-11-01T10:30:00.000Z', '2026-11-01T13:15:00.000Z']
    const hour = { text: '1h', size: 3_600_000 }
    const buckets = bucketsOf(from, to, hour)
    expect(buckets.map(({ start }) => start.slice(11, 16))).toEqual(['10:30', '11:00', '12:00', '13:00'])
    expect(buckets.map(({ end }) => end.slice(11, 16))).toEqual(['11:00', '12:00', '13:00', '13:15'])
    expect(placeOfBucket('2026-11-01T10:00:00Z', from, hour)).toBe(0)
    expect(placeOfBucket('2026-11-01T13:00:00Z', from, hour)).toBe(3)
  })
})
