import { createLogger } from '../../src/base/log.ts'
import type { ListQuery } from '../../src/ingest/store/trace-store.ts'
import { STORED_COLUMNS } from '../../src/ingest/store/stored-columns.ts'
import type { ReadStore } from '../../src/ingest/store/stats-store.ts'
import { type ClickHouse, connectClickHouse } from '../../src/storage/clickhouse/connect.ts'
import { fillHourChanges } from '../../src/storage/clickhouse/hours/fill-hour-changes.ts'
import { MAX_DAYS, rollDays } from '../../src/storage/clickhouse/hours/roll-days.ts'
import { MAX_HOURS, rollHours } from '../../src/storage/clickhouse/hours/roll-hours.ts'
import { migrate } from '../../src/storage/clickhouse/migrate.ts'
import { createTraceStore } from '../../src/storage/clickhouse/trace-store.ts'
import { createUsageRollups } from '../../src/storage/clickhouse/usage/rollups.ts'
import { createUsageSource } from '../../src/storage/clickhouse/usage/source.ts'
import { createReadSteps } from '../../src/query/steps.ts'
import { createThreadReads } from '../../src/query/threads/create-thread-reads.ts'
import { indexWords } from '../../src/storage/clickhouse/search/index-words.ts'
import type { WorkerPool } from '../../src/worker-threads/worker-pool.ts'
import { parseFilter } from '../../src/trace/filter/filter.ts'
import {
  startTestClickHouse,
  temporaryDir,
} from '../../test/support/stores/clickhouse/embedded-clickhouse.ts'
import { testClock } from '../../test/support/faults/test-clock.ts'
import { fillRuns, RUNS_PER_TRACE } from '../load/fill-runs.ts'
import { atRest, medianUse, type Used, usedBy } from './engine-cpu.ts'

// CPU of the engine for each kind of read, in a project of 30 days whose number of runs grows. A read whose last column is
// above 1.5 grows:
//   node scripts/launch.mjs bench/store/growth.bench.ts [runs, the smallest first …]
const sizes = process.argv.slice(2).map(Number)
const SIZES = sizes.length > 0 ? sizes : [100_000, 1_000_000, 5_000_000]
const DAYS = 30
const DAY = 86_400_000
const TIMES = 7
/** So that the traces of a page are more than the server adds up itself. */
const TRACES_PER_THREAD = 40
const workspace_id = '00000000-0000-7000-8000-000000000001'
const project_id = '00000000-0000-7000-8000-0000000000b1'
const to = Date.UTC(2026, 0, 1)
const from = to - DAYS * DAY
const signal = new AbortController().signal
const logger = createLogger({ level: 'silent' })
const project_ids = [project_id]
const month = { start_time: from * 1000, end_time: to * 1000 }
const day = { start_time: (to - DAY) * 1000, end_time: to * 1000 }

/** A run of the middle of the project, with its trace and its thread. */
interface Middle {
  run_id: string
  trace_id: string
  thread_id: string
}

