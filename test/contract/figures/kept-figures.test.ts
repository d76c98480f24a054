import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AppError } from '../../../src/base/errors.ts'
import { createLogger } from '../../../src/base/log.ts'
import { NIL_UUID, newUuid } from '../../../src/base/ids.ts'
import { STORED_COLUMNS } from '../../../src/ingest/store/stored-columns.ts'
import type { RunFigures, StatsQuery } from '../../../src/ingest/store/stats-store.ts'
import type { ClickHouse } from '../../../src/storage/clickhouse/connect.ts'
import { createTraceDeletion } from '../../../src/storage/clickhouse/deleting/deletion.ts'
import { fillHourChanges } from '../../../src/storage/clickhouse/hours/fill-hour-changes.ts'
import { rollDays } from '../../../src/storage/clickhouse/hours/roll-days.ts'
import { rollHours } from '../../../src/storage/clickhouse/hours/roll-hours.ts'
import { readingProjects } from '../../../src/storage/clickhouse/project-stats.ts'
import { keptForm } from '../../../src/storage/clickhouse/stats/kept-stats.ts'
import { keptStats } from '../../../src/storage/clickhouse/stats/run-stats.ts'
import { dottedSegment } from '../../../src/trace/derive/lineage/dotted-order.ts'
import { parseFilter } from '../../../src/trace/filter/filter.ts'
import type { TraceRunRow } from '../../../src/trace/rows/trace-run-row.ts'
import { someInShort } from '../../support/length.ts'
import { tries } from '../../support/properties.ts'
import {
  OTHER_PROJECT,
  PROJECT,
  START,
  useTraceStore,
  type TestTraceStore,
} from '../../support/stores/clickhouse/trace-store.ts'
import { forest, type Node, rowsOf } from '../../support/traces/random-traces.ts'

/** The store needs about 15 s for an input, because the statements are long. */
const LONGEST = { longest: 3 }
const HALF_HOUR = 1_800_000_000
const unending = new AbortController().signal

let db: TestTraceStore
useTraceStore(async (store) => {
  db = store
  await fillHourChanges(db.clickhouse, unending, createLogger({ level: 'silent' }))
})

/** Kept figures are used for any number of runs. */
const ALWAYS = { all: 0, some: 0 }

/** Every day of the test is over. */
const LATER = START / 1000 + 7 * 86_400_000
/** Servers of earlier releases compute no days. */
const rollOnlyHours = () => rollHours(db.clickhouse, unending, 'all', 0)
const rollOnlyDays = () => rollDays(db.clickhouse, unending, 'all', LATER)
async function roll(): Promise<void> {
  await rollOnlyHours()
  await rollOnlyDays()
}

const place = fc.nat(2)
/** Half-hours of two days: the second begins with the 30th. */
const half = fc.oneof(fc.nat(5), fc.integer({ min: 26, max: 31 }))
const added = forest.map((traces) => traces[0]!)
const steps = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('add' as const), place, half, nodes: added }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('change' as const), place, nodes: added }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('move' as const), place, half }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('root' as const), place, half }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('project' as const), place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('repeat' as const), place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), place }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('roll' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('roll hours' as const) }) },
)
type Step = typeof steps extends fc.Arbitrary<infer T> ? T : never

/** Rows of a trace that starts in a half-hour; each third row starts one later than the one before. */
function traceOf(workspace_id: string, nodes: readonly Node[], at: number, version: number): TraceRunRow[] {
  const written = dottedSegment(START, NIL_UUID).slice(0, -36)
  const start = START + at * HALF_HOUR
  const segment = dottedSegment(start, NIL_UUID).slice(0, -36)
  return rowsOf(PROJECT, nodes).map((row, i) => ({
    ...row,
    workspace_id,
    version,
    sort_time: start + Math.floor(i / 3) * HALF_HOUR + i,
    dotted_order: row.dotted_order.replaceAll(written, segment),
  }))
}

/** The live rows of the traces, changed like ingest changes them. */
class World {
  readonly workspace_id = newUuid()
  readonly #traces: TraceRunRow[][] = [[], [], []]
  #version = 0

