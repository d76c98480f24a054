import { setTimeout as delay } from 'node:timers/promises'
import { builtInProcessors } from '../processors/index.ts'
import { createLogger } from '../src/base/log.ts'
import type { ReadTasks } from '../src/query/read-tasks.ts'
import { STORED_COLUMNS } from '../src/ingest/store/stored-columns.ts'
import { createReadSteps } from '../src/query/steps.ts'
import { createThreadReads } from '../src/query/threads/create-thread-reads.ts'
import { assembleTurns } from '../src/query/threads/turn-assembly.ts'
import { connectClickHouse } from '../src/storage/clickhouse/connect.ts'
import { migrate } from '../src/storage/clickhouse/migrate.ts'
import { createTraceStore } from '../src/storage/clickhouse/trace-store.ts'
import type { WorkerPool } from '../src/worker-threads/worker-pool.ts'
import { createEstimates } from '../src/trace/tokens/estimator.ts'
import { createTokenizer } from '../src/trace/tokens/tokenizer.ts'
import { startTestClickHouse, temporaryDir } from '../test/support/stores/clickhouse/embedded-clickhouse.ts'
import { fillRuns, RUNS_PER_TRACE } from './load/fill-runs.ts'
import { testClock } from '../test/support/faults/test-clock.ts'

// Reads threads of traces like the routes of API v2, but without HTTP, and compares with a plain scan of the same rows:
//   node scripts/launch.mjs bench/threads.bench.ts [runs] [threads]
const RUNS = Number(process.argv[2] ?? 1_000_000)
const THREADS = Number(process.argv[3] ?? 50_000)
const DAY = 86_400_000
const TIMES = 9
const SETTLED_MS = 11_000
const workspace_id = '00000000-0000-7000-8000-000000000001'
const project_id = '00000000-0000-7000-8000-0000000000b1'
const to = Date.UTC(2026, 0, 1)
const from = to - 30 * DAY

async function measure(what: string, work: (time: number) => Promise<unknown>): Promise<void> {
  const times: number[] = []
  for (let time = 0; time < TIMES; time++) {
    const started = performance.now()
    await work(time)
    times.push(performance.now() - started)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const [least, median] = [sorted[0]!, sorted[Math.floor(TIMES / 2)]!]
  console.log(`${what.padEnd(44)} median ${median.toFixed(0).padStart(5)} ms, least ${least.toFixed(0)} ms`)
}

const folder = await temporaryDir()
const engine = await startTestClickHouse(folder.dir)
const db = connectClickHouse({ ...engine, database: 'weir', maxExecutionSeconds: 600 })
try {
  await migrate(db, { logger: createLogger({ level: 'silent' }) })
  const traces = Math.floor(RUNS / RUNS_PER_TRACE)
  await fillRuns(db, { workspace_id, project_id, traces, threads: THREADS, from, to })
  // Lists read the rows of the last ten seconds separately. In practice these are few, so the bench waits until its
  // rows are older.
  await delay(SETTLED_MS)
  const context = { processors: builtInProcessors, startEstimate: createEstimates(createTokenizer()) }
  const run = async ({ input }: { input: unknown }) =>
    assembleTurns(input as ReadTasks['read-turns']['input'], context)
  const store = createTraceStore(db, STORED_COLUMNS)
  const steps = createReadSteps({ store, readLane: { run } as unknown as WorkerPool })
  const reads = createThreadReads(
    steps,
    testClock(() => to),
  )
  const asker = { holder: 'bench', gone: new AbortController().signal }
  const page = (window: { from: number; to: number }, more = {}) =>
    reads.page(
      workspace_id,
      { choice: { project_id, ...window, ...more }, request: {}, page_size: 20 },
      asker,
    )
  const turns = (time: number, filters = {}) => {
    const selects = [
      'TRACE_ID',
      'NAME',
      'TURN_NUMBER',
      'START_TIME',
      'TOTAL_TOKENS',
      'TOTAL_COST',
      'LATENCY',
    ] as const
    const thread_id = `thread-${(time * 5_003) % THREADS}`
    const wanted = { request: {}, project_id, thread_id, selects, page_size: 20, ...filters }
    return reads.turns(workspace_id, wanted, asker)
  }
  const day = { from: (to - DAY) * 1000, to: to * 1000 }
  const month = { from: from * 1000, to: to * 1000 }
  await measure('bare scan of three columns', () =>
    db.rows('SELECT count(), sum(input_tokens), max(end_time) FROM runs'),
  )
  await measure('first page of 20, last day', () => page(day))
  await measure('first page of 20, 30 days', () => page(month))
  await measure('first page of 20, 30 days, thread_filter', () =>
    page(month, { thread_filter: 'gt(count, 1)' }),
  )
  await measure('turns of a thread', (time) => turns(time))
  await measure('turns of a thread, with a filter', (time) =>
    turns(time, { filter: 'eq(status, "success")' }),
  )
  await measure('figures of a thread', (time) =>
    reads.stats(workspace_id, { project_id, thread_id: `thread-${time * 77}` }, asker),
  )
} finally {
  await db.close()
  await engine.stop()
  await folder.remove()
}
