import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NIL_UUID, newUuid } from '../../../src/base/ids.ts'
import type { TimeHistogram, RunFigures, StatsQuery } from '../../../src/ingest/store/stats-store.ts'
import { formatDecimal } from '../../../src/trace/price/decimal.ts'
import { rollUp } from '../../../src/trace/derive/roll-up.ts'
import { CHECKS } from '../../../src/trace/derive/verdicts.ts'
import { parseFilter } from '../../../src/trace/filter/filter.ts'
import { FEEDBACK_ROWS } from '../../../src/trace/rows/feedback.ts'
import { RowWriter } from '../../../src/trace/rows/row-binary.ts'
import { checkBit, type TraceRunRow } from '../../../src/trace/rows/trace-run-row.ts'
import { inLong, someInShort } from '../../support/length.ts'
import { tries } from '../../support/properties.ts'
import { forest, rowsOf } from '../../support/traces/random-traces.ts'
import {
  idOf,
  START,
  useTraceStore,
  type TestTraceStore,
  traceRunRow,
  WORKSPACE,
} from '../../support/stores/clickhouse/trace-store.ts'

let db: TestTraceStore
useTraceStore((store) => void (db = store))

const MINUTE = 60_000_000
const isRoot = (row: TraceRunRow) => row.parent_run_id === NIL_UUID
const bears = ({ input_tokens, output_tokens, total_cost }: TraceRunRow) =>
  input_tokens !== null || output_tokens !== null || total_cost !== null

/** Computes the figures of one trace in the simplest way, for comparison. */
function modelOf(rows: readonly TraceRunRow[]) {
  const byId = new Map(rows.map((row) => [row.run_id, row]))
  const { same_calls } = rollUp(rows)
  const line = (row: TraceRunRow): TraceRunRow[] => {
    const above = byId.get(row.parent_run_id)
    return above ? [...line(above), row] : [row]
  }
  const own = rows.filter((row) => bears(row) && !same_calls.has(row.run_id))
  const counted = own.filter((row) => !own.some((other) => other !== row && line(other).includes(row)))
  return { counted, line }
}

/** Sums over the rows that count. */
function sumsOf(rows: readonly TraceRunRow[]) {
  const add = (column: 'input_cost' | 'output_cost' | 'total_cost') => {
    const known = rows.flatMap((row) => row[column] ?? [])
    return known.length === 0 ? null : formatDecimal(known.reduce((a, b) => a + b, 0n))
  }
  return {
    prompt_tokens: rows.reduce((sum, row) => sum + (row.input_tokens ?? 0), 0),
    completion_tokens: rows.reduce((sum, row) => sum + (row.output_tokens ?? 0), 0),
    prompt_cost: add('input_cost'),
    completion_cost: add('output_cost'),
    total_cost: add('total_cost'),
    unpriced_runs: rows.filter(({ total_cost }) => total_cost === null).length,
  }
}

function quantile(values: readonly number[], p: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  if (sorted.length === 0) return null
  const at = (sorted.length - 1) * p
  const low = sorted[Math.floor(at)]!
  return low + (sorted[Math.ceil(at)]! - low) * (at - Math.floor(at))
}

function checksOf(calls: readonly TraceRunRow[]) {
  const having = (name: (typeof CHECKS)[number]): number =>
    calls.filter(({ checks }) => (checks >> checkBit(name)) & 1).length
  const all = calls.filter(({ checks }) => CHECKS.every((name) => (checks >> checkBit(name)) & 1)).length
  const counts = Object.fromEntries(CHECKS.map((name) => [name, having(name)]))
  return { llm_runs: calls.length, all, ...counts }
}

/** Counts and times of rows, as the store returns them. */
function figuresOf(rows: readonly TraceRunRow[]) {
  const ended = rows.filter(({ status }) => status !== 'pending')
  const latencies = rows.flatMap((row) =>
    row.end_time === null ? [] : [(row.end_time - row.start_time) / 1e6],
  )
  const near = (value: number | null) => (value === null ? null : expect.closeTo(value, 9))
  return {
    run_count: rows.length,
    error_rate:
      ended.length === 0 ? null : ended.filter(({ status }) => status === 'error').length / ended.length,
    latency: [near(quantile(latencies, 0.5)), near(quantile(latencies, 0.99))],
    latency_p90: near(quantile(latencies, 0.9)),
    latency_p95: near(quantile(latencies, 0.95)),
    checks: checksOf(rows.filter(({ run_type }) => run_type === 'llm')),
  }
}