  async take(step: Step): Promise<void> {
    const version = ++this.#version
    if (step.kind === 'roll') return await roll()
    if (step.kind === 'roll hours') return void (await rollOnlyHours())
    const own = this.#traces[step.place]!
    switch (step.kind) {
      case 'add':
        await this.#delete(step.place)
        return this.#write(step.place, [], traceOf(this.workspace_id, step.nodes, step.half, version))
      case 'change': {
        const other = rowsOf(PROJECT, step.nodes)
        return this.#write(
          step.place,
          own,
          own.map((row, i) => {
            const { status, name, input_tokens, output_tokens, total_cost, end_time } =
              other[i % other.length]!
            return { ...row, status, name, input_tokens, output_tokens, total_cost, end_time, version }
          }),
        )
      }
      case 'move':
        return this.#write(
          step.place,
          own,
          own.map((row, i) => (i > 0 ? row : { ...row, sort_time: START + step.half * HALF_HOUR, version })),
        )
      case 'root': {
        const [root] = own
        if (root === undefined) return
        const status = root.status === 'error' ? 'success' : 'error'
        const sort_time = START + step.half * HALF_HOUR
        const second = { ...root, run_id: newUuid(), call_id: 0, sort_time, status, version }
        await db.insert([second])
        return void own.push(second)
      }
      case 'project':
        return this.#write(
          step.place,
          own,
          own.map((row) => ({ ...row, project_id: OTHER_PROJECT, version })),
        )
      case 'repeat':
        return db.insert(own)
      case 'delete':
        return this.#delete(step.place)
    }
  }

  async #delete(at: number): Promise<void> {
    const run_ids = this.#traces[at]!.map(({ run_id }) => run_id)
    this.#traces[at] = []
    if (run_ids.length > 0)
      await createTraceDeletion(db.clickhouse, STORED_COLUMNS.runs).deleteRuns(this.workspace_id, run_ids)
  }

  /** Writes rows; as ingest does, one that has left its place is written there as deleted. */
  async #write(at: number, before: readonly TraceRunRow[], after: TraceRunRow[]): Promise<void> {
    this.#traces[at] = after
    const left = before.flatMap((row, i) => {
      const { sort_time, project_id } = after[i]!
      if (sort_time === row.sort_time && project_id === row.project_id) return []
      return [{ ...after[i]!, sort_time: row.sort_time, project_id: row.project_id, is_deleted: 1 }]
    })
    if (after.length > 0) await db.insert([...left, ...after])
  }

  rowsIn(project_id: string): TraceRunRow[] {
    return this.#traces.flat().filter((row) => row.project_id === project_id)
  }
}

const QUERIES: StatsQuery[] = [
  {},
  { is_root: true, histograms: true },
  { filter: parseFilter('eq(run_type, "llm")'), histograms: true },
  { is_root: true, interval: 2 * HALF_HOUR },
  { interval: 24 * HALF_HOUR },
  { is_root: true, filter: parseFilter('eq(status, "error")') },
  { group_by: { by: 'name', max_groups: 2 }, interval: HALF_HOUR },
  { group_by: { by: 'model', max_groups: 9 } },
  { group_by: { by: 'status', max_groups: 2 } },
  { filter: parseFilter('eq(is_root, true)'), group_by: { by: 'session', max_groups: 3 } },
]

/** Everything but percentiles, with sums that do not depend on the order of adding. */
function countsOf(figures: readonly RunFigures[]): unknown[] {
  const sorted = (histogram: RunFigures['latency_histogram']) =>
    histogram && [...histogram].toSorted((a, b) => a[0] - b[0])
  return figures
    .map(({ latency_histogram, first_token_histogram, ...one }) => ({
      ...Object.fromEntries(Object.entries(one).filter(([name]) => !PERCENTILES.test(name))),
      latency_histogram: sorted(latency_histogram),
      first_token_histogram: sorted(first_token_histogram),
    }))
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}
const PERCENTILES = /_each$|^(latency|first_token)(_p\d+)?$/

/** A percentile lies between the two nearest values, with an error of 1 %. */
function expectNear(found: number | null, sorted: readonly number[], share: number): void {
  if (sorted.length === 0) return expect(found).toBeNull()
  const at = (sorted.length - 1) * share
  expect(found).toBeGreaterThanOrEqual(sorted[Math.floor(at)]! * 0.9899)
  expect(found).toBeLessThanOrEqual(sorted[Math.ceil(at)]! * 1.0101)
}

type Question = StatsQuery | 'figures of projects'
const QUESTIONS: Question[] = [...QUERIES, 'figures of projects']

async function expectExact(world: World, window: StatsQuery, questions: readonly Question[]): Promise<void> {
  for (const question of questions)
    await (question === 'figures of projects'
      ? expectExactProjects(world)
      : expectExactFigures(world, { ...question, ...window }))
}

async function expectExactFigures({ workspace_id }: World, query: StatsQuery): Promise<void> {
  const kept = await keptStats(db.clickhouse, workspace_id, query, ALWAYS)
  // So few runs are added up from their rows.
  const direct = await db.store.runStats(workspace_id, query)
  expect(direct.is_exact).toBe(true)
  if (kept !== undefined) expect(countsOf(kept.figures)).toEqual(countsOf(direct.figures))
}

