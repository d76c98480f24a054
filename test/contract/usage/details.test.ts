import { NO_CALL, REQUEST, UNANSWERED } from '../../../src/trace/derive/same-call.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NIL_UUID, newUuid } from '../../../src/base/ids.ts'
import { createUsageDetailsSource } from '../../../src/storage/clickhouse/usage/details.ts'
import { createUsageRunSource } from '../../../src/storage/clickhouse/usage/runs.ts'
import { formatDecimal, parseDecimal } from '../../../src/trace/price/decimal.ts'
import { dottedSegment } from '../../../src/trace/derive/lineage/dotted-order.ts'
import { rollUp } from '../../../src/trace/derive/roll-up.ts'
import { estimatedPart } from '../../../src/trace/tokens/estimated-part.ts'
import type { TraceRunRow } from '../../../src/trace/rows/trace-run-row.ts'
import { rangeOf } from '../../../src/usage/report/granular-usage.ts'
import { bucketOf, strideMillis } from '../../../src/usage/report/stride.ts'
import { type Summed, SUMMED, type UsageRun, type UsageRunsQuery } from '../../../src/usage/report/runs.ts'
import {
  DETAIL_GROUPINGS,
  type DetailGrouping,
  type UsageDetail,
  type UsageDetailsQuery,
  type UsageSums,
} from '../../../src/usage/report/details-source.ts'
import {
  type TestTraceStore,
  idOf,
  useTraceStore,
  traceRunRow,
} from '../../support/stores/clickhouse/trace-store.ts'
import { tries } from '../../support/properties.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const BASE = Date.UTC(2026, 10, 20)

/** Number of random inputs in one round of the property. */
const WORLDS = 5

let db: TestTraceStore
useTraceStore((store) => void (db = store))

const node = fc.record({
  /** Selects the parent among the earlier nodes. The first node is the root. */
  parent: fc.nat(),
  run_type: fc.constantFrom('llm', 'llm', 'chain', 'embedding', 'tool'),
  /** Microseconds from the start of the parent to the start of this node. */
  delay: fc.constantFrom(0, 1, 999, HOUR * 1000, DAY * 1000),
  model: fc.constantFrom('', 'a', 'b'),
  /** Few values, so that several TraceRuns often show the same call. */
  call_id: fc.constantFrom(0, NO_CALL, REQUEST, 7, 7, UNANSWERED + 7),
  call_facts: fc.constantFrom(0, 64, 138, 139, 168),
  usage: fc.record(
    {
      input_tokens: fc.integer({ min: 0, max: 5000 }),
      output_tokens: fc.integer({ min: 0, max: 5000 }),
      input_cost: fc.bigInt({ min: 0n, max: 10n ** 19n }),
      output_cost: fc.bigInt({ min: 0n, max: 10n ** 19n }),
      // Up to the largest cost that can be stored.
      total_cost: fc.bigInt({ min: 0n, max: 10n ** 36n - 1n }),
      input_source: fc.constantFrom('', 'vendor', 'estimate'),
      output_source: fc.constantFrom('', 'vendor', 'estimate'),
      sent_costs: fc.integer({ min: 0, max: 7 }),
      usage_units: fc.dictionary(
        fc.constantFrom('web_searches', 'images', 'audio_seconds'),
        fc.integer({ min: 1, max: 9 }),
      ),
    },
    { requiredKeys: [] },
  ),
})
const tree = fc.record({
  workspace: fc.constantFrom(0, 1, 2),
  project: fc.constantFrom(0, 1),
  user: fc.boolean(),
  key: fc.constantFrom(1, 2),
  /** Start of the root, in milliseconds from BASE. */
  start: fc.oneof(
    fc.integer({ min: -40 * DAY, max: 40 * DAY }),
    fc.integer({ min: -40, max: 40 }).map((n) => n * HOUR),
  ),
  nodes: fc.array(node, { minLength: 1, maxLength: 8 }),
})
type Tree = typeof tree extends fc.Arbitrary<infer T> ? T : never

