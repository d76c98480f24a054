import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NIL_UUID, newUuid } from '../../src/base/ids.ts'
import { createUsageDetailsSource } from '../../src/storage/clickhouse/usage-details.ts'
import { formatDecimal } from '../../src/trace/decimal.ts'
import { dottedSegment } from '../../src/trace/dotted-order.ts'
import type { TraceRunRow } from '../../src/trace/trace-run-row.ts'
import { rangeOf } from '../../src/usage/granular-usage.ts'
import { bucketOf } from '../../src/usage/stride.ts'
import {
  DETAIL_GROUPINGS,
  type DetailGrouping,
  type UsageDetail,
  type UsageDetailsQuery,
} from '../../src/usage/usage-details-source.ts'
import { type TestTraceStore, idOf, startTestTraceStore, traceRunRow } from '../support/trace-store.ts'
import { tries } from '../support/properties.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const BASE = Date.UTC(2026, 10, 20)

let db: TestTraceStore
beforeAll(async () => {
  db = await startTestTraceStore()
})
afterAll(() => db.stop())

const node = fc.record({
  /** Picks the parent among the earlier ones; the first is the root. */
  parent: fc.nat(),
  run_type: fc.constantFrom('llm', 'llm', 'chain', 'embedding', 'tool'),
  /** After the parent, in microseconds. */
  delay: fc.constantFrom(0, 1, 999, HOUR * 1000, DAY * 1000),
  model: fc.constantFrom('', 'a', 'b'),
  usage: fc.record(
    {
      input_tokens: fc.integer({ min: 0, max: 5000 }),
      output_tokens: fc.integer({ min: 0, max: 5000 }),
      input_cost: fc.bigInt({ min: 0n, max: 10n ** 19n }),
      total_cost: fc.bigInt({ min: 0n, max: 10n ** 37n }),
    },
    { requiredKeys: [] },
  ),
})
const tree = fc.record({
  workspace: fc.constantFrom(0, 1, 2),
  project: fc.constantFrom(0, 1),
  user: fc.boolean(),
  key: fc.constantFrom(1, 2),
  /** Of the root, in milliseconds from BASE. */
  start: fc.oneof(
    fc.integer({ min: -40 * DAY, max: 40 * DAY }),
    fc.integer({ min: -40, max: 40 }).map((n) => n * HOUR),
  ),
  nodes: fc.array(node, { minLength: 1, maxLength: 8 }),
})
type Tree = typeof tree extends fc.Arbitrary<infer T> ? T : never

/** The rows of one trace, each in its place. */
function rowsOf({ project, user, key, start, nodes }: Tree, workspace_id: string): TraceRunRow[] {
  const rows: TraceRunRow[] = []
  for (const { parent, run_type, delay, model, usage } of nodes) {
    const run_id = newUuid()
    const above = rows.length === 0 ? undefined : rows[parent % rows.length]!
    const time = above === undefined ? (BASE + start) * 1000 : above.sort_time + delay
    const segment = dottedSegment(time, run_id)
    const { input_tokens: _in, output_tokens: _out, ...costs } = usage
    const counts = run_type === 'llm' || run_type === 'embedding' ? usage : costs
    rows.push({
      ...traceRunRow(1, { project_id: idOf(500 + project), run_type, model, ...counts }),
      provider: model === '' ? '' : 'vendor',
      workspace_id,
      user_id: user ? idOf(600) : NIL_UUID,
      api_key_id: idOf(700 + key),
      sort_time: time,
      start_time: time,
      run_id,
      trace_id: rows[0]?.run_id ?? run_id,
      parent_run_id: above?.run_id ?? NIL_UUID,
      dotted_order: above === undefined ? segment : `${above.dotted_order}.${segment}`,
    })
  }
  return rows
}

const bears = (row: TraceRunRow): boolean =>
  row.input_tokens !== null || row.output_tokens !== null || row.total_cost !== null

function groupOf(
  row: TraceRunRow,
  group_by: DetailGrouping,
): Pick<UsageDetail, 'workspace_id' | 'dimension_id' | 'provider' | 'model'> {
  const none = { workspace_id: NIL_UUID, dimension_id: NIL_UUID, provider: '', model: '' }
  const { workspace_id, project_id, user_id, api_key_id, provider, model } = row
  if (group_by === 'model') return { ...none, provider, model }
  if (group_by === 'user') return { ...none, dimension_id: user_id }
  if (group_by === 'api_key') return { ...none, dimension_id: api_key_id }
  return { ...none, workspace_id, dimension_id: group_by === 'workspace' ? workspace_id : project_id }
}

