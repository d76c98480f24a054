import { expect, it } from 'vitest'
import { storedFilter } from '../../../data/usage/stored.ts'
import type { UsageQuery } from '../../../data/usage/lines.ts'
import { storedPath, storedQuery, unpricedStoredPath } from './stored-address.ts'

const query: UsageQuery = {
  from: '2026-03-01T06:00:00.000Z',
  to: '2026-03-03T12:00:00.000Z',
  workspaces: ['w1'],
  grouping: 'metadata.user_id',
  measure: 'cost',
}
const DAY = { days: 1, hours: 0 }
const group = (selects: Readonly<Record<string, string | readonly string[]>>) => ({
  ...{ id: '', name: 'n', selects, values: new Map(), total: '1', gaps: new Map(), unpriced: 0 },
})
const read = (path: string) => storedQuery(new URLSearchParams(path.split('?')[1]))

it('the address of a number by a key says which traces it counts, cut to its bar', () => {
  const path = storedPath(query, DAY, group({ value: 'u,1' }), '2026-03-03T00:00:00.000Z')
  expect(read(path)).toMatchObject({
    from: '2026-03-03T00:00:00.000Z',
    to: query.to,
    key: 'user_id',
    values: ['u,1'],
  })
  expect(storedFilter(read(path))).toBe('and(eq(metadata_key, "user_id"), eq(metadata_value, "u,1"))')
  const first = read(storedPath(query, DAY, undefined, '2026-03-01T00:00:00.000Z'))
  expect([first.from, first.to]).toEqual([query.from, '2026-03-02T00:00:00.000Z'])
})

it('the address also names traces without the key, and several values', () => {
  const filterOf = (selects: Parameters<typeof group>[0]) =>
    storedFilter(read(storedPath(query, DAY, group(selects))))
  const is = (value: string) => `and(eq(metadata_key, "user_id"), eq(metadata_value, "${value}"))`
  expect(filterOf({ without: 'yes' })).toBe('not(eq(metadata_key, "user_id"))')
  expect(filterOf({ one_of: ['a', 'b'] })).toBe(`or(${is('a')}, ${is('b')})`)
  expect(filterOf({ except: ['a', 'b'] })).toBe(`and(not(${is('a')}), not(${is('b')}))`)
  expect(read(unpricedStoredPath(query, DAY))).toMatchObject({ isUnpriced: true, values: [] })
})
