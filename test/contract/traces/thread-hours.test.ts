import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AppError } from '../../../src/base/errors.ts'
import { createLogger } from '../../../src/base/log.ts'
import { NIL_UUID, newUuid } from '../../../src/base/ids.ts'
import type { ThreadSummary, ThreadWindow } from '../../../src/ingest/store/thread-store.ts'
import { STORED_COLUMNS } from '../../../src/ingest/store/stored-columns.ts'
import { readFewTurns, summarize, TURN_COLUMNS } from '../../../src/query/threads/sums.ts'
import type { ClickHouse } from '../../../src/storage/clickhouse/connect.ts'
import { createTraceDeletion } from '../../../src/storage/clickhouse/deleting/deletion.ts'
import { namedRuns } from '../../../src/storage/clickhouse/deleting/run-set.ts'
import {
  markForeignDeletions,
  markingDeletedHours,
} from '../../../src/storage/clickhouse/hours/deleted-hours.ts'
import { fillHourChanges } from '../../../src/storage/clickhouse/hours/fill-hour-changes.ts'
import { knownHours } from '../../../src/storage/clickhouse/hours/known-hours.ts'
import { rollHours } from '../../../src/storage/clickhouse/hours/roll-hours.ts'
import { dottedSegment } from '../../../src/trace/derive/lineage/dotted-order.ts'
import type { TraceRunRow } from '../../../src/trace/rows/trace-run-row.ts'
import { tries } from '../../support/properties.ts'
import {
  idOf,
  OTHER_PROJECT,
  PROJECT,
  SECOND,
  START,
  useTraceStore,
  type TestTraceStore,
  traceRunRow,
} from '../../support/stores/clickhouse/trace-store.ts'

/** The store executes some dozen statements for each step of an input. */
const LONGEST = { longest: 10 }
const HALF_HOUR = 1_800 * SECOND
const CENT = 10n ** 16n
const THREADS = ['thread 1', 'thread 2']
/** A writing time later than that of all rows of the tests. */
const written = (Date.now() + 3_600_000) * 1000
/** Number of ids that are reserved for each trace. */
const IDS = 10
const unending = new AbortController().signal
const logger = createLogger({ level: 'silent' })

let db: TestTraceStore
useTraceStore(async (store) => {
  db = store
  await fillHourChanges(db.clickhouse, unending, logger)
})

const roll = () => rollHours(db.clickhouse, unending, 'all', 0)
const deletion = () => createTraceDeletion(db.clickhouse, STORED_COLUMNS.runs)

interface Made {
  half: number
  thread: number
  isFailed: boolean
  seconds: number | undefined
  below: readonly { half: number; thread: number; tokens: number }[]
}
const made: fc.Arbitrary<Made> = fc.record({
  half: fc.nat(5),
  thread: fc.nat(2),
  isFailed: fc.boolean(),
  seconds: fc.option(fc.integer({ min: 1, max: 900 }), { nil: undefined }),
  below: fc.array(fc.record({ half: fc.nat(2), thread: fc.nat(2), tokens: fc.nat(9) }), { maxLength: 3 }),
})
const place = fc.nat(3)
const steps = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('add' as const), place, made }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('move' as const), place, half: fc.nat(5) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('late' as const), place, half: fc.nat(5), tokens: fc.nat(9) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('project' as const), place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('repeat' as const), place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), place }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('roll' as const), place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stray' as const), place, half: fc.nat(5) }) },
)
type Step = typeof steps extends fc.Arbitrary<infer T> ? T : never

const timeOf = (half: number): number => START + half * HALF_HOUR
const nameOf = (thread: number): string => (thread === 0 ? '' : THREADS[thread - 1]!)

/** The rows of a trace whose TraceRuns all have a dotted_order that begins with its root. */
function rowsOf(workspace_id: string, at: number, version: number, of: Made): TraceRunRow[] {
  const trace_id = idOf(at * IDS)
  const start_time = timeOf(of.half)
  const order = dottedSegment(start_time, trace_id)
  const common = { workspace_id, trace_id, version, dotted_order: order }
  const root = traceRunRow(at * IDS, {
    ...common,
    sort_time: start_time,
    start_time,
    end_time: of.seconds === undefined ? null : start_time + of.seconds * SECOND,
    status: of.isFailed ? 'error' : 'success',
    error: of.isFailed ? `failed ${at}.${version}` : '',
    thread_id: nameOf(of.thread),
    inputs_preview: `asked ${at}.${version}`,
    outputs_preview: `said ${at}.${version}`,
  })
  const others = of.below.map(({ half, thread, tokens }, i) =>
    childOf(root, i + 1, timeOf(of.half + half), { version, thread_id: nameOf(thread), tokens }),
  )
  return [root, ...others]
}

