import { expect, it } from 'vitest'
import { filtersOf, historyText, readHistory, withFilter } from './history.ts'

it('filters are remembered by project, newest first, each once, and bounded', () => {
  const filters = ['a', 'b', 'a', '', ...Array.from({ length: 20 }, (_, at) => `c${at}`), 'a']
  const history = filters.reduce((known, filter) => withFilter(known, 'p', filter), withFilter([], 'q', 'z'))
  expect(filtersOf(history, 'p')).toHaveLength(12)
  expect(filtersOf(history, 'p').slice(0, 3)).toEqual(['a', 'c19', 'c18'])
  expect([filtersOf(history, 'q'), filtersOf(history, 'r')]).toEqual([['z'], []])
  const many = Array.from({ length: 30 }, (_, at) => `p${at}`).reduce(
    (known, project) => withFilter(known, project, 'x'),
    history,
  )
  expect([many.length, filtersOf(many, 'p29'), filtersOf(many, 'p')]).toEqual([20, ['x'], []])
  expect(readHistory(historyText(many))).toEqual(many)
})

it('a text that is no history is an empty one', () => {
  for (const text of ['', '{', '{}', '[1]', '[["p"]]', '[["p",[1]]]']) expect(readHistory(text)).toEqual([])
})
