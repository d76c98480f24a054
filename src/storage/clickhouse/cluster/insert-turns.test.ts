import { expect, it } from 'vitest'
import { createInsertTurns, insertedTable } from './insert-turns.ts'

it('inserts into one table run one after the other, and those into another table beside them', async () => {
  const locked: string[] = []
  const turns = createInsertTurns(async (table) => {
    expect(locked).not.toContain(table)
    locked.push(table)
    return async () => void locked.splice(locked.indexOf(table), 1)
  })
  const first = Promise.withResolvers<string>()
  const ends: string[] = []
  const note = (end: string): number => ends.push(end)
  const all = [
    turns.take('a', () => first.promise).then(note),
    turns.take('a', async () => 'second').then(note),
    turns.take('b', async () => 'other').then(note),
  ]
  await all[2]
  expect([ends, locked]).toEqual([['other'], ['a']])
  first.reject(new Error('away'))
  await expect(all[0]).rejects.toThrow('away')
  await all[1]
  expect([ends, locked]).toEqual([['other', 'second'], []])
})

it.each([
  ['INSERT INTO runs (a, b) FORMAT RowBinary', 'runs'],
  ['INSERT INTO usage_marks (a)\n  SELECT 1', 'usage_marks'],
  ['SELECT 1', undefined],
  ['DELETE FROM runs WHERE 1', undefined],
])('%s inserts into %s', (sql, table) => expect(insertedTable(sql)).toBe(table))