function childOf(
  root: TraceRunRow,
  i: number,
  start_time: number,
  { version, thread_id, tokens }: { version: number; thread_id: string; tokens: number },
): TraceRunRow {
  const n = Number(root.trace_id.slice(-12)) + i
  return traceRunRow(n, {
    workspace_id: root.workspace_id,
    trace_id: root.trace_id,
    version,
    dotted_order: `${root.dotted_order}.${dottedSegment(start_time, idOf(n))}`,
    parent_run_id: root.run_id,
    sort_time: start_time,
    start_time,
    run_type: 'llm',
    status: 'success',
    thread_id,
    input_tokens: tokens,
    output_tokens: 1,
    total_cost: BigInt(tokens) * CENT,
    input_token_details: { cache_read: tokens },
  })
}

/** The live rows by TraceRun, changed like ingest changes them. */
class World {
  readonly #workspace_id: string
  readonly #rows = new Map<string, TraceRunRow>()
  #version = 0

  constructor(workspace_id: string) {
    this.#workspace_id = workspace_id
  }

  async take(step: Step): Promise<void> {
    this.#version++
    const own = [...this.#rows.values()].filter(({ trace_id }) => trace_id === idOf((step.place + 1) * IDS))
    const root = own.find(({ parent_run_id }) => parent_run_id === NIL_UUID)
    switch (step.kind) {
      case 'add':
        return this.#write(own, rowsOf(this.#workspace_id, step.place + 1, this.#version, step.made))
      case 'move': {
        if (root === undefined) return
        const time = timeOf(step.half)
        return this.#write([root], [{ ...root, sort_time: time, start_time: time, version: this.#version }])
      }
      case 'late': {
        if (root === undefined) return
        const fields = { version: this.#version, thread_id: nameOf(2), tokens: step.tokens }
        const late = childOf(root, 9, timeOf(step.half), fields)
        return this.#write(
          own.filter(({ run_id }) => run_id === late.run_id),
          [late],
        )
      }
      case 'project':
        return this.#write(
          own,
          own.map((row) => ({ ...row, project_id: OTHER_PROJECT, version: this.#version })),
        )
      case 'repeat':
        return db.insert(own)
      case 'delete':
        for (const { run_id } of own) this.#rows.delete(run_id)
        return deletion().deleteRuns(
          this.#workspace_id,
          own.map(({ run_id }) => run_id),
        )
      case 'roll':
        return void (await roll())
      case 'stray': {
        // A TraceRun whose dotted_order says another start of the root than the root itself.
        if (root === undefined) return
        const order = dottedSegment(timeOf(step.half), root.trace_id)
        const fields = { version: this.#version, thread_id: '', tokens: 3 }
        const stray = childOf({ ...root, dotted_order: order }, 8, timeOf(step.half), fields)
        await this.#write(
          own.filter(({ run_id }) => run_id === stray.run_id),
          [stray],
        )
        return void (await roll())
      }
    }
  }

  /** Writes rows; as ingest does, one that has left its place is written there as deleted. */
  async #write(before: readonly TraceRunRow[], after: readonly TraceRunRow[]): Promise<void> {
    const now = new Map(after.map((row) => [row.run_id, row]))
    const left = before.flatMap((row) => {
      const { sort_time, project_id } = now.get(row.run_id) ?? { ...row, sort_time: Number.NaN }
      if (sort_time === row.sort_time && project_id === row.project_id) return []
      return [
        {
          ...(now.get(row.run_id) ?? row),
          sort_time: row.sort_time,
          project_id: row.project_id,
          version: this.#version,
          is_deleted: 1,
        },
      ]
    })
    for (const { run_id } of before) this.#rows.delete(run_id)
    for (const row of after) this.#rows.set(row.run_id, row)
    if (left.length + after.length > 0) await db.insert([...left, ...after])
  }
}

/** Figures from the rows of all traces, and the sorted latencies of each thread, in the order of the ids. */
async function addedUp(
  workspace_id: string,
  window: ThreadWindow,
): Promise<{ summary: ThreadSummary; seconds: number[] }[]> {
  const traces = Array.from({ length: 5 }, (_, at) => idOf(at * IDS))
  const read = { columns: TURN_COLUMNS, limit: 1000 }
  const rows = await db.store.rowsOfTraces(workspace_id, window.project_id, traces, read)
  const turns = readFewTurns(rows, 1000)!.filter(
    ({ root }) => root.sort_time >= window.from && root.sort_time < window.to,
  )
  return summarize(turns)
    .toSorted((a, b) => (a.thread_id < b.thread_id ? -1 : 1))
    .map((summary) => ({
      summary,
      seconds: turns
        .filter(({ thread_id, root }) => thread_id === summary.thread_id && root.end_time !== null)
        .map(({ root }) => Math.max(0, root.end_time! - root.start_time) / SECOND)
        .sort((a, b) => a - b),
    }))
}

/** A percentile lies between the two nearest values, with an error of 1 %. */
function expectNear(found: number | null, seconds: readonly number[], share: number): void {
  if (seconds.length === 0) return expect(found).toBeNull()
  const at = (seconds.length - 1) * share
  expect(found).toBeGreaterThanOrEqual(seconds[Math.floor(at)]! * 0.9899)
  expect(found).toBeLessThanOrEqual(seconds[Math.ceil(at)]! * 1.0101)
}

async function expectExact(workspace_id: string, window: ThreadWindow): Promise<void> {
  const expected = await addedUp(workspace_id, window)
  const found = await db.store.threadSummaries(workspace_id, window, THREADS)
  const inOrder = found.toSorted((a, b) => (a.thread_id < b.thread_id ? -1 : 1))
  expect(inOrder).toEqual(expected.map(({ summary }) => ({ ...summary, latency: expect.anything() })))
  for (const [i, { seconds }] of expected.entries()) {
    expectNear(inOrder[i]!.latency[0], seconds, 0.5)
    expectNear(inOrder[i]!.latency[1], seconds, 0.95)
    expectNear(inOrder[i]!.latency[2], seconds, 0.99)
  }
  const places = expected.map(({ summary: { thread_id, last_start, last_trace_id } }) => ({
    thread_id,
    last_start,
    last_trace_id,
  }))
  places.sort((a, b) => b.last_start - a.last_start || (a.last_trace_id < b.last_trace_id ? 1 : -1))
  expect(await db.store.threads(workspace_id, { ...window, written, limit: 10 })).toEqual(places)
}

it('kept figures of threads are those of their rows after every change', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(steps, { minLength: 3, maxLength: 8 }),
      fc.nat(2),
      fc.integer({ min: 4, max: 8 }),
      async (sequence, from, to) => {
        const workspace_id = newUuid()
        const world = new World(workspace_id)
        const ofProject = (project_id: string) =>
          expectExact(workspace_id, { project_id, from: timeOf(from), to: timeOf(to) })
        for (const step of sequence) {
          await world.take(step)
          await ofProject(PROJECT)
        }
        await ofProject(OTHER_PROJECT)
        await roll()
        await ofProject(PROJECT)
        await ofProject(OTHER_PROJECT)
      },
    ),
    tries(6, LONGEST),
  )
})

