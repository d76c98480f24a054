import { expect, it, vi } from 'vitest'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import { newUuid } from '../../../src/base/ids.ts'
import { createLogger } from '../../../src/base/log.ts'
import type { LaneData } from '../../../src/ingest/lane-tasks.ts'
import { startRepricer } from '../../../src/ingest/prices/repricer.ts'
import { createWorkerPool } from '../../../src/worker-threads/worker-pool.ts'
import { migrate } from '../../../src/storage/sql/driver/migrate.ts'
import { createPriceStore } from '../../../src/storage/sql/prices/price-store.ts'
import { createProjectStore } from '../../../src/storage/sql/projects/store.ts'
import { createRepriceJobStore } from '../../../src/storage/sql/prices/reprice-job-store.ts'
import { openSqlite } from '../../../src/storage/sql/driver/sqlite.ts'
import { formatDecimal } from '../../../src/trace/price/decimal.ts'
import { parseFilter } from '../../../src/trace/filter/filter.ts'
import { eventually } from '../../support/eventually.ts'
import { fillStore } from '../../support/stores/clickhouse/fill-store.ts'
import { useTraceStore, type TestTraceStore, WORKSPACE } from '../../support/stores/clickhouse/trace-store.ts'
import { systemClock } from '../../../src/base/clock.ts'

// Tens of thousands of traces.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const TRACES = campaign(50_000)
const LLM_RUNS = TRACES * 2
/** Retrievers are examined too, because a rerank is a call. */
const EXAMINED = TRACES * 3
const NEWEST = Date.UTC(2026, 10, 20)
const logger = createLogger({ level: 'silent' })
const clock = systemClock
const project_id = newUuid()

let traces: TestTraceStore
useTraceStore(async (store) => {
  traces = store
  await fillStore(traces.store, {
    workspace_id: WORKSPACE,
    project_id,
    first: 0,
    runs: TRACES * 5,
    newest: NEWEST,
  })
})

function startLane() {
  const workerData: LaneData = {
    processor_modules: [],
    open_fragment_bytes: 0,
    niceness: 0,
  }
  const entry = new URL('../../../src/start/children/pipeline-worker.ts', import.meta.url)
  return createWorkerPool({ entry, name: 'read', size: 1, workerData, logger })
}

/** Sum of all costs, to compare two states exactly. */
async function totalCost(): Promise<string> {
  let sum = 0n
  let after: { sort_time: number; run_id: string } | undefined
  while (true) {
    const rows = await traces.list(WORKSPACE, {
      project_ids: [project_id],
      filter: parseFilter('eq(run_type, "llm")'),
      order: 'asc',
      limit: 10_000,
      ...(after && { after }),
    })
    for (const { total_cost } of rows) sum += total_cost ?? 0n
    const last = rows.at(-1)
    if (!last) return formatDecimal(sum)
    after = { sort_time: last.sort_time, run_id: last.run_id }
  }
}

it(`computes the costs of ${LLM_RUNS} runs again while others are stored, twice the same`, async () => {
  const database = openSqlite(':memory:')
  await migrate(database)
  const prices = createPriceStore(database, clock)
  const lane = startLane()
  const repricer = startRepricer({
    store: traces.store,
    lane,
    prices,
    projects: createProjectStore(database, clock),
    jobs: createRepriceJobStore(database),
    isStored: () => true,
    ready: Promise.resolve(),
    clock,
    logger,
  })
  const busy = new AbortController()
  const ingest = (async () => {
    for (let first = 1_000_000; !busy.signal.aborted; first += 400)
      await fillStore(traces.store, {
        workspace_id: WORKSPACE,
        project_id: newUuid(),
        first,
        runs: 2000,
        newest: NEWEST,
      })
  })()
  const run = async () => {
    const started = performance.now()
    const scope = { start_time: 0, end_time: (NEWEST + 1000) * 1000, project_ids: [project_id] }
    const { id } = await repricer.submit(WORKSPACE, scope)
    const job = await eventually(async () => {
      const found = await repricer.get(WORKSPACE, id)
      expect(found?.status).toBe('done')
      return found!
    })
    const seconds = (performance.now() - started) / 1000
    console.log(`repriced ${job.changed} of ${job.examined} in ${seconds.toFixed(1)} s`)
    return job
  }
  try {
    expect(await run()).toMatchObject({ examined: EXAMINED, changed: LLM_RUNS })
    const first = await totalCost()
    expect(Number(first)).toBeGreaterThan(0)
    expect(await run()).toMatchObject({ examined: EXAMINED, changed: 0 })
    expect(await totalCost()).toBe(first)
  } finally {
    busy.abort()
    await ingest
    await repricer.stop()
    await lane.close()
    await database.close()
  }
})
