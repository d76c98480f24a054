import { expect, it } from 'vitest'
import { isCrowded, timeTicks } from './time-ticks.ts'

const HOUR_MS = 3_600_000
const startsOf = (from: string, count: number, hours: number): string[] =>
  Array.from({ length: count }, (_, at) => new Date(Date.parse(from) + at * hours * HOUR_MS).toISOString())
const textsOf = (starts: readonly string[]): (string | number)[][] =>
  timeTicks(starts, 'utc').map(({ at, text }) => [at, text])

it('a week has its days, the hours of a day their times', () => {
  const week = textsOf(startsOf('2026-11-22T00:00:00Z', 28, 6))
  expect(week.map(([at]) => at)).toEqual([0, 4, 8, 12, 16, 20, 24])
  expect(week.map(([, text]) => text).join()).toMatch(/22.*23.*24.*25.*26.*27.*28/)
  const day = textsOf(startsOf('2026-11-22T00:00:00Z', 24, 1))
  expect(day.map(([at]) => at)).toEqual([0, 3, 6, 9, 12, 15, 18, 21])
  expect(String(day[1]?.[1])).toMatch(/3:00/)
})

it('a range over midnight names the new day, and a first tick without room is left out', () => {
  const night = textsOf(startsOf('2026-11-22T20:00:00Z', 8, 1))
  expect(night.find(([at]) => at === 4)?.[1]).toMatch(/23/)
  const cut = textsOf(startsOf('2026-11-21T23:00:00Z', 169, 1))
  expect(cut[0]?.[0]).toBe(1)
  const evening = textsOf(startsOf('2026-11-21T06:00:00Z', 28, 6))
  expect(evening[0]?.[0]).toBe(3)
})

it('the times of a day are crowded in a narrow chart, the days of a week are not', () => {
  const ticksOf = (texts: readonly string[]) => texts.map((text, at) => ({ at, text }))
  expect(isCrowded(ticksOf(Array.from({ length: 8 }, () => '03:00 AM')))).toBe(true)
  expect(isCrowded(ticksOf(Array.from({ length: 4 }, () => '03:00 AM')))).toBe(false)
  expect(isCrowded(ticksOf(Array.from({ length: 7 }, () => 'Nov 22')))).toBe(false)
})

it('two years have months', () => {
  const years = textsOf(startsOf('2025-01-01T00:00:00Z', 730, 24))
  expect(years.length).toBeLessThanOrEqual(8)
  expect(String(years[0]?.[1])).toMatch(/2025/)
  expect(timeTicks([], 'utc')).toEqual([])
})