async function statsOf(project: string, query: StatsQuery = {}): Promise<RunFigures[]> {
  const { figures, is_exact } = await db.store.runStats(WORKSPACE, { project_ids: [project], ...query })
  expect(is_exact).toBe(true)
  return figures
}

describe('figures of TraceRuns are those of a naive model', () => {
  const check = (
    test: (project: string, traces: TraceRunRow[][]) => Promise<void>,
    number = 1,
  ): Promise<void> =>
    fc.assert(
      fc.asyncProperty(forest, async (nodes) => {
        const project = newUuid()
        const traces = nodes.map((trace) => rowsOf(project, trace))
        // The store also has an older version of each row, which must not be read.
        await db.insert(traces.flat().map((row) => ({ ...row, version: 0, name: 'old', tags: ['old'] })))
        await db.insert(traces.flat())
        await test(project, traces)
      }),
      tries(number),
    )

  it('over all, over roots with their traces, and over filtered runs with their descendants', () =>
    check(async (project, traces) => {
      const all = traces.flat()
      const models = traces.map(modelOf)
      const counted = models.flatMap((model) => model.counted)
      expect(await statsOf(project)).toMatchObject([{ ...figuresOf(all), ...sumsOf(counted) }])
      const totals = traces.map((trace) => sumsOf(modelOf(trace).counted))
      const each = traces.flatMap((_, i) =>
        models[i]!.counted.length === 0 ? [] : [totals[i]!.prompt_tokens + totals[i]!.completion_tokens],
      )
      const [roots] = await statsOf(project, { is_root: true })
      expect(roots).toMatchObject({ ...figuresOf(all.filter(isRoot)), ...sumsOf(counted) })
      expect(roots!.total_tokens_each[0]).toEqual(
        each.length === 0 ? null : expect.closeTo(quantile(each, 0.5)!, 6),
      )
      const below = models.flatMap((model) =>
        model.counted.filter((row) => model.line(row).some(({ name }) => name === 'plan')),
      )
      const found = all.filter(({ name }) => name === 'plan')
      expect(await statsOf(project, { filter: parseFilter('eq(name, "plan")') })).toMatchObject([
        { ...figuresOf(found), ...sumsOf(below) },
      ])
    }))

  it('N7: by group, where groups add up, and by time', () =>
    check(async (project, traces) => {
      const all = traces.flat()
      const counted = traces.flatMap((trace) => modelOf(trace).counted)
      const groups: [NonNullable<StatsQuery['group_by']>, (row: TraceRunRow) => string[]][] = [
        [{ by: 'model', max_groups: 9 }, (row) => (row.model === '' ? [] : [row.model])],
        [{ by: 'run_type', max_groups: 9 }, (row) => [row.run_type]],
        [{ by: 'tag', max_groups: 9 }, (row) => row.tags],
        [{ by: 'provider', max_groups: 9 }, (row) => (row.provider === '' ? [] : [row.provider])],
        [{ by: 'metadata', key: 'env', max_groups: 9 }, (row) => [row.metadata['env']!]],
        [{ by: 'status', max_groups: 9 }, (row) => [row.status]],
        [{ by: 'name', max_groups: 9 }, (row) => [row.name]],
      ]
      for (const [group_by, valuesOf] of someInShort(groups, 2)) {
        const names = [...new Set(all.flatMap(valuesOf))]
        const wanted = names.map((group) => ({
          group,
          ...figuresOf(all.filter((row) => valuesOf(row).includes(group))),
          ...sumsOf(counted.filter((row) => valuesOf(row).includes(group))),
        }))
        const found = await statsOf(project, { group_by })
        const inOrder = (a: { group: string | null }, b: { group: string | null }) =>
          a.group! < b.group! ? -1 : 1
        expect(found.toSorted(inOrder)).toMatchObject(wanted.toSorted(inOrder))
        expect(found.map(({ run_count }) => run_count)).toEqual(
          wanted.map(({ run_count }) => run_count).toSorted((a, b) => b - a),
        )
      }
      const slots = await statsOf(project, {
        interval: 2 * MINUTE,
        start_time: START,
        end_time: START + 60 * MINUTE,
      })
      expect(slots.reduce((sum, { run_count }) => sum + run_count, 0)).toBe(all.length)
      expect(slots.reduce((sum, slot) => sum + slot.prompt_tokens, 0)).toBe(sumsOf(counted).prompt_tokens)
    }))
})

