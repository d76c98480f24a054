import { describe, expect, it } from 'vitest'
import { NIL_UUID } from '../base/ids.ts'
import { rollUp, type RollUpRow } from './roll-up.ts'

function row(
  run_id: string,
  parent_run_id: string,
  run_type: string,
  more: Partial<RollUpRow> = {},
): RollUpRow {
  return {
    run_id,
    parent_run_id,
    run_type,
    status: 'success',
    input_tokens: null,
    output_tokens: null,
    input_cost: null,
    output_cost: null,
    total_cost: null,
    ...more,
  }
}

describe('rollUp', () => {
  it('adds up leaves, and under each TraceRun its descendants', () => {
    const rows = [
      row('root', NIL_UUID, 'chain'),
      row('a', 'root', 'llm', { input_tokens: 10, output_tokens: 1, total_cost: 5n }),
      row('b', 'root', 'chain', { status: 'error' }),
      row('c', 'b', 'embedding', { input_tokens: 7 }),
      row('d', 'b', 'tool', { total_cost: 2n }),
    ]
    const { trace, of } = rollUp(rows)
    expect(trace).toMatchObject({
      prompt_tokens: 17,
      completion_tokens: 1,
      total_cost: 7n,
      llm_runs: 1,
      error_runs: 1,
    })
    expect(of('root')).toEqual(trace)
    expect(of('b')).toMatchObject({ prompt_tokens: 7, completion_tokens: 0, total_cost: 2n, llm_runs: 0 })
    expect(of('gone')).toMatchObject({ prompt_tokens: 0, total_cost: null })
  })

  it.each(['llm', 'embedding', 'chain'])(
    'leaves out a %s that repeats what a descendant reports (N6)',
    (run_type) => {
      const rows = [
        row('outer', NIL_UUID, run_type, { input_tokens: 10, output_tokens: 1, total_cost: 3n }),
        row('between', 'outer', 'chain'),
        row('inner', 'between', 'llm', { input_tokens: 10, output_tokens: 1, total_cost: 3n }),
      ]
      expect(rollUp(rows).trace).toMatchObject({ prompt_tokens: 10, completion_tokens: 1, total_cost: 3n })
    },
  )

  it('counts each TraceRun of a circle of parents once, and those below it', () => {
    const usage = { input_tokens: 1, output_tokens: 1 }
    const rows = [row('a', 'b', 'llm', usage), row('b', 'a', 'llm', usage), row('c', 'c', 'llm', usage)]
    expect(rollUp(rows).trace).toMatchObject({ prompt_tokens: 3, llm_runs: 3 })
  })

  it('bears a trace of 25,000 in one line', () => {
    const rows = Array.from({ length: 25_000 }, (_, i) =>
      row(
        `${i}`,
        i === 0 ? NIL_UUID : `${i - 1}`,
        i === 24_999 ? 'llm' : 'chain',
        i === 24_999 ? { input_tokens: 4 } : {},
      ),
    )
    expect(rollUp(rows).of('0').prompt_tokens).toBe(4)
  })
})