function reads(db: ClickHouse, store: ReadStore, middle: Middle): Record<string, () => Promise<unknown>> {
  const { run_id, trace_id, thread_id } = middle
  const list = (more: Partial<ListQuery>) => () =>
    store.list(workspace_id, { project_ids, order: 'desc', limit: 20, ...more })
  const filtered = (filter: string, more: Partial<ListQuery> = {}) =>
    list({ filter: parseFilter(filter), is_root: true, ...more })
  // No lane: the store adds up the threads of such a page.
  const steps = createReadSteps({ store, readLane: undefined as unknown as WorkerPool })
  const threadReads = createThreadReads(
    steps,
    testClock(() => to),
  )
  const threads = (window: { from: number; to: number }) => () =>
    threadReads.page(
      workspace_id,
      { choice: { project_id, ...window }, request: {}, page_size: 20 },
      { holder: 'bench', gone: signal },
    )
  const usage = createUsageSource(db)
  return {
    'first page of runs': list({}),
    'first page of traces': list({ is_root: true }),
    'page from the middle of the month': list({ is_root: true, end_time: (from + 15 * DAY) * 1000 }),
    'one run': () => store.row(workspace_id, run_id),
    'all rows of a trace': () => store.traceRows(workspace_id, trace_id, '', 1_000),
    'traces that failed': filtered('eq(status, "error")'),
    'traces by a tag of a fifth': filtered('has(tags, "team-3")'),
    'runs by a name that none has': filtered('eq(name, "none")', {}),
    'traces by metadata that none has': filtered('and(eq(metadata_key, "env"), eq(metadata_value, "none"))'),
    'threads of a day, first page': threads({ from: day.start_time, to: day.end_time }),
    'threads of a month, first page': threads({ from: month.start_time, to: month.end_time }),
    'turns of a thread': () => store.turns(workspace_id, { project_id, thread_id, limit: 21 }),
    'figures of a day': () => store.runStats(workspace_id, { project_ids, ...day }),
    'figures of the traces of a month': () =>
      store.runStats(workspace_id, { project_ids, ...month, is_root: true, histograms: true }),
    'figures of a month': () => store.runStats(workspace_id, { project_ids, ...month }),
    'figures of a month by model': () =>
      store.runStats(workspace_id, { project_ids, ...month, group_by: { by: 'model', max_groups: 8 } }),
    'a project in the list of projects': () => store.projectStats(workspace_id, project_ids),
    'usage of a month by project': () =>
      usage.count({
        workspace_ids: [workspace_id],
        start: from,
        end: to,
        origin: from,
        stride: { days: 1, hours: 0 },
        group_by: 'project',
      }),
    // Scans that are asked for: over all rows of the window, whatever indexes say.
    'scan: the slowest traces of a month': list({ ...month, is_root: true, order_by: 'latency', offset: 0 }),
    'scan: models among the runs of a month': () =>
      store.runFacets(workspace_id, { project_ids, ...month, field: 'model', max_values: 20 }),
  }
}

/** CPU and rows of each read, in a store of so many runs. */
async function measured(runs: number): Promise<Map<string, Used>> {
  const folder = await temporaryDir()
  const engine = await startTestClickHouse(folder.dir)
  const db = connectClickHouse({ ...engine, database: 'weir', maxExecutionSeconds: 600 })
  try {
    await migrate(db, { logger })
    const traces = Math.floor(runs / RUNS_PER_TRACE)
    const threads = Math.ceil(traces / TRACES_PER_THREAD)
    await fillRuns(db, { workspace_id, project_id, traces, threads, from, to, receivedAtStart: true })
    await atRest(db)
    await fillHourChanges(db, signal, logger)
    const before = await usedBy(db)
    while ((await rollHours(db, signal, 'all', 0)) === MAX_HOURS);
    while ((await rollDays(db, signal)) === MAX_DAYS);
    await createUsageRollups(db).rebuild()
    await indexWords(db, { min_rows: 1, quiet_seconds: 0 })
    await atRest(db)
    const [middle] = await db.rows<Middle>(
      `SELECT run_id, trace_id, thread_id FROM runs
       WHERE sort_time >= fromUnixTimestamp64Micro(toInt64(${(from + 15 * DAY) * 1000})) ORDER BY sort_time LIMIT 1`,
    )
    const [disk] = await db.rows<{ mb: number }>(
      'SELECT sum(bytes_on_disk) / 1e6 AS mb FROM system.parts WHERE active AND database = currentDatabase()',
    )
    const hours = ((await usedBy(db)).cpu - before.cpu) / 1000
    console.log(
      `${runs} runs: ${disk!.mb.toFixed(0)} MB; hours, days and usage computed in ${hours.toFixed(1)} s of CPU`,
    )
    const found = new Map<string, Used>()
    for (const [what, read] of Object.entries(reads(db, createTraceStore(db, STORED_COLUMNS), middle!)))
      found.set(what, await medianUse(db, read, TIMES))
    return found
  } finally {
    await db.close()
    await engine.stop()
    await folder.remove()
  }
}

const columns: Map<string, Used>[] = []
for (const size of SIZES) columns.push(await measured(size))
console.log(
  `milliseconds of CPU at ${SIZES.join(', ')} runs, the last for the first, and rows that the last reads`,
)
for (const what of columns[0]!.keys()) {
  const used = columns.map((column) => column.get(what)!)
  const [first, last] = [used[0]!, used.at(-1)!]
  const figures = used.map(({ cpu }) => cpu.toFixed(0).padStart(7)).join('')
  console.log(
    `${what.padEnd(42)}${figures}${(last.cpu / first.cpu).toFixed(2).padStart(8)}${String(last.rows).padStart(10)}`,
  )
}
