import { gzipSync } from 'node:zlib'
import { createLogger } from '../src/base/log.ts'
import { STORED_COLUMNS } from '../src/ingest/store/stored-columns.ts'
import { assembleOutline, readOutline } from '../src/query/outline-reads.ts'
import { connectClickHouse } from '../src/storage/clickhouse/connect.ts'
import { migrate } from '../src/storage/clickhouse/migrate.ts'
import { createTraceStore } from '../src/storage/clickhouse/trace-store.ts'
import { startTestClickHouse, temporaryDir } from '../test/support/stores/clickhouse/embedded-clickhouse.ts'
import { fillLargeTrace, fillRuns, RUNS_PER_TRACE } from './load/fill-runs.ts'

// Computes figures of runs and the outline of a large trace, and compares with a plain scan of the same rows:
//   node scripts/launch.mjs bench/trace-figures.bench.ts [runs]
const RUNS = Number(process.argv[2] ?? 1_000_000)
const LARGE_TRACE = 50_000
const DAY = 86_400_000
const TIMES = 7
const workspace_id = '00000000-0000-7000-8000-000000000001'
const project_id = '00000000-0000-7000-8000-0000000000b1'
const to = Date.UTC(2026, 0, 1)

/** The median time of a call, and the CPU time of this process in that call, in milliseconds. */
async function measure(what: string, work: () => Promise<unknown>): Promise<void> {
  const times: number[] = []
  const cpus: number[] = []
  for (let i = 0; i < TIMES; i++) {
    const [started, cpu] = [performance.now(), process.cpuUsage()]
    await work()
    const { user, system } = process.cpuUsage(cpu)
    times.push(performance.now() - started)
    cpus.push((user + system) / 1000)
  }
  const median = (all: number[]): string => all.toSorted((a, b) => a - b)[Math.floor(TIMES / 2)]!.toFixed(0)
  console.log(`${what.padEnd(40)} ${median(times).padStart(7)} ms, CPU here ${median(cpus).padStart(5)} ms`)
}

const folder = await temporaryDir()
const engine = await startTestClickHouse(folder.dir)
const db = connectClickHouse({ ...engine, database: 'weir', maxExecutionSeconds: 600 })
try {
  await migrate(db, { logger: createLogger({ level: 'silent' }) })
  const traces = Math.floor(RUNS / RUNS_PER_TRACE)
  const fill = { workspace_id, project_id, traces, threads: 50_000, from: to - 30 * DAY, to }
  await fillRuns(db, fill)
  const trace_id = await fillLargeTrace(db, fill, LARGE_TRACE)
  const store = createTraceStore(db, STORED_COLUMNS)
  const day = { start_time: (to - 5 * DAY) * 1000, end_time: (to - 4 * DAY) * 1000 }
  await measure('bare scan of three columns', () =>
    db.rows('SELECT count(), sum(input_tokens), max(end_time) FROM runs'),
  )
  const queries = {
    'figures of all': {},
    'figures of traces': { is_root: true },
    'figures by model': { group_by: { by: 'model', max_groups: 5 } },
    'figures by name': { group_by: { by: 'name', max_groups: 5 } },
    'figures by tag': { group_by: { by: 'tag', max_groups: 5 } },
    'figures of a day': day,
    'figures of the traces of a day': { ...day, is_root: true },
  } as const
  for (const [what, query] of Object.entries(queries))
    await measure(what, () => store.runStats(workspace_id, { project_ids: [project_id], ...query }))
  let bytes = 0
  await measure(`outline of ${LARGE_TRACE} runs`, async () => {
    const answer = await readOutline(store, { workspace_id, trace_id }, {}, async (task) =>
      assembleOutline(task),
    )
    bytes = answer?.body === undefined ? 0 : gzipSync(answer.body, { level: 1 }).length
  })
  console.log(`${bytes} bytes of it on the wire`)
} finally {
  await db.close()
  await engine.stop()
  await folder.remove()
}