/** The same, one TraceRun at a time. */
function bruteForce(traces: readonly TraceRunRow[][], query: UsageDetailsQuery): UsageDetail[] {
  const groups = new Map<
    string,
    { group: Omit<UsageDetail, keyof Sums>; rows: TraceRunRow[]; llm_runs: number }
  >()
  for (const rows of traces) {
    for (const row of rows) {
      const time = row.sort_time / 1000
      if (!query.workspace_ids.includes(row.workspace_id) || time < query.start || time >= query.end) continue
      const isCounted =
        bears(row) &&
        !rows.some((other) => bears(other) && other.dotted_order.startsWith(`${row.dotted_order}.`))
      if (!isCounted && row.run_type !== 'llm') continue
      const group = { bucket: bucketOf(time, query.origin, query.stride), ...groupOf(row, query.group_by) }
      const key = JSON.stringify(group)
      const known = groups.get(key) ?? { group, rows: [], llm_runs: 0 }
      if (isCounted) known.rows.push(row)
      groups.set(key, { ...known, llm_runs: known.llm_runs + Number(row.run_type === 'llm') })
    }
  }
  return [...groups.values()].map(({ group, rows, llm_runs }) => ({ ...group, llm_runs, ...sumsOf(rows) }))
}

type Sums = Pick<
  UsageDetail,
  'llm_runs' | 'prompt_tokens' | 'completion_tokens' | 'prompt_cost' | 'completion_cost' | 'total_cost'
>

function sumsOf(rows: readonly TraceRunRow[]): Omit<Sums, 'llm_runs'> {
  const cost = (values: (bigint | null)[]): string | null => {
    const known = values.filter((value) => value !== null)
    return known.length === 0 ? null : formatDecimal(known.reduce((a, b) => a + b, 0n))
  }
  return {
    prompt_tokens: rows.reduce((sum, row) => sum + (row.input_tokens ?? 0), 0),
    completion_tokens: rows.reduce((sum, row) => sum + (row.output_tokens ?? 0), 0),
    prompt_cost: cost(rows.map((row) => row.input_cost)),
    completion_cost: cost(rows.map((row) => row.output_cost)),
    total_cost: cost(rows.map((row) => row.total_cost)),
  }
}

const sorted = (details: readonly UsageDetail[]): string[] =>
  details.map((detail) => JSON.stringify(detail, Object.keys(detail).toSorted())).toSorted()

describe('tokens and costs in buckets', () => {
  it('USAGE-14: are those of each TraceRun added up, without what repeats a descendant', async () => {
    const range = fc
      .tuple(
        fc.integer({ min: -40 * DAY, max: 40 * DAY }),
        fc.constantFrom(HOUR, DAY, 32 * DAY, 94 * DAY, 400 * DAY),
      )
      .map(([start, length]) => rangeOf(BASE + start, BASE + start + length))
    const input = [
      fc.array(tree, { minLength: 1, maxLength: 6 }),
      range,
      fc.constantFrom(...DETAIL_GROUPINGS),
      // One row a statement and all in one.
      fc.constantFrom(1, 1e6),
    ] as const
    await fc.assert(
      fc.asyncProperty(...input, async (trees, buckets, group_by, maxRows) => {
        const workspaces = [newUuid(), newUuid(), newUuid()]
        const traces = trees.map((one) => rowsOf(one, workspaces[one.workspace]!))
        // What was derived first knew of no usage.
        const first = {
          version: 0,
          input_tokens: null,
          output_tokens: null,
          input_cost: null,
          total_cost: null,
        }
        await db.insert(traces.flat().map((row) => ({ ...row, ...first })))
        await db.insert(traces.flat())
        const query = { ...buckets, workspace_ids: workspaces.slice(0, 2), group_by }
        const found = await createUsageDetailsSource(db.clickhouse, maxRows).details(query)
        expect(sorted(found)).toEqual(sorted(bruteForce(traces, query)))
      }),
      tries(40),
    )
  })

  it('are found in a range of all time', async () => {
    const workspace_id = newUuid()
    await db.insert([traceRunRow(1, { workspace_id, run_type: 'llm', input_tokens: 2 })])
    const range = rangeOf(Date.UTC(1900, 0, 1) - 9e12, Date.UTC(9999, 0, 1))
    const query = { ...range, workspace_ids: [workspace_id], group_by: 'workspace' as const }
    const found = await createUsageDetailsSource(db.clickhouse).details(query)
    expect(found).toMatchObject([{ llm_runs: 1, prompt_tokens: 2, total_cost: null }])
  })

  it('are not repeated by a TraceRun of another workspace that has the same ids', async () => {
    const [own, other, project_id, run_id] = [newUuid(), newUuid(), newUuid(), newUuid()]
    const root = dottedSegment(BASE * 1000, run_id)
    const fields = { project_id, run_type: 'llm', sort_time: BASE * 1000, input_tokens: 2 }
    const under = { run_id: newUuid(), trace_id: run_id, parent_run_id: run_id }
    await db.insert([
      traceRunRow(1, { ...fields, workspace_id: own, run_id, trace_id: run_id, dotted_order: root }),
      traceRunRow(1, {
        ...fields,
        ...under,
        workspace_id: other,
        dotted_order: `${root}.${dottedSegment(BASE * 1000, under.run_id)}`,
      }),
    ])
    const query = { ...rangeOf(BASE, BASE + HOUR), group_by: 'workspace' as const }
    const found = await createUsageDetailsSource(db.clickhouse).details({
      ...query,
      workspace_ids: [own, other],
    })
    expect(new Map(found.map(({ workspace_id, prompt_tokens }) => [workspace_id, prompt_tokens]))).toEqual(
      new Map([
        [own, 2],
        [other, 2],
      ]),
    )
  })
})
