import { describe, expect, it } from 'vitest'
import { outlineOfRuns, readOutline, totalTokens } from './outline.ts'

const COLUMNS = {
  id: ['a', 'b'],
  parent: [-1, 0],
  name: [0, 1],
  run_type: [0, 1],
  status: [0, 1],
  model: [null, 0],
  start: [0, 5],
  duration: [100, null],
  first_token: [null, 7],
  tokens: [3, null],
  checks: [null, 15],
}
const HEAD = {
  trace_id: 'a',
  version: '1',
  is_whole: true,
  run_count: 2,
  is_truncated: false,
  start_time: '2026-11-20T09:00:00.000001Z',
  totals: { total_tokens: 3 },
  names: ['agent', '"cost":[1,2]'],
  run_types: ['chain', 'llm'],
  statuses: ['success', 'pending'],
  models: ['gpt-4.1'],
}

/** The JSON of an outline, with costs written as they are. */
function answer(head: object, columns: object, costs: string): string {
  const text = JSON.stringify({ ...head, columns: { ...columns, cost: 'COSTS' } })
  return text.replace('"COSTS"', costs)
}

const WHOLE = answer(HEAD, COLUMNS, '[0.10000000000000000001,null]')

describe('outlines', () => {
  it('ui §5: tokens that no run knows are unknown, and 0 when a run knows that they are none', () => {
    const none = { total_tokens: 0 }
    expect(totalTokens({ totals: none, tokens: Float64Array.of(Number.NaN) })).toBeUndefined()
    expect(totalTokens({ totals: none, tokens: Float64Array.of(Number.NaN, 0) })).toBe(0)
    expect(totalTokens({ totals: { total_tokens: 7 }, tokens: Float64Array.of(Number.NaN) })).toBe(7)
    expect(totalTokens({ totals: {}, tokens: Float64Array.of(3) })).toBeUndefined()
  })

  it('keep every digit of a cost, for any names', () => {
    const outline = readOutline(WHOLE)
    expect(outline?.costs).toEqual(['0.10000000000000000001', undefined])
    expect(outline?.names).toEqual(['agent', '"cost":[1,2]'])
    expect([...(outline?.parents ?? [])]).toEqual([-1, 0])
    expect([outline?.models[0], outline?.models[1]]).toEqual([undefined, 'gpt-4.1'])
    expect([outline?.durations[0], outline?.durations[1]]).toEqual([100, Number.NaN])
    expect([...(outline?.tokens ?? [])]).toEqual([3, Number.NaN])
    expect([...(outline?.checks ?? [])]).toEqual([-1, 15])
    expect(outline?.span).toBe(100)
  })

  it('apply changes: rows by id, new ones in order of start', () => {
    const known = readOutline(WHOLE)
    const columns = {
      id: ['b', 'c'],
      parent: [-2, -2],
      name: [0, 1],
      run_type: [0, 0],
      status: [0, 0],
      model: [null, null],
      start: [0, 500],
      duration: [40, 10],
      first_token: [null, null],
      tokens: [4, null],
      checks: [null, null],
    }
    const head = {
      ...HEAD,
      version: '2',
      is_whole: false,
      run_count: 3,
      start_time: '2026-11-20T09:00:00.000006Z',
      names: ['b2', 'c'],
      run_types: ['llm'],
      statuses: ['success'],
      models: [],
      totals: null,
    }
    const next = readOutline(answer(head, columns, '[0.2,null]'), known)
    expect(next?.ids).toEqual(['a', 'b', 'c'])
    expect(next?.names).toEqual(['agent', 'b2', 'c'])
    expect([...(next?.starts ?? [])]).toEqual([0, 5, 505])
    expect(next?.costs).toEqual(['0.10000000000000000001', '0.2', undefined])
    expect([...(next?.tokens ?? [])]).toEqual([3, 4, Number.NaN])
    expect(next?.totals).toEqual({ total_tokens: 3 })
    expect(next?.version).toBe('2')
  })

  it('request the whole outline when runs have left the trace', () => {
    const known = readOutline(WHOLE)
    const none = Object.fromEntries(Object.keys(COLUMNS).map((name) => [name, []]))
    const left = { ...HEAD, is_whole: false, run_count: 1 }
    expect(readOutline(answer(left, { ...none, id: ['a'], parent: [-1] }, '[null]'), known)).toBeUndefined()
    const same = { ...HEAD, is_whole: false, version: '3', start_time: null }
    expect(readOutline(answer(same, none, '[]'), known)).toMatchObject({ version: '3', ids: ['a', 'b'] })
  })

  it('is made of the runs of a shared trace too, also of those without an end', () => {
    const run = { trace_id: 't', name: 'n', run_type: 'LLM', status: 'SUCCESS' } as const
    const outline = outlineOfRuns(
      [
        { ...run, id: 'a', start_time: '2026-01-01T00:00:00.000001Z', end_time: '2026-01-01T00:00:01Z' },
        { ...run, id: 'b', parent_run_id: 'a', start_time: '2026-01-01T00:00:00.5Z', total_cost: 0.25 },
      ],
      {},
    )
    expect([...outline.parents]).toEqual([-1, 0])
    expect([...outline.starts]).toEqual([0, 499_999])
    expect([...outline.durations]).toEqual([999_999, Number.NaN])
    expect([...outline.tokens]).toEqual([Number.NaN, Number.NaN])
    expect([outline.types, outline.statuses, outline.costs]).toEqual([
      ['llm', 'llm'],
      ['success', 'success'],
      [undefined, '0.25'],
    ])
  })
})