const root = (workspace_id: string, at: number, half = 0) =>
  rowsOf(workspace_id, at, 1, { half, thread: 1, isFailed: false, seconds: 1, below: [] })
const window = { project_id: PROJECT, from: timeOf(0), to: timeOf(4) }

it('kept figures are read instead of the rows', async () => {
  const workspace_id = newUuid()
  await db.insert(root(workspace_id, 1))
  expect(await knownHours(db.clickhouse, workspace_id, window)).toMatchObject({
    live: [{ hour: expect.any(Number) }],
  })
  await roll()
  expect(await knownHours(db.clickhouse, workspace_id, window)).toMatchObject({ live: [] })
  // Rows that vanish without a mark are still in the kept figures.
  await db.clickhouse.command(`DELETE FROM runs WHERE workspace_id = {workspace_id:UUID} AND 'hours' != ''`, {
    params: { workspace_id },
  })
  expect(await db.store.threadSummaries(workspace_id, window, THREADS)).toMatchObject([{ turns: 1 }])
})

it('rows that a server of an earlier release deleted leave the kept figures', async () => {
  const workspace_id = newUuid()
  await db.insert([...root(workspace_id, 1), ...root(workspace_id, 2, 1)])
  await roll()
  const run_ids = [idOf(IDS)]
  await db.clickhouse.command(
    'DELETE FROM runs WHERE workspace_id = {workspace_id:UUID} AND run_id IN {run_ids:Array(UUID)}',
    { params: { workspace_id, run_ids } },
  )
  await markForeignDeletions(db.clickhouse)
  expect(await db.store.threadSummaries(workspace_id, window, THREADS)).toMatchObject([{ turns: 1 }])
  await roll()
  expect(await db.store.threadSummaries(workspace_id, window, THREADS)).toMatchObject([{ turns: 1 }])
  // A deletion is noted once.
  await markForeignDeletions(db.clickhouse)
  expect(await knownHours(db.clickhouse, workspace_id, window)).toMatchObject({ live: [] })
})