async function expectExactProjects({ workspace_id }: World): Promise<void> {
  const ids = [PROJECT, OTHER_PROJECT]
  const [kept, direct] = [readingProjects(db.clickhouse, ALWAYS), readingProjects(db.clickhouse)]
  const stats = async (of: typeof kept) =>
    [...(await of.projectStats(workspace_id, ids))]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(
        ([
          id,
          {
            latency_p50: _l,
            latency_p95: _p,
            latency_p99: _m,
            first_token_p50: _f,
            first_token_p99: _g,
            ...rest
          },
        ]) => [id, rest],
      )
  expect(await stats(kept)).toEqual(await stats(direct))
  expect(await kept.projectCounts(workspace_id, ids)).toEqual(await direct.projectCounts(workspace_id, ids))
}

it('kept figures of runs are those of their rows after every change', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(steps, { minLength: 3, maxLength: 6 }),
      fc.nat(2),
      fc.oneof(fc.integer({ min: 4, max: 8 }), fc.integer({ min: 52, max: 60 })),
      async (sequence, from, to) => {
        const world = new World()
        const start_time = START + from * HALF_HOUR
        const window = { project_ids: [PROJECT], start_time, end_time: START + to * HALF_HOUR + 1 }
        for (const [n, step] of sequence.entries()) {
          await world.take(step)
          await expectExact(world, window, [QUESTIONS[n % QUESTIONS.length]!])
        }
        await roll()
        await expectExact(world, { ...window, project_ids: [OTHER_PROJECT] }, someInShort(QUESTIONS, 3))
        await expectExact(world, window, someInShort(QUESTIONS, 2))
        const kept = await keptStats(db.clickhouse, world.workspace_id, { project_ids: [PROJECT] }, ALWAYS)
        if (kept === undefined) return
        const times = world
          .rowsIn(PROJECT)
          .flatMap((row) => (row.end_time === null ? [] : [Math.max(0, row.end_time - row.start_time) / 1e6]))
          .sort((a, b) => a - b)
        const [{ latency }] = kept.figures as [RunFigures]
        expectNear(latency[0], times, 0.5)
        expectNear(latency[1], times, 0.99)
      },
    ),
    tries(4, LONGEST),
  )
})

const trace = (workspace_id: string, at: number): TraceRunRow[] => {
  const [nodes] = fc.sample(added, { numRuns: 1, seed: 1 }) as [Node[]]
  return traceOf(workspace_id, nodes, at, 1)
}

it.each([
  ['figures of threads only', '0 AS has_runs, 0 AS has_unpriced'],
  ['no counts of unpriced calls', '0 AS has_unpriced'],
])('kept figures are read instead of the rows, also when an earlier release left %s', async (_what, left) => {
  const workspace_id = newUuid()
  const rows = trace(workspace_id, 0)
  await db.insert(rows)
  await roll()
  await db.clickhouse.command(
    `INSERT INTO figure_hours SELECT * REPLACE (${left}) FROM figure_hours FINAL WHERE workspace_id = {workspace_id:UUID}`,
    { params: { workspace_id } },
  )
  await db.clickhouse.command('OPTIMIZE TABLE figure_hours FINAL')
  await roll()
  await db.clickhouse.command(`DELETE FROM runs WHERE workspace_id = {workspace_id:UUID} AND 'hours' != ''`, {
    params: { workspace_id },
  })
  const count = async (query: StatsQuery) =>
    (await keptStats(db.clickhouse, workspace_id, { project_ids: [PROJECT], ...query }, ALWAYS))?.figures[0]
      ?.run_count
  expect(await count({})).toBe(rows.length)
  expect(await count({ is_root: true })).toBe(1)
  expect((await db.store.runStats(workspace_id, { project_ids: [PROJECT] })).figures[0]!.run_count).toBe(0)
})

it('a day whose hours have not changed is read as a whole; parts of it, and a day that has changed, by hours', async () => {
  const workspace_id = newUuid()
  const figures = async (query: StatsQuery) =>
    (await keptStats(db.clickhouse, workspace_id, { project_ids: [PROJECT], ...query }, ALWAYS))!.figures
  const counts = async (query: StatsQuery) => (await figures(query)).map(({ run_count }) => run_count)
  // The first trace, and the beginning of the second one, start on the day before the others.
  const rows = [0, 29, 31].flatMap((at) => trace(workspace_id, at))
  const midnight = START + 30 * HALF_HOUR
  const first = rows.filter(({ sort_time }) => sort_time < midnight).length
  expect(first).toBeGreaterThan(0)
  await db.insert(rows)
  await roll()
  await db.clickhouse.command(
    'DELETE FROM run_hours WHERE workspace_id = {workspace_id:UUID} AND hour < 10000000',
    { params: { workspace_id } },
  )
  expect(await counts({})).toEqual([rows.length])
  expect(await counts({ is_root: true, start_time: START })).toEqual([3])
  expect(await counts({ is_root: true, start_time: midnight })).toEqual([1])
  const whole = trace(workspace_id, 0).length
  expect(await counts({ interval: 48 * HALF_HOUR })).toEqual([first, rows.length - first])
  expect(await counts({ interval: 24 * HALF_HOUR })).toEqual([whole, first - whole, rows.length - first])
  expect(await counts({ interval: 12 * HALF_HOUR })).toEqual([])
  const late = trace(workspace_id, 2)
  await db.insert(late)
  await rollOnlyHours()
  expect(await counts({})).toEqual([late.length + whole])
})

