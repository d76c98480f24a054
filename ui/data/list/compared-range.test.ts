import { expect, it } from 'vitest'
import { rangeAround, withClauses } from './compared-range.ts'

it('a difference adds its clauses to the filter, those that it has only once', () => {
  const slow = 'and(gte(latency, "3000ms"), lt(latency, "10000ms"))'
  expect(withClauses('', 'eq(name, "a")')).toBe('eq(name, "a")')
  expect(withClauses('eq(name, "a")', 'eq(name, "a")')).toBe('eq(name, "a")')
  expect(withClauses('eq(name, "a")', slow)).toBe(
    'and(eq(name, "a"), gte(latency, "3000ms"), lt(latency, "10000ms"))',
  )
})

it('a brushed range is compared with the range before, or with all times', () => {
  const day = { since: '2026-11-20T00:00:00Z', until: '' }
  const hour = { since: '2026-11-20T05:00:00.000Z', until: '2026-11-20T06:00:00.000Z' }
  const ever = { since: '', until: '' }
  expect(rangeAround(hour, day)).toEqual(day)
  expect(rangeAround(hour, ever)).toEqual(ever)
  expect(rangeAround(hour, hour)).toEqual(ever)
  expect(rangeAround(hour, { since: '2026-11-20T05:30:00Z', until: '' })).toEqual(ever)
  expect(rangeAround(hour, { since: '', until: '2026-11-20T05:30:00Z' })).toEqual(ever)
})
