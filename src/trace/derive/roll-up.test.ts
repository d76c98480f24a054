import { describe, expect, it } from 'vitest'
import { NIL_UUID } from '../../base/ids.ts'
import { rollUp, type RollUpRow } from './roll-up.ts'
import { REQUEST, UNANSWERED } from './same-call.ts'

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
    model: '',
    status: 'success',
    start_time: 0,
    end_time: 1,
    first_token_time: null,
    thread_id: '',
    input_tokens: null,
    output_tokens: null,
    input_cost: null,
    output_cost: null,
    total_cost: null,
    input_source: '',
    output_source: '',
    sent_costs: 0,
    call_id: 0,
    call_facts: 0,
    ...more,
  }
}

describe('rollUp', () => {
  it('adds up leaves, and for each TraceRun its descendants', () => {
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
      unpriced_runs: 1,
    })
    expect(of('root')).toEqual(trace)
    expect(of('b')).toMatchObject({
      prompt_tokens: 7,
      completion_tokens: 0,
      total_cost: 2n,
      llm_runs: 0,
      unpriced_runs: 1,
    })
    expect(of('gone')).toMatchObject({ prompt_tokens: 0, total_cost: null })
  })

  it('has the estimated part of its sums, once for each call', () => {
    const estimate = { input_tokens: 10, output_tokens: 4, input_cost: 2n, output_cost: 3n, total_cost: 5n }
    const rows = [
      row('root', NIL_UUID, 'chain'),
      row('outer', 'root', 'llm', { ...estimate, input_source: 'estimate', output_source: 'estimate' }),
      row('inner', 'outer', 'llm', { ...estimate, input_source: 'vendor', output_source: 'estimate' }),
      row('other', 'root', 'llm', { ...estimate, input_source: 'vendor', output_source: 'vendor' }),
    ]
    const { trace, of } = rollUp(rows)
    const estimated = { estimated_prompt_tokens: 0, estimated_completion_tokens: 4, estimated_cost: 3n }
    expect(trace).toMatchObject({ prompt_tokens: 20, completion_tokens: 8, total_cost: 10n, ...estimated })
    expect(of('root')).toEqual(trace)
    const none = { estimated_prompt_tokens: 0, estimated_completion_tokens: 0, estimated_cost: 0n }
    expect(of('other')).toMatchObject(none)
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

  it('counts the sum on a chain if nothing below it has usage, as the lower of two sums (U9)', () => {
    const rows = [
      row('workflow', NIL_UUID, 'chain', { input_tokens: 30, output_tokens: 3 }),
      row('agent', 'workflow', 'chain', { input_tokens: 10, output_tokens: 1, total_cost: 3n }),
      row('tool', 'agent', 'tool'),
    ]
    const { trace, of, counted } = rollUp(rows)
    expect([...counted]).toEqual(['agent'])
    expect(trace).toMatchObject({ prompt_tokens: 10, completion_tokens: 1, total_cost: 3n, llm_runs: 0 })
    expect(of('workflow')).toEqual(trace)
  })

  it('counts each TraceRun of a circle of parents once, and those below it', () => {
    const usage = { input_tokens: 1, output_tokens: 1 }
    const rows = [row('a', 'b', 'llm', usage), row('b', 'a', 'llm', usage), row('c', 'c', 'llm', usage)]
    expect(rollUp(rows).trace).toMatchObject({ prompt_tokens: 3, llm_runs: 3 })
  })

  it('adds up a trace of 25,000 in one line', () => {
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

  it('counts a call that several TraceRuns show once, by the most detailed one', () => {
    const call = {
      call_id: 7,
      input_tokens: 10,
      output_tokens: 1,
      total_cost: 3n,
      start_time: 5,
      end_time: 9,
    }
    const rows = [
      row('root', NIL_UUID, 'chain'),
      row('own', 'root', 'llm', { ...call, call_facts: 138 }),
      row('wrapped', 'root', 'llm', { ...call, call_facts: 168, start_time: 4, end_time: 10 }),
      row('later', 'root', 'llm', { ...call, call_facts: 138, start_time: 10, end_time: 11 }),
      row('other', 'root', 'llm', { ...call, call_id: 8, call_facts: 138 }),
    ]
    const { trace, of, same_calls } = rollUp(rows)
    expect([...same_calls]).toEqual([['own', 'wrapped']])
    expect(trace).toMatchObject({ prompt_tokens: 30, total_cost: 9n, llm_runs: 3 })
    expect(of('own')).toMatchObject({ prompt_tokens: 0, llm_runs: 0 })
  })

  describe('of two views of one call, of which one is the parent of the other', () => {
    const call = { call_id: 7, input_tokens: 10, output_tokens: 1, end_time: 9 }
    const nested = (outer: number, inner: number, ...more: RollUpRow[]) =>
      rollUp([
        row('root', NIL_UUID, 'chain'),
        row('outer', 'root', 'llm', { ...call, call_facts: outer, input_tokens: 11 }),
        row('inner', 'outer', 'llm', { ...call, call_facts: inner, start_time: 1 }),
        ...more,
      ])

    it('counts the most detailed one', () => {
      expect(nested(168, 138).trace).toMatchObject({ prompt_tokens: 11, llm_runs: 1 })
      expect([...nested(168, 138).same_calls]).toEqual([['inner', 'outer']])
      expect(nested(138, 168).trace).toMatchObject({ prompt_tokens: 10, llm_runs: 1 })
      expect([...nested(138, 168).same_calls]).toEqual([['outer', 'inner']])
    })

    it('never counts one that has the sums of several calls', () => {
      const other = row('other', 'outer', 'llm', { ...call, call_id: 8, input_tokens: 5 })
      expect(nested(168, 138, other).trace).toMatchObject({ prompt_tokens: 15, llm_runs: 2 })
    })
  })

  it('uses the counts of the vendor if views of one call differ', () => {
    const call = { call_id: 7, input_tokens: 10, end_time: 9 }
    const views = (output: number, more: Partial<RollUpRow> = {}) =>
      rollUp([
        row('wrapped', NIL_UUID, 'llm', { ...call, call_facts: 168, output_tokens: output, ...more }),
        row('own', NIL_UUID, 'llm', { ...call, call_facts: 139, output_tokens: 43 }),
      ])
    expect(views(44).trace).toMatchObject({ completion_tokens: 43, llm_runs: 1 })
    expect([...views(44).same_calls]).toEqual([['wrapped', 'own']])
    expect([...views(43).same_calls]).toEqual([['own', 'wrapped']])
    expect([...views(44, { output_tokens: null }).same_calls]).toEqual([['own', 'wrapped']])
  })

  it('does not count a call below a request whose answer is another span', () => {
    const call = { input_tokens: 10, output_tokens: 1, call_facts: 138 }
    const rows = [
      row('root', NIL_UUID, 'chain'),
      row('request', 'root', 'llm', { call_id: REQUEST }),
      row('step', 'request', 'chain'),
      row('own', 'step', 'llm', { ...call, call_id: 7 }),
      row('answer', 'root', 'llm', call),
      row('other', 'root', 'llm', { ...call, call_id: 8 }),
    ]
    const { trace, same_calls } = rollUp(rows)
    expect(trace).toMatchObject({ prompt_tokens: 20, llm_runs: 2 })
    expect([...same_calls]).toEqual([['own', 'request']])
  })

  it('counts a failed call once if a view without messages is within the time of one with messages', () => {
    const failed = (run_id: string, start_time: number, end_time: number, call_facts: number) =>
      row(run_id, 'root', 'llm', {
        call_id: UNANSWERED + 5,
        status: 'error',
        start_time,
        end_time,
        call_facts,
      })
    const rows = [
      failed('wrapped', 1, 9, 16),
      failed('own', 1, 8, 0),
      failed('beside', 2, 9, 32),
      failed('beside-own', 3, 9, 0),
      failed('later', 8, 10, 0),
    ]
    const { trace, same_calls } = rollUp(rows)
    expect(same_calls).toEqual(
      new Map([
        ['own', 'wrapped'],
        ['beside-own', 'wrapped'],
      ]),
    )
    expect(trace.llm_runs).toBe(3)
    expect(rollUp(rows.toReversed()).same_calls).toEqual(same_calls)
  })

  it('counts an llm run with an llm run below it as one call', () => {
    const rows = [
      row('outer', NIL_UUID, 'llm', { input_tokens: 10 }),
      row('inner', 'outer', 'llm', { status: 'error' }),
    ]
    expect(rollUp(rows).trace).toMatchObject({ prompt_tokens: 10, llm_runs: 1 })
  })

  it('takes the thread of a trace from the earliest TraceRun that has one', () => {
    const rows = [
      row('root', NIL_UUID, 'chain'),
      row('b', 'root', 'llm', { start_time: 2, thread_id: 'second' }),
      row('a', 'root', 'llm', { start_time: 1, thread_id: 'first' }),
    ]
    expect(rollUp(rows).thread_id).toBe('first')
    expect(rollUp(rows.slice(0, 1)).thread_id).toBeUndefined()
  })
})

describe('U10: nested calls that show one call', () => {
  const call = { model: 'gemini-2.5-flash', input_tokens: 607, output_tokens: 257, call_facts: 144 }
  const richer = { ...call, input_tokens: 756, output_tokens: 568, call_facts: 152 }
  const trace = (outer: object, inner: object, ...others: RollUpRow[]) =>
    rollUp([row('outer', NIL_UUID, 'llm', outer), row('inner', 'outer', 'llm', inner), ...others])

  it('the one with more detail counts, and nothing is added', () => {
    const sums = trace(richer, call)
    expect([...sums.same_calls]).toEqual([['inner', 'outer']])
    expect(sums.trace).toMatchObject({ prompt_tokens: 756, completion_tokens: 568, llm_runs: 1 })
    expect(trace(call, richer).trace).toMatchObject({ prompt_tokens: 756, completion_tokens: 568 })
  })

  it('calls of another model, with other counts or with siblings are calls of their own', () => {
    expect([...trace(richer, { ...call, model: 'gpt-4o' }).same_calls]).toEqual([])
    expect([...trace(richer, { ...call, input_tokens: 800 }).same_calls]).toEqual([])
    expect([...trace(richer, call, row('tool', 'outer', 'tool')).same_calls]).toEqual([])
  })
})
