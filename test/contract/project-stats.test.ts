import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NIL_UUID, newUuid } from '../../src/base/ids.ts'
import { formatDecimal } from '../../src/trace/decimal.ts'
import { dottedSegment } from '../../src/trace/dotted-order.ts'
import { type Totals, rollUp } from '../../src/trace/roll-up.ts'
import type { TraceRunRow } from '../../src/trace/trace-run-row.ts'
import {
  OTHER_PROJECT,
  PROJECT,
  SECOND,
  START,
  type TestTraceStore,
  WORKSPACE,
  idOf,
  startTestTraceStore,
  traceRunRow,
} from '../support/trace-store.ts'
import { tries } from '../support/properties.ts'

let db: TestTraceStore
beforeAll(async () => {
  db = await startTestTraceStore()
})
afterAll(() => db.stop())

const statsOf = async (project: string, workspace = WORKSPACE) =>
  (await db.store.projectStats(workspace, [project])).get(project)

/** Usage that a TraceRun of any type may bear; tokens are on llm and embedding only. */
const usage = fc.record(
  {
    input_tokens: fc.integer({ min: 0, max: 5000 }),
    output_tokens: fc.integer({ min: 0, max: 5000 }),
    input_cost: fc.bigInt({ min: 0n, max: 10n ** 37n }),
    output_cost: fc.bigInt({ min: 0n, max: 10n ** 19n }),
    total_cost: fc.bigInt({ min: 0n, max: 10n ** 37n }),
  },
  { requiredKeys: [] },
)
const node = fc.record({
  /** Picks the parent among the earlier ones; the first is the root. */
  parent: fc.nat(),
  run_type: fc.constantFrom('llm', 'llm', 'chain', 'embedding', 'tool'),
  status: fc.constantFrom('success', 'error', 'pending'),
  usage,
})
type Node = typeof node extends fc.Arbitrary<infer T> ? T : never
const forest = fc.array(fc.array(node, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 })

/** The rows of one trace, each in its place. */
function rowsOf(project_id: string, nodes: readonly Node[]): TraceRunRow[] {
  const rows: TraceRunRow[] = []
  for (const { parent, run_type, status, usage: bears } of nodes) {
    const run_id = newUuid()
    const above = rows.length === 0 ? undefined : rows[parent % rows.length]!
    const segment = dottedSegment(START, run_id)
    const { input_tokens: _input, output_tokens: _output, ...costs } = bears
    const counts = run_type === 'llm' || run_type === 'embedding' ? bears : costs
    rows.push({
      ...traceRunRow(1, { project_id, run_type, status, ...counts }),
      run_id,
      trace_id: rows[0]?.run_id ?? run_id,
      parent_run_id: above?.run_id ?? NIL_UUID,
      dotted_order: above === undefined ? segment : `${above.dotted_order}.${segment}`,
    })
  }
  return rows
}

function sums(all: readonly Totals[]) {
  const add = (values: (bigint | null)[]): string | null => {
    const known = values.filter((value) => value !== null)
    return known.length === 0 ? null : formatDecimal(known.reduce((a, b) => a + b, 0n))
  }
  return {
    prompt_tokens: all.reduce((sum, it) => sum + it.prompt_tokens, 0),
    completion_tokens: all.reduce((sum, it) => sum + it.completion_tokens, 0),
    prompt_cost: add(all.map((it) => it.prompt_cost)),
    completion_cost: add(all.map((it) => it.completion_cost)),
    total_cost: add(all.map((it) => it.total_cost)),
    llm_runs: all.reduce((sum, it) => sum + it.llm_runs, 0),
  }
}

