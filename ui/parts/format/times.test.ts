import { describe, expect, it } from 'vitest'
import { isoOfLocal, localText, microsBetween, shortTime } from './times.ts'

const LATE = '2026-11-22T23:30:05.000Z'

describe('times in UTC', () => {
  it('have the day of UTC, whatever the zone of the browser', () => {
    expect(shortTime(LATE, 'utc', new Date('2026-11-22T00:10:00Z'))).toMatch(/30:05/)
    expect(shortTime(LATE, 'utc', new Date('2026-11-23T00:10:00Z'))).toMatch(/22/)
    expect(shortTime('2026-01-01T00:00:00Z', 'utc', new Date('2025-12-31T23:59:00Z'))).toMatch(/2026/)
  })

  it('are written to fields of forms and read from them without a change', () => {
    expect(localText(LATE, 'utc')).toBe('2026-11-22T23:30:05')
    expect(isoOfLocal('2026-11-22T23:30:05', 'utc')).toBe(LATE)
    expect(isoOfLocal(localText(LATE))).toBe(LATE)
    expect([localText('', 'utc'), isoOfLocal('', 'utc')]).toEqual(['', ''])
  })
})

it('a run that ended before it started took no time, as in the figures of the server', () => {
  expect(microsBetween('2026-11-29T06:00:00.000004Z', '2026-11-29T06:00:00Z')).toBe(0)
  expect(microsBetween('2026-11-29T06:00:00Z', '2026-11-29T06:00:00.000004Z')).toBe(4)
  expect(microsBetween('2026-11-29T06:00:00Z', null)).toBeUndefined()
})