it('hours are not computed while their rows are being deleted', async () => {
  const workspace_id = newUuid()
  await db.insert(root(workspace_id, 1))
  const live = async () => (await knownHours(db.clickhouse, workspace_id, window))?.live.length
  await markingDeletedHours(db.clickhouse, namedRuns(workspace_id, [idOf(IDS)]), async () => {
    await roll()
    expect(await live()).toBe(1)
  })
  await roll()
  expect(await live()).toBe(0)
})

it('hours that cannot be computed do not keep those of other projects from it', async () => {
  const workspace_id = newUuid()
  const rows = root(workspace_id, 1)
  await db.insert([...rows, ...rows.map((row) => ({ ...row, project_id: OTHER_PROJECT }))])
  const fault = new AppError('store_unavailable')
  const failing: ClickHouse = {
    ...db.clickhouse,
    async command(sql, options) {
      if (options?.params?.['project'] === PROJECT) throw fault
      await db.clickhouse.command(sql, options)
    },
  }
  await expect(rollHours(failing, unending, 'all', 0)).rejects.toBe(fault)
  const liveIn = async (project_id: string) =>
    (await knownHours(db.clickhouse, workspace_id, { ...window, project_id }))?.live.length
  expect([await liveIn(PROJECT), await liveIn(OTHER_PROJECT)]).toEqual([1, 0])
  await roll()
  expect(await liveIn(PROJECT)).toBe(0)
})

it('between looks at all hours, only those that changed within two hours are computed', async () => {
  const workspace_id = newUuid()
  await db.clickhouse.command(
    `INSERT INTO hour_changes (workspace_id, project_id, hour, run_hour, changes, changed_at)
     SELECT {workspace_id:UUID}, {project:UUID}, number, number, 1, now64(6, 'UTC') - toIntervalHour(number) FROM numbers(1, 4)`,
    { params: { workspace_id, project: PROJECT } },
  )
  const computed = async () => {
    const rows = await db.clickhouse.rows<{ hour: number }>(
      'SELECT hour FROM figure_hours FINAL WHERE workspace_id = {workspace_id:UUID} ORDER BY hour',
      { params: { workspace_id } },
    )
    return rows.map(({ hour }) => hour)
  }
  await rollHours(db.clickhouse, unending, 'recent', 0)
  expect(await computed()).toEqual([1])
  await roll()
  expect(await computed()).toEqual([1, 2, 3, 4])
})

it('threads without traces keep no row', async () => {
  const workspace_id = newUuid()
  await db.insert(root(workspace_id, 1))
  await roll()
  await deletion().deleteRuns(workspace_id, [idOf(IDS)])
  await roll()
  const kept = await db.clickhouse.rows(
    'SELECT thread FROM thread_hours WHERE workspace_id = {workspace_id:UUID}',
    {
      params: { workspace_id },
    },
  )
  expect(kept).toEqual([])
  expect(await db.store.threads(workspace_id, { ...window, written, limit: 10 })).toEqual([])
  // The deletion is not taken for one of an earlier release.
  await markForeignDeletions(db.clickhouse)
  expect(await knownHours(db.clickhouse, workspace_id, window)).toMatchObject({ live: [] })
})
