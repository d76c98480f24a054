import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NIL_UUID, newUuid } from '../../../src/base/ids.ts'
import { formatDecimal } from '../../../src/trace/price/decimal.ts'
import { type Totals, rollUp } from '../../../src/trace/derive/roll-up.ts'
import {
  OTHER_PROJECT,
  PROJECT,
  SECOND,
  START,
  type TestTraceStore,
  WORKSPACE,
  idOf,
  useTraceStore,
  traceRunRow,
} from '../../support/stores/clickhouse/trace-store.ts'
import { tries } from '../../support/properties.ts'
import { forest, rowsOf } from '../../support/traces/random-traces.ts'
import { inLong } from '../../support/length.ts'

/** Number of random projects in one round of a property. */
const WORLDS = 5

let db: TestTraceStore
useTraceStore((store) => void (db = store))

const statsOf = async (project: string, workspace = WORKSPACE) =>
  (await db.store.projectStats(workspace, [project])).get(project)

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
    estimated_prompt_tokens: all.reduce((sum, it) => sum + it.estimated_prompt_tokens, 0),
    estimated_completion_tokens: all.reduce((sum, it) => sum + it.estimated_completion_tokens, 0),
    estimated_cost: add(all.map((it) => it.estimated_cost)),
    llm_runs: all.reduce((sum, it) => sum + it.llm_runs, 0),
    unpriced_runs: all.reduce((sum, it) => sum + it.unpriced_runs, 0),
  }
}

describe('figures of a project', () => {
  it('are the sums of its traces, for any nesting and any order of arrival', async () => {
    // Several projects share each statement, because statements take most of the time.
    const worlds = fc.array(fc.record({ traces: forest, backwards: fc.boolean() }), {
      minLength: WORLDS,
      maxLength: WORLDS,
    })
    await fc.assert(
      fc.asyncProperty(worlds, async (made) => {
        const projects = made.map(({ traces, backwards }) => {
          const project = newUuid()
          const rows = traces.map((nodes) => rowsOf(project, nodes))
          return { project, rows, inOrder: backwards ? rows.flat().toReversed() : rows.flat() }
        })
        const all = projects.flatMap(({ inOrder }) => inOrder)
        // The first version of each row had no usage.
        await db.insert(all.map((row) => ({ ...row, version: 0, ...NO_USAGE })))
        await db.insert(all)
        const ids = projects.map(({ project }) => project)
        const stats = await db.store.projectStats(WORKSPACE, ids)
        for (const { project, rows } of projects)
          expect(stats.get(project)).toMatchObject({
            run_count: rows.flat().length,
            trace_count: rows.length,
            ...sums(rows.map((trace) => rollUp(trace).trace)),
          })
      }),
      tries(10 / WORLDS),
    )
  })

  inLong(() => {
    it('count a trace with several roots once', async () => {
      const project = newUuid()
      await db.insert([1, 2].map((n) => traceRunRow(n, { project_id: project, run_id: newUuid() })))
      expect(await statsOf(project)).toMatchObject({ run_count: 2, trace_count: 1 })
    })
  })

  it('have times, failures and streams of ended runs', async () => {
    const seconds = (n: number, after: number) => START + n * 60 * SECOND + after * SECOND
    const rootOf = (n: number) => ({ parent_run_id: NIL_UUID, trace_id: idOf(n) })
    const child = { parent_run_id: idOf(1), run_type: 'llm', status: 'success' }
    await db.insert([
      traceRunRow(1, { ...rootOf(1), status: 'success', end_time: seconds(1, 2) }),
      traceRunRow(2, { ...rootOf(2), status: 'error', end_time: seconds(2, 4) }),
      traceRunRow(3, { ...rootOf(3) }),
      // The clock was set back before this.
      traceRunRow(4, { ...rootOf(4), status: 'success', end_time: seconds(4, -5) }),
      traceRunRow(5, { ...child, end_time: seconds(5, 60), first_token_time: seconds(5, 0.5) }),
      traceRunRow(6, { ...child, end_time: seconds(6, 60) }),
      traceRunRow(7, { ...child, status: 'pending', first_token_time: seconds(7, 1) }),
      // The row with which ingest deletes a TraceRun at its earlier place.
      traceRunRow(8, { ...rootOf(8), status: 'error', version: 2, is_deleted: 1 }),
      traceRunRow(9, { project_id: OTHER_PROJECT, ...rootOf(9), status: 'error' }),
    ])
    expect(await statsOf(PROJECT)).toMatchObject({
      run_count: 7,
      last_start: seconds(7, 0),
      trace_count: 4,
      llm_runs: 3,
      latency_p50: 2,
      latency_p95: expect.closeTo(3.8, 9),
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

  inLong(() => {
    it('are null without runs, and add up beyond 2^64', async () => {
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
})

const NO_USAGE = {
  input_tokens: null,
  output_tokens: null,
  input_cost: null,
  output_cost: null,
  total_cost: null,
}