inLong(() => {
  it('N7: with histograms, by classes of latency and first token, of TraceRuns or whole traces', async () => {
    const project_id = newUuid()
    const row = (n: number, millis: number, first?: number) => {
      const run_id = newUuid()
      const after = (time: number) => START + time * 1000
      return traceRunRow(n, {
        project_id,
        run_id,
        trace_id: run_id,
        start_time: START,
        sort_time: START,
        run_type: 'llm',
        end_time: after(millis),
        first_token_time: first === undefined ? null : after(first),
      })
    }
    const times = [[0, 0], [1.5, 1], [499, 20], [500], [7000], [90_000_000]] as const
    await db.insert(times.map(([end, first], n) => row(n + 1, end, first)))
    const latency = [0, 0.001, 0.2, 0.5, 5, 50_000].map((least) => [least, 1])
    const first = [0, 0.001, 0.02].map((least) => [least, 1])
    const sorted = (histogram: TimeHistogram | undefined) =>
      [...(histogram ?? [])].toSorted((a, b) => a[0] - b[0])
    for (const query of [{}, { is_root: true }, { group_by: { by: 'session', max_groups: 2 } as const }]) {
      const [figures] = await statsOf(project_id, { ...query, histograms: true })
      expect(sorted(figures?.latency_histogram)).toEqual(latency)
      expect(sorted(figures?.first_token_histogram)).toEqual(first)
      expect(figures?.group ?? project_id).toBe(project_id)
    }
    expect((await statsOf(project_id))[0]?.latency_histogram).toBeUndefined()
  })

  it('of the largest groups, in buckets that have runs', async () => {
    const project_id = newUuid()
    const row = (n: number, name: string, minutes: number) =>
      traceRunRow(n, { project_id, run_id: newUuid(), name, sort_time: START + minutes * MINUTE })
    await db.insert([
      row(1, 'a', 0),
      row(2, 'a', 5),
      row(3, 'b', 5),
      row(4, 'b', 6),
      row(5, 'b', 7),
      row(6, 'c', 5),
    ])
    const asked = {
      group_by: { by: 'name', max_groups: 2 } as const,
      start_time: START,
      end_time: START + 9 * MINUTE,
    }
    expect((await statsOf(project_id, asked)).map(({ group, run_count }) => [group, run_count])).toEqual([
      ['b', 3],
      ['a', 2],
    ])
    const slots = await statsOf(project_id, { ...asked, interval: 5 * MINUTE })
    expect(
      slots.map(({ bucket, group, run_count }) => [(bucket! - START) / MINUTE, group, run_count]),
    ).toEqual([
      [0, 'a', 1],
      [5, 'b', 3],
      [5, 'a', 1],
    ])
    expect(await statsOf(newUuid())).toMatchObject([{ run_count: 0, total_cost: null, prompt_tokens: 0 }])
    expect(await statsOf(newUuid(), asked)).toEqual([])
  })
})

describe('figures of feedback', () => {
  it('are by TraceRun and key, and over all TraceRuns of a query', async () => {
    const project_id = newUuid()
    const run_id = newUuid()
    await db.insert([traceRunRow(1, { project_id, run_id })])
    const writer = new RowWriter()
    const bodies = [
      { key: 'right', score: 1, comment: 'good', feedback_source: { type: 'api' } },
      { key: 'right', score: 0, value: 'no', feedback_source: { type: 'model' } },
      { key: 'right', score: true, value: 'no' },
      { key: 'mood', value: 'calm', comment: 'x'.repeat(500) },
    ]
    for (const [n, body] of bodies.entries()) {
      const at = { workspace_id: WORKSPACE, run_id, trace_id: NIL_UUID, received_at: START / 1000 + n }
      FEEDBACK_ROWS.write(writer, { ...at, feedback_id: idOf(n), body: JSON.stringify(body) })
    }
    await db.store.insert('feedback', [writer.finish()])
    const right = {
      n: 3,
      avg: 2 / 3,
      min: 0,
      max: 1,
      stdev: expect.closeTo(0.4714, 4),
      errors: 0,
      values: { no: 2 },
      comments: ['good'],
      sources: ['api', 'model'],
    }
    const mood = {
      n: 1,
      avg: null,
      min: null,
      max: null,
      stdev: null,
      values: { calm: 1 },
      comments: ['x'.repeat(200)],
    }
    const found = await db.store.feedbackOfRuns(WORKSPACE, [run_id, newUuid()])
    expect([...found]).toEqual([[run_id, { right, mood: expect.objectContaining(mood) }]])
    expect(await db.store.feedbackStats(WORKSPACE, { project_ids: [project_id] })).toMatchObject({
      right,
      mood,
    })
    expect(await db.store.feedbackStats(WORKSPACE, { project_ids: [newUuid()] })).toEqual({})
  })
})