it('hours whose figures of runs cannot be computed keep those of threads, and are not tried again', async () => {
  const workspace_id = newUuid()
  const rows = trace(workspace_id, 0)
  await db.insert(rows)
  let tried = 0
  const failing: ClickHouse = {
    ...db.clickhouse,
    async command(sql, options) {
      if (!sql.startsWith('INSERT INTO run_hours')) return await db.clickhouse.command(sql, options)
      tried++
      throw new AppError('store_unavailable')
    },
  }
  for (const _time of [1, 2]) await rollHours(failing, unending, 'all', 0)
  expect(tried).toBe(1)
  const hours = await db.clickhouse.rows(
    'SELECT has_runs FROM figure_hours FINAL WHERE workspace_id = {workspace_id:UUID}',
    { params: { workspace_id } },
  )
  expect(hours).toEqual(hours.map(() => ({ has_runs: 2 })))
  const kept = await keptStats(db.clickhouse, workspace_id, { project_ids: [PROJECT] }, ALWAYS)
  expect(kept?.figures[0]?.run_count).toBe(rows.length)
})

it('days whose figures of runs cannot be computed are read by hours, and are not tried again', async () => {
  const workspace_id = newUuid()
  const rows = trace(workspace_id, 0)
  await db.insert(rows)
  await rollOnlyHours()
  let tried = 0
  const failing: ClickHouse = {
    ...db.clickhouse,
    async command(sql, options) {
      const isOwn = options?.params?.['workspace_id'] === workspace_id
      if (!isOwn || !sql.startsWith('INSERT INTO run_hours')) return await db.clickhouse.command(sql, options)
      tried++
      throw new AppError('store_unavailable')
    },
  }
  for (const _time of [1, 2]) await rollDays(failing, unending, 'all', LATER)
  expect(tried).toBe(1)
  const kept = await keptStats(db.clickhouse, workspace_id, { project_ids: [PROJECT] }, ALWAYS)
  expect(kept?.figures[0]?.run_count).toBe(rows.length)
})

it('a day that is not over has no figures of its own', async () => {
  const workspace_id = newUuid()
  await db.insert(trace(workspace_id, 0))
  await rollOnlyHours()
  await rollDays(db.clickhouse, unending, 'recent', START / 1000)
  const days = () =>
    db.clickhouse.rows('SELECT has_runs FROM figure_days FINAL WHERE workspace_id = {workspace_id:UUID}', {
      params: { workspace_id },
    })
  expect(await days()).toEqual([])
  await rollDays(db.clickhouse, unending, 'recent', START / 1000 + 86_400_000)
  expect(await days()).toEqual([{ has_runs: 1 }])
})

it('kinds of runs that an hour or a day has no more keep no row', async () => {
  const workspace_id = newUuid()
  const rows = trace(workspace_id, 0)
  await db.insert(rows)
  await roll()
  await createTraceDeletion(db.clickhouse, STORED_COLUMNS.runs).deleteRuns(
    workspace_id,
    rows.map(({ run_id }) => run_id),
  )
  await roll()
  const kept = await db.clickhouse.rows('SELECT 1 FROM run_hours WHERE workspace_id = {workspace_id:UUID}', {
    params: { workspace_id },
  })
  expect(kept).toEqual([])
})

it('queries that kept figures cannot answer exactly are answered from rows', () => {
  const of = (query: StatsQuery) => keptForm({ project_ids: [PROJECT], ...query }) !== undefined
  expect([of({}), of({ is_root: true }), of({ run_type: 'llm', interval: HALF_HOUR })]).toEqual([
    true,
    true,
    true,
  ])
  const others: StatsQuery[] = [
    { run_type: 'tool' },
    { filter: parseFilter('eq(name, "a")') },
    { is_root: true, filter: parseFilter('and(eq(status, "error"), gt(latency, "1s"))') },
    { interval: HALF_HOUR / 2 },
    { group_by: { by: 'tag', max_groups: 3 } },
    { run_ids: [NIL_UUID] },
    { is_root: true, tree_filter: parseFilter('eq(name, "a")') },
  ]
  expect(others.map(of)).toEqual(others.map(() => false))
})
