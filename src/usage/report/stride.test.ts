import { describe, expect, it } from 'vitest'
import { bucketOf, bucketOrigin, chooseStride, strideMillis } from './stride.ts'

const SECOND = 1000
const HOUR = 3600 * SECOND
const DAY = 24 * HOUR
const START = Date.UTC(2026, 0, 15)

describe('USAGE-5: the bucket size follows from the whole days of the range', () => {
  it.each([
    ['a second', SECOND, { days: 0, hours: 1 }],
    ['23:59:59', DAY - SECOND, { days: 0, hours: 1 }],
    ['exactly 24 h', DAY, { days: 1, hours: 0 }],
    ['31 d 23 h', 31 * DAY + 23 * HOUR, { days: 1, hours: 0 }],
    ['32 d', 32 * DAY, { days: 7, hours: 0 }],
    ['93 d 23 h', 93 * DAY + 23 * HOUR, { days: 7, hours: 0 }],
    ['94 d', 94 * DAY, { days: 30, hours: 0 }],
    ['366 d 23 h', 366 * DAY + 23 * HOUR, { days: 30, hours: 0 }],
    ['367 d', 367 * DAY, { days: 365, hours: 0 }],
    ['ten years', 3652 * DAY, { days: 365, hours: 0 }],
  ])('%s', (_, length, stride) => {
    expect(chooseStride(START, START + length)).toEqual(stride)
  })

  it('counts a leap year as one of 366 days', () => {
    expect(chooseStride(Date.UTC(2028, 0, 1), Date.UTC(2029, 0, 1))).toEqual({ days: 30, hours: 0 })
  })
})

describe('USAGE-6: where buckets begin', () => {
  const time = Date.UTC(2026, 0, 15, 13, 37, 42, 5)

  it('hours on UTC hours, days and longer on the UTC day of the start', () => {
    expect(bucketOrigin(time, { days: 0, hours: 1 })).toBe(Date.UTC(2026, 0, 15, 13))
    for (const days of [1, 7, 30, 365]) {
      expect(bucketOrigin(time, { days, hours: 0 })).toBe(Date.UTC(2026, 0, 15))
    }
    expect(bucketOrigin(-1, { days: 1, hours: 0 })).toBe(-DAY)
  })

  it('finds the bucket of a time', () => {
    const week = { days: 7, hours: 0 }
    const origin = bucketOrigin(time, week)
    expect(bucketOf(time, origin, week)).toBe(origin)
    expect(bucketOf(origin + strideMillis(week) - 1, origin, week)).toBe(origin)
    expect(bucketOf(origin + strideMillis(week), origin, week)).toBe(origin + 7 * DAY)
  })
})