describe('figures of a project', () => {
  it('are the sums of its traces, whatever is nested in what and in whatever order it comes', async () => {
    await fc.assert(
      fc.asyncProperty(forest, fc.boolean(), async (traces, backwards) => {
        const project = newUuid()
        const rows = traces.map((nodes) => rowsOf(project, nodes))
        const order = backwards ? rows.flat().toReversed() : rows.flat()
        // What was derived first knew of no usage.
        await db.insert(order.map((row) => ({ ...row, version: 0, ...NO_USAGE })))
        await db.insert(order)
        const stats = await statsOf(project)
        expect(stats).toMatchObject({
          run_count: rows.flat().length,
          trace_count: traces.length,
          ...sums(rows.map((trace) => rollUp(trace).trace)),
        })
      }),
      tries(25),
    )
  })

  it('count a trace with several roots once', async () => {
    const project = newUuid()
    await db.insert([1, 2].map((n) => traceRunRow(n, { project_id: project, run_id: newUuid() })))
    expect(await statsOf(project)).toMatchObject({ run_count: 2, trace_count: 1 })
  })

  it('tell times, failures and streams of what has ended', async () => {
    const seconds = (n: number, after: number) => START + n * 60 * SECOND + after * SECOND
    const rootOf = (n: number) => ({ parent_run_id: NIL_UUID, trace_id: idOf(n) })
    const child = { parent_run_id: idOf(1), run_type: 'llm', status: 'success' }
    await db.insert([
      traceRunRow(1, { ...rootOf(1), status: 'success', end_time: seconds(1, 2) }),
      traceRunRow(2, { ...rootOf(2), status: 'error', end_time: seconds(2, 4) }),
      traceRunRow(3, { ...rootOf(3) }),
      // A clock that went back.
      traceRunRow(4, { ...rootOf(4), status: 'success', end_time: seconds(4, -5) }),
      traceRunRow(5, { ...child, end_time: seconds(5, 60), first_token_time: seconds(5, 0.5) }),
      traceRunRow(6, { ...child, end_time: seconds(6, 60) }),
      traceRunRow(7, { ...child, status: 'pending', first_token_time: seconds(7, 1) }),
      // Deleted under its old key.
      traceRunRow(8, { ...rootOf(8), status: 'error', version: 2, is_deleted: 1 }),
      traceRunRow(9, { project_id: OTHER_PROJECT, ...rootOf(9), status: 'error' }),
    ])
    expect(await statsOf(PROJECT)).toMatchObject({
      run_count: 7,
      last_start: seconds(7, 0),
      trace_count: 4,
      llm_runs: 3,
      latency_p50: 2,
      latency_p99: expect.closeTo(3.96, 9),
      first_token_p50: 0.75,
      error_rate: 1 / 3,
      streaming_rate: 0.5,
      total_cost: null,
      prompt_tokens: 0,
    })
    expect(await db.store.projectCounts(WORKSPACE, [PROJECT, OTHER_PROJECT, idOf(1)])).toEqual(
      new Map([
        [PROJECT, { run_count: 7, last_start: seconds(7, 0) }],
        [OTHER_PROJECT, { run_count: 1, last_start: seconds(9, 0) }],
      ]),
    )
    expect(await statsOf(PROJECT, idOf(1))).toBeUndefined()
  })

  it('are null where nothing is to tell, and bear counts beyond 2^64 in all', async () => {
    const project = newUuid()
    const huge = { project_id: project, run_type: 'chain', total_cost: 10n ** 38n - 1n }
    await db.insert([10, 11, 12].map((n) => traceRunRow(n, huge)))
    const many = Array.from({ length: 3000 }, (_, n) =>
      traceRunRow(100 + n, { project_id: project, run_type: 'llm', input_tokens: Number.MAX_SAFE_INTEGER }),
    )
    await db.insert(many)
    const stats = await statsOf(project)
    expect(stats).toMatchObject({
      latency_p50: null,
      latency_p99: null,
      first_token_p50: null,
      error_rate: null,
      streaming_rate: null,
      prompt_cost: null,
      total_cost: formatDecimal(3n * (10n ** 38n - 1n)),
    })
    expect(stats!.prompt_tokens / (3000 * Number.MAX_SAFE_INTEGER)).toBeCloseTo(1, 9)
  })
})

const NO_USAGE = {
  input_tokens: null,
  output_tokens: null,
  input_cost: null,
  output_cost: null,
  total_cost: null,
}
