import { expect, it } from 'vitest'
import { NIL_UUID } from '../../base/ids.ts'
import type { OutlineColumns } from '../rows/trace-run-row.ts'
import { outlineJson } from './outline.ts'

function row(run_id: string, parent_run_id: string, more: Partial<OutlineColumns> = {}): OutlineColumns {
  return {
    run_id,
    parent_run_id,
    name: `step ${run_id}`,
    run_type: 'chain',
    status: 'success',
    start_time: 1000,
    end_time: 3000,
    first_token_time: null,
    thread_id: '',
    model: '',
    input_tokens: null,
    output_tokens: null,
    input_cost: null,
    output_cost: null,
    total_cost: null,
    input_source: '',
    output_source: '',
    sent_costs: 0,
    checks: 0,
    call_id: 0,
    call_facts: 0,
    ...more,
  }
}

const LLM = {
  run_type: 'llm',
  model: 'm',
  checks: 15,
  input_tokens: 5,
  output_tokens: 2,
  total_cost: 10n ** 18n / 3n,
}
const ROWS = [
  row('d', 'gone', { start_time: 4000, end_time: null, status: 'pending' }),
  row('c', 'b', { ...LLM, start_time: 2500, first_token_time: 2600 }),
  row('b', 'a', { start_time: 2000, name: 'step a' }),
  row('a', NIL_UUID),
]
const outlineOf = (changed?: ReadonlySet<string>) =>
  JSON.parse(outlineJson({ trace_id: 'a', version: 'v', rows: ROWS, changed })) as Record<string, unknown>

it('has a column for each field, in order of start', () => {
  expect(outlineOf()).toMatchObject({
    trace_id: 'a',
    version: 'v',
    is_whole: true,
    run_count: 4,
    is_truncated: false,
    start_time: '1970-01-01T00:00:00.001Z',
    totals: { total_tokens: 7, llm_runs: 1 },
    names: ['step a', 'step c', 'step d'],
    run_types: ['chain', 'llm'],
    statuses: ['success', 'pending'],
    models: ['m'],
    columns: {
      id: ['a', 'b', 'c', 'd'],
      parent: [-1, 0, 1, -2],
      name: [0, 0, 1, 2],
      run_type: [0, 0, 1, 0],
      status: [0, 0, 0, 1],
      model: [null, null, 0, null],
      start: [0, 1000, 1500, 3000],
      duration: [2000, 1000, 500, null],
      first_token: [null, null, 100, null],
      tokens: [7, 7, 7, null],
      checks: [null, null, 15, null],
      cost: [0.3333333333333333, 0.3333333333333333, 0.3333333333333333, null],
    },
  })
})

it('has changed runs with their ancestors, and the totals of the whole trace', () => {
  expect(outlineOf(new Set(['b', 'unknown']))).toMatchObject({
    is_whole: false,
    run_count: 4,
    totals: { total_tokens: 7 },
    columns: { id: ['a', 'b'], parent: [-1, 0], tokens: [7, 7] },
  })
  expect(outlineOf(new Set())).toMatchObject({ start_time: null, columns: { id: [], cost: [] } })
})

it('tokens that no run knows are null, never 0', () => {
  const rows = [
    row('a', NIL_UUID),
    row('b', 'a', { ...LLM, input_tokens: null, output_tokens: null, start_time: 1100 }),
    row('c', 'a', { run_type: 'tool', start_time: 1200 }),
    row('d', 'c', { ...LLM, input_tokens: 0, output_tokens: null, start_time: 1300 }),
  ]
  const tokensOf = (some: readonly OutlineColumns[]) => {
    const json = outlineJson({ trace_id: 'a', version: 'v', rows: some, changed: undefined })
    return (JSON.parse(json) as { columns: { tokens: unknown } }).columns.tokens
  }
  expect(tokensOf(rows)).toEqual([0, null, 0, 0])
  expect(tokensOf(rows.slice(0, 3))).toEqual([null, null, null])
})
