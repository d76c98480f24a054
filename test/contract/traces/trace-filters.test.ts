import { describe, expect, it } from 'vitest'
import { FEEDBACK_ROWS } from '../../../src/trace/rows/feedback.ts'
import { RowWriter } from '../../../src/trace/rows/row-binary.ts'
import { parseFilter } from '../../../src/trace/filter/filter.ts'
import { TRACE_RUN_ROWS } from '../../../src/trace/rows/trace-run-row.ts'
import {
  START,
  type TestTraceStore,
  WORKSPACE,
  idOf,
  useTraceStore,
  traceRunRow,
} from '../../support/stores/clickhouse/trace-store.ts'
import { firstInShort, inLong } from '../../support/length.ts'

/** Three traces: runs 1 to 3, 4 to 6, and 7 alone. */
const TRACES: [number, number, string][] = [
  [1, 1, 'chain'],
  [2, 1, 'tool'],
  [3, 1, 'llm'],
  [4, 4, 'chain'],
  [5, 4, 'retriever'],
  [6, 4, 'chain'],
  [7, 7, 'llm'],
]
/** A record of feedback: its run, key, score, and the day of the month on which it was modified. */
const FEEDBACK: [number, number, string, unknown, number | undefined][] = [
  [1, 1, 'correct', 1, 1],
  [2, 1, 'tone', 0.2, 2],
  [3, 4, 'correct', 0, 3],
  [4, 4, 'tone', 0.9, undefined],
  [5, 7, 'correct', true, 5],
  [6, 6, 'tone', null, 6],
]

let test: TestTraceStore
useTraceStore(async (store) => {
  test = store
  await test.insert(
    TRACES.map(([n, root, run_type]) =>
      traceRunRow(n, {
        trace_id: idOf(root),
        run_type,
        dotted_order: [...new Set([root, n])].map((id) => `20261120T090000000000Z${idOf(id)}`).join('.'),
        name: `step ${n}`,
        ...(n !== root && { parent_run_id: idOf(root) }),
        ...(n === 3 && { input_tokens: 40 }),
      }),
    ),
  )
  const writer = new RowWriter()
  for (const [n, run, key, score, day] of FEEDBACK) {
    FEEDBACK_ROWS.write(writer, {
      workspace_id: WORKSPACE,
      run_id: idOf(run),
      feedback_id: idOf(n + 100),
      trace_id: idOf(run),
      received_at: START / 1000,
      body: JSON.stringify({
        key,
        score,
        ...(day !== undefined && { modified_at: `2026-12-0${day}T00:00:00Z` }),
      }),
    })
  }
  await test.store.insert('feedback', [writer.finish()])
})

type Asked = Parameters<TestTraceStore['idsOf']>[2]

async function numbersOf(filter: string, more: Asked = {}): Promise<number[]> {
  return (await test.idsOf(WORKSPACE, filter, more)).map((id) => Number(id.slice(-12)))
}

const ANY = 'gte(latency, "0s")'
const ALL = `or(${ANY}, not(${ANY}))`

describe('filters over the traces of TraceRuns', () => {
  it('trace_filter is a condition on the root', async () => {
    const of = (expression: string, more: Asked = {}) =>
      numbersOf(ALL, { trace_filter: parseFilter(expression), ...more })
    expect(await of('eq(name, "step 4")')).toEqual([4, 5, 6])
    expect(await of('eq(name, "step 5")')).toEqual([])
    expect(await of('gt(total_tokens, 10)')).toEqual([1, 2, 3])
    expect(await of('eq(name, "step 4")', { start_time: START + 5 * 60_000_000 })).toEqual([5, 6])
    expect(await of('eq(name, "step 4")', { trace_ids: [idOf(1)] })).toEqual([])
  })

  it('tree_filter is a condition on some TraceRun', async () => {
    const of = (expression: string, more: Asked = {}) =>
      numbersOf(ALL, { tree_filter: parseFilter(expression), ...more })
    expect(await of('eq(run_type, "llm")')).toEqual([1, 2, 3, 7])
    expect(await of('and(eq(run_type, "llm"), eq(name, "step 2"))')).toEqual([])
    expect(await of('eq(run_type, "tool")', { start_time: START + 3 * 60_000_000 })).toEqual([3])
    expect(await of('eq(run_type, "llm")', { is_root: true })).toEqual([1, 7])
  })

  inLong(() => {
    it('all three apply together', async () => {
      const trace_filter = parseFilter('neq(name, "step 7")')
      const tree_filter = parseFilter('in(run_type, ["LLM", "retriever"])')
      expect(await numbersOf('neq(run_type, "chain")', { trace_filter, tree_filter })).toEqual([2, 3, 5])
    })
  })
})

describe('conditions on feedback', () => {
  it.each(
    firstInShort(
      [
        ['eq(feedback_key, "correct")', [1, 4, 7]],
        ['not(eq(feedback_key, "correct"))', [2, 3, 5, 6]],
        ['and(eq(feedback_key, "correct"), gte(feedback_score, 0.5))', [1, 7]],
        ['and(eq(feedback_key, "tone"), lt(feedback_score, 0.5))', [1]],
        ['gt(feedback_score, 0.5)', [1, 4, 7]],
        ['in(feedback_score, [0, 0.2])', [1, 4]],
        ['and(eq(feedback_key, "tone"), neq(feedback_score, 0.2))', [4, 6]],
        ['and(eq(feedback_key, "correct"), eq(is_root, true), eq(run_type, "chain"))', [1, 4]],
      ],
      1,
    ),
  )('%s', async (expression, expected) => {
    expect(await numbersOf(expression)).toEqual(expected)
  })

  inLong(() => {
    it('select what was modified in a time, if one is given', async () => {
      const day = (n: number) => Date.UTC(2026, 11, n) * 1000
      const key = 'in(feedback_key, ["correct", "tone"])'
      expect(await numbersOf(key, { feedback_from: day(2), feedback_to: day(5) })).toEqual([1, 4])
      expect(await numbersOf(key, { feedback_from: day(5) })).toEqual([6, 7])
      // Feedback without a modification time is selected by the time at which it was received.
      expect(await numbersOf(key, { feedback_to: day(1) })).toEqual([4])
    })
  })
})

inLong(() => {
  it('returns only the requested columns', async () => {
    const columns = ['run_id', 'name', 'total_cost'] as const
    const query = { order: 'asc', limit: 2, filter: parseFilter('eq(run_type, "llm")') } as const
    const rows = [...TRACE_RUN_ROWS.read(await test.store.list(WORKSPACE, query, columns), columns)]
    expect(rows).toEqual([
      { run_id: idOf(3), name: 'step 3', total_cost: null },
      { run_id: idOf(7), name: 'step 7', total_cost: null },
    ])
  })
})