function rowsOf({ project, user, key, start, nodes }: Tree, workspace_id: string): TraceRunRow[] {
  const rows: TraceRunRow[] = []
  for (const { parent, run_type, delay, model, call_id, call_facts, usage } of nodes) {
    const run_id = newUuid()
    const above = rows.length === 0 ? undefined : rows[parent % rows.length]!
    const time = above === undefined ? (BASE + start) * 1000 : above.sort_time + delay
    const segment = dottedSegment(time, run_id)
    const { input_tokens: _in, output_tokens: _out, ...costs } = usage
    const counts = run_type === 'llm' || run_type === 'embedding' ? usage : costs
    rows.push({
      ...traceRunRow(1, { project_id: idOf(500 + project), run_type, model, ...counts }),
      ...(run_type === 'llm' ? { call_id, call_facts } : {}),
      provider: model === '' ? '' : 'vendor',
      workspace_id,
      user_id: user ? idOf(600) : NIL_UUID,
      api_key_id: idOf(700 + key),
      sort_time: time,
      start_time: time,
      end_time: time + HOUR,
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

const isLlm = ({ run_type, call_id }: TraceRunRow): boolean =>
  run_type === 'llm' && call_id !== NO_CALL && call_id !== REQUEST

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

/** The same report, computed one TraceRun at a time. */
function bruteForce(traces: readonly TraceRunRow[][], query: UsageDetailsQuery): UsageDetail[] {
  const groups = new Map<
    string,
    { group: Omit<UsageDetail, keyof Sums>; rows: TraceRunRow[]; llm_runs: number }
  >()
  for (const rows of traces) {
    const { same_calls } = rollUp(rows)
    const own = rows.filter(({ run_id }) => !same_calls.has(run_id))
    const hasBelow = (row: TraceRunRow, is: (other: TraceRunRow) => boolean): boolean =>
      own.some((other) => is(other) && other.dotted_order.startsWith(`${row.dotted_order}.`))
    for (const row of rows) {
      const time = row.sort_time / 1000
      if (!query.workspace_ids.includes(row.workspace_id) || time < query.start || time >= query.end) continue
      const isCounted = bears(row) && own.includes(row) && !hasBelow(row, bears)
      const isCall = isLlm(row) && own.includes(row) && !hasBelow(row, isLlm)
      if (!isCounted && !isCall) continue
      const group = { bucket: bucketOf(time, query.origin, query.stride), ...groupOf(row, query.group_by) }
      const key = JSON.stringify(group)
      const known = groups.get(key) ?? { group, rows: [], llm_runs: 0 }
      if (isCounted) known.rows.push(row)
      groups.set(key, { ...known, llm_runs: known.llm_runs + Number(isCall) })
    }
  }
  return [...groups.values()].map(({ group, rows, llm_runs }) => ({ ...group, llm_runs, ...sumsOf(rows) }))
}

type Sums = Pick<UsageDetail, 'llm_runs' | 'unpriced_runs' | 'unpriced_tokens' | 'units'> & UsageSums

function unitsOf(rows: readonly TraceRunRow[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const [unit, count] of rows.flatMap((row) => Object.entries(row.usage_units)))
    sums[unit] = (sums[unit] ?? 0) + count
  return sums
}

function sumsOf(rows: readonly TraceRunRow[]): Omit<Sums, 'llm_runs'> {
  const cost = (values: (bigint | null)[]): string | null => {
    const known = values.filter((value) => value !== null)
    return known.length === 0 ? null : formatDecimal(known.reduce((a, b) => a + b, 0n))
  }
  const parts = rows.map(estimatedPart)
  const unpriced = rows.filter(({ total_cost }) => total_cost === null)
  return {
    unpriced_runs: unpriced.length,
    unpriced_tokens: unpriced.reduce(
      (sum, row) => sum + (row.input_tokens ?? 0) + (row.output_tokens ?? 0),
      0,
    ),
    units: unitsOf(rows),
    prompt_tokens: rows.reduce((sum, row) => sum + (row.input_tokens ?? 0), 0),
    completion_tokens: rows.reduce((sum, row) => sum + (row.output_tokens ?? 0), 0),
    prompt_cost: cost(rows.map((row) => row.input_cost)),
    completion_cost: cost(rows.map((row) => row.output_cost)),
    total_cost: cost(rows.map((row) => row.total_cost)),
    estimated_prompt_tokens: parts.reduce((sum, part) => sum + part.estimated_prompt_tokens, 0),
    estimated_completion_tokens: parts.reduce((sum, part) => sum + part.estimated_completion_tokens, 0),
    estimated_cost: cost(parts.map((part) => part.estimated_cost)),
  }
}

/** The query for the runs behind one number of a report. */
function runsQueryOf(query: UsageDetailsQuery, detail: UsageDetail, of: Summed): UsageRunsQuery {
  const { group_by, workspace_ids, start, end, stride } = query
  const { bucket, workspace_id, dimension_id, provider, model } = detail
  const isByPlace = group_by === 'workspace' || group_by === 'project'
  return {
    workspace_ids: isByPlace ? [workspace_id] : workspace_ids,
    start: Math.max(start, bucket),
    end: Math.min(end, bucket + strideMillis(stride)),
    of,
    project_id: group_by === 'project' ? dimension_id : undefined,
    user_id: group_by === 'user' ? dimension_id : undefined,
    api_key_id: group_by === 'api_key' ? dimension_id : undefined,
    ...(group_by === 'model' ? { provider, models: [model] } : { provider: undefined, models: undefined }),
    excluded: { project_id: [], user_id: [], api_key_id: [], models: [] },
    after: undefined,
    limit: 2,
  }
}

/** Selects the runs of all groups of a bucket, except the groups in `but`. */
function othersQueryOf(query: UsageDetailsQuery, but: UsageDetail, of: Summed): UsageRunsQuery {
  const { group_by, workspace_ids } = query
  const { provider, models, ...whole } = runsQueryOf(query, but, of)
  const is = (name: DetailGrouping): string[] => (group_by === name ? [but.dimension_id] : [])
  const excluded = { project_id: is('project'), user_id: is('user'), api_key_id: is('api_key') }
  return {
    ...whole,
    provider: undefined,
    models: undefined,
    project_id: undefined,
    user_id: undefined,
    api_key_id: undefined,
    workspace_ids:
      group_by === 'workspace' ? workspace_ids.filter((id) => id !== but.dimension_id) : workspace_ids,
    excluded: {
      ...excluded,
      models: group_by === 'model' ? [{ provider: provider ?? '', model: models?.[0] ?? '' }] : [],
    },
  }
}

/** Reads all runs behind one number of a report, page by page. */
async function runsOf(query: UsageRunsQuery, maxRows: number): Promise<UsageRun[]> {
  const source = createUsageRunSource(db.clickhouse, maxRows)
  const found: UsageRun[] = []
  for (;;) {
    const page = await source.list({ ...query, after: found.at(-1) })
    found.push(...page)
    if (page.length < query.limit) return found
  }
}

/** Computes the number of a report that `of` names from its runs. */
function numberOf(runs: readonly UsageRun[], of: Summed): unknown {
  if (of === 'unpriced') return runs.length
  if (of === 'tokens')
    return runs.reduce((sum, run) => sum + (run.prompt_tokens ?? 0) + (run.completion_tokens ?? 0), 0)
  if (runs.length === 0) return null
  return formatDecimal(runs.reduce((sum, { total_cost }) => sum + parseDecimal(total_cost)!, 0n))
}

/** The total of a number over several groups of one bucket. */
function numberOfAll(details: readonly UsageDetail[], of: Summed): unknown {
  const numbers = details.map((detail) => numberIn(detail, of))
  if (of !== 'cost') return numbers.reduce((sum: number, number) => sum + Number(number), 0)
  const known = numbers.filter((cost) => typeof cost === 'string')
  if (known.length === 0) return null
  return formatDecimal(known.reduce((sum, cost) => sum + (parseDecimal(cost) ?? 0n), 0n))
}

function numberIn(detail: UsageDetail, of: Summed): unknown {
  if (of === 'unpriced') return detail.unpriced_runs
  return of === 'cost' ? detail.total_cost : detail.prompt_tokens + detail.completion_tokens
}

const sorted = (details: readonly UsageDetail[]): string[] =>
  details
    .map(({ units, ...detail }) => [
      JSON.stringify(detail, Object.keys(detail).toSorted()),
      JSON.stringify(Object.entries(units).map(String).toSorted()),
    ])
    .map(String)
    .toSorted()

describe('tokens and costs in buckets', () => {
  it('USAGE-14, USAGE-18: are the sums over TraceRuns, without those that repeat a descendant, and list these TraceRuns', async () => {
    const range = fc
      .tuple(
        fc.integer({ min: -40 * DAY, max: 40 * DAY }),
        fc.constantFrom(HOUR, DAY, 32 * DAY, 94 * DAY, 400 * DAY),
      )
      .map(([start, length]) => rangeOf(BASE + start, BASE + start + length))
    const world = fc.record({
      trees: fc.array(tree, { minLength: 1, maxLength: 6 }),
      buckets: range,
      group_by: fc.constantFrom(...DETAIL_GROUPINGS),
      // With 1, each statement reads one day, which makes the test slow; with 1e6, one statement reads everything.
      maxRows: fc.constantFrom(1, 1e6, 1e6),
      // Whether several TraceRuns may show the same call. If so, the report has to find them, which is slower.
      doubles: fc.constantFrom(false, false, false, true),
      // The number of the report whose runs are listed: its row, and its column.
      at: fc.nat(),
      of: fc.constantFrom(...SUMMED),
    })
    // All inputs of a round share each insert; each has workspaces of its own.
    await fc.assert(
      fc.asyncProperty(fc.array(world, { minLength: WORLDS, maxLength: WORLDS }), async (made) => {
        const worlds = made.map(({ trees, doubles, buckets, group_by, maxRows, at, of }) => {
          const workspaces = [newUuid(), newUuid(), newUuid()]
          const traces = trees
            .map((one) => rowsOf(one, workspaces[one.workspace]!))
            .map((rows) => (doubles ? rows : rows.map((row) => ({ ...row, call_id: 0 }))))
          const query = { ...buckets, workspace_ids: workspaces.slice(0, 2), group_by }
          return { traces, maxRows, at, of, query }
        })
        // The first version of each row had no usage.
        const first = {
          version: 0,
          input_tokens: null,
          output_tokens: null,
          input_cost: null,
          total_cost: null,
        }
        const rows = worlds.flatMap(({ traces }) => traces.flat())
        await db.insert(rows.map((row) => ({ ...row, ...first })))
        await db.insert(rows)
        for (const { traces, maxRows, query } of worlds) {
          const found = await createUsageDetailsSource(db.clickhouse, maxRows).details(query)
          expect(sorted(found)).toEqual(sorted(bruteForce(traces, query)))
        }
        // Only one number of each round is opened as a list of runs, because a page takes as long as a report.
        const { query, maxRows, at, of } = worlds[0]!
        const details = await createUsageDetailsSource(db.clickhouse, maxRows).details(query)
        const detail = details[at % Math.max(1, details.length)]
        if (detail === undefined) return
        const runs = await runsOf(runsQueryOf(query, detail, of), maxRows)
        expect(numberOf(runs, of), of).toEqual(numberIn(detail, of))
        const others = details.filter(
          ({ bucket, dimension_id, provider, model }) =>
            bucket === detail.bucket &&
            (query.group_by === 'model'
              ? provider !== detail.provider || model !== detail.model
              : dimension_id !== detail.dimension_id),
        )
        const ofOthers = await runsOf(othersQueryOf(query, detail, of), maxRows)
        expect(numberOf(ofOthers, of), `${of} of the others`).toEqual(numberOfAll(others, of))
        expect(new Set(runs.map(({ run_id }) => run_id)).size).toBe(runs.length)
        expect(runs.map(({ time }) => time)).toEqual(runs.map(({ time }) => time).toSorted((a, b) => b - a))
      }),
      // The engine needs half a second for each input.
      tries(10 / WORLDS, { longest: 10 }),
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
