import { expect, it } from 'vitest'
import type { ComparedRuns, ComparedValue } from '../../ingest/store/stats-store.ts'
import { parseFilter } from '../../trace/filter/filter.ts'
import { differencesOf } from './run-differences.ts'

const value = (
  field: ComparedValue['field'],
  text: string,
  [selected, rest]: [number, number],
  key = '',
): ComparedValue => ({ field, key, value: text, selected, rest })

const compared = (values: ComparedValue[], counts: Partial<ComparedRuns> = {}): ComparedRuns => ({
  selected_count: 10,
  rest_count: 100,
  is_whole: true,
  ...counts,
  values,
})

const texts = (runs: ComparedRuns): string[] =>
  differencesOf(runs).differences.map(
    ({ field, key, value: text, selected_share, rest_share }) =>
      `${key ?? field} ${text}: ${selected_share} / ${rest_share}`,
  )

it('N8: the planted difference comes first, then the others by the difference of their shares', () => {
  const planted = value('metadata_value', 'canary "2"', [9, 1], 'release')
  const runs = compared([
    value('status', 'error', [6, 10]),
    value('status', 'success', [4, 90]),
    value('model', 'gpt-4.1', [10, 98]),
    planted,
    value('metadata_key', 'release', [9, 80]),
    value('latency', '3000', [5, 20]),
  ])
  expect(texts(runs)).toEqual([
    'release canary "2": 0.9 / 0.01',
    'status error: 0.6 / 0.1',
    'status success: 0.4 / 0.9',
    'latency 3 s to 10 s: 0.5 / 0.2',
    'metadata_key release: 0.9 / 0.8',
  ])
  const [first] = differencesOf(runs).differences
  expect(first?.filter).toBe('has(metadata, "{\\"release\\":\\"canary \\\\\\"2\\\\\\"\\"}")')
  for (const { filter } of differencesOf(runs).differences) expect(parseFilter(filter)).toBeDefined()
})

it('N8: a value of one run is no difference, and neither are small ones', () => {
  expect(texts(compared([value('thread', 'a', [1, 0]), value('name', 'b', [4, 37])]))).toEqual([])
  const three = { selected_count: 3, rest_count: 5 }
  expect(texts(compared([value('tag', 'x', [1, 0]), value('tag', 'y', [0, 2])], three))).toEqual([
    'tag y: 0 / 0.4',
  ])
})

it('N8: a thread is listed once, not also as the metadata that names it', () => {
  const runs = [value('metadata_value', 't', [8, 5], 'thread_id'), value('thread', 't', [8, 5])]
  expect(texts(compared(runs))).toEqual(['thread t: 0.8 / 0.05'])
})

it('N8: a key of the metadata that always has the same value is not listed beside it', () => {
  const env = [value('metadata_key', 'env', [8, 5]), value('metadata_value', 'prod', [8, 5], 'env')]
  expect(texts(compared(env))).toEqual(['env prod: 0.8 / 0.05'])
})

it('N8: there are at most 20 lines, and none without two sets of runs', () => {
  const many = Array.from({ length: 50 }, (_, at) => value('name', `n${at}`, [5, 0]))
  expect(texts(compared(many))).toHaveLength(20)
  expect(texts(compared(many, { rest_count: 0 }))).toEqual([])
  expect(texts(compared(many, { selected_count: 0 }))).toEqual([])
})
