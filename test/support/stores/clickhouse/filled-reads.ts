import { expect } from 'vitest'
import type { PriceStore } from '../../../../src/ingest/prices/price-store.ts'
import { createTraceReads } from '../../../../src/query/create-trace-reads.ts'
import { createReadSteps } from '../../../../src/query/steps.ts'
import type { TraceReads } from '../../../../src/query/trace-reads.ts'
import type { TraceStore } from '../../../../src/ingest/store/trace-store.ts'
import { childEntry } from '../../../../src/base/child-entry.ts'
import { createWorkerPool } from '../../../../src/worker-threads/worker-pool.ts'
import { createLogger } from '../../../../src/base/log.ts'
import { type Filling, fillStore, filledId } from './fill-store.ts'
import { median } from '../../servers/load.ts'
import { startTestTraceStore, type TestTraceStore } from './trace-store.ts'

const WORKSPACE = '11111111-1111-4111-8111-111111111111'
/** Two projects of one store: a small one for comparison, and the large one that is measured. */
const SMALL = { project_id: '22222222-2222-4222-8222-222222222222', first: 900_000_000, runs: 2000 }
const LARGE = { project_id: '33333333-3333-4333-8333-333333333333', first: 0 }
const REPEATS = 9

interface Cost {
  cpu_ms: number
  ms: number
}

interface Read {
  name: string
  call: (n: number) => Promise<Uint8Array | undefined>
}

/** Milliseconds of CPU that the engine has used. */
async function engineCpuMs({ clickhouse }: TestTraceStore): Promise<number> {
  const [row] = await clickhouse.rows<{ ms: number }>(
    `SELECT sum(value) / 1000 AS ms FROM system.events WHERE event IN ('UserTimeMicroseconds', 'SystemTimeMicroseconds')`,
  )
  return row!.ms
}

/** The median cost of one call: its time, and the CPU of the engine, which does not depend on other processes. */
async function costOf(opened: TestTraceStore, read: Read): Promise<Cost> {
  const times: number[] = []
  const engine: number[] = []
  for (let n = 0; n < REPEATS; n++) {
    const before = await engineCpuMs(opened)
    const started = performance.now()
    expect(await read.call(n)).toBeDefined()
    times.push(performance.now() - started)
    engine.push((await engineCpuMs(opened)) - before)
  }
  return { cpu_ms: median(engine), ms: median(times) }
}

function readsOf(reads: TraceReads, filled: Filled): Read[] {
  const pick = (n: number): number => filled.first + Math.floor((n * filled.runs) / 5 / REPEATS)
  return [
    {
      name: 'first page',
      call: () => reads.query(WORKSPACE, { session: [filled.project_id], limit: 20, order: 'desc' }),
    },
    { name: 'one run', call: (n) => reads.traceRun(WORKSPACE, filledId(pick(n), 2)) },
    { name: 'one trace', call: (n) => reads.trace(WORKSPACE, filledId(pick(n), 0), { view: 'full' }) },
  ]
}

type Filled = Pick<Filling, 'project_id' | 'first' | 'runs'>

async function fill(store: TraceStore, filled: Filled): Promise<void> {
  await fillStore(store, { workspace_id: WORKSPACE, newest: Date.now(), ...filled })
}

/**
 * Fills a store with `runs` TraceRuns and reads a first page, single TraceRuns and traces from it; the results must be
 * right, and use at most `factor` times the CPU that the engine uses for a small store.
 */
export async function checkFilledReads(runs: number, factor: number): Promise<void> {
  const opened = await startTestTraceStore()
  const readLane = createWorkerPool({
    entry: childEntry('pipeline-worker'),
    name: 'read',
    size: 1,
    workerData: { processor_modules: [], open_fragment_bytes: 0, niceness: 0 },
    logger: createLogger({ level: 'silent' }),
  })
  try {
    const limits = { max_body_bytes: 1e8, max_parts: 1000, max_part_bytes: 1e8 }
    const prices: Pick<PriceStore, 'snapshot'> = { snapshot: async () => ({ version: 0, entries: [] }) }
    const reads = createTraceReads({
      steps: createReadSteps({ store: opened.store, readLane }),
      prices,
      limits,
    })
    await fill(opened.store, SMALL)
    const floor = new Map<string, Cost>()
    for (const read of readsOf(reads, SMALL)) floor.set(read.name, await costOf(opened, read))
    const large = { ...LARGE, runs }
    await fill(opened.store, large)
    await checkAnswers(reads, runs)
    for (const read of readsOf(reads, large)) {
      const { cpu_ms, ms } = await costOf(opened, read)
      const base = floor.get(read.name)!
      console.info(
        `${runs} runs, ${read.name}: median ${ms.toFixed(1)} ms, ${base.ms.toFixed(1)} ms with ${SMALL.runs}; CPU of the engine ${cpu_ms.toFixed(1)} and ${base.cpu_ms.toFixed(1)} ms`,
      )
      expect(cpu_ms / base.cpu_ms, read.name).toBeLessThan(factor)
    }
  } finally {
    await readLane.close()
    await opened.stop()
  }
}

async function checkAnswers(reads: TraceReads, runs: number): Promise<void> {
  const parse = (bytes: Uint8Array | undefined) => JSON.parse(Buffer.from(bytes!).toString('utf8'))
  const page = parse(await reads.query(WORKSPACE, { session: [LARGE.project_id], limit: 5, order: 'desc' }))
  expect(page.runs.map((run: { id: string }) => run.id)).toEqual(
    [4, 3, 2, 1, 0].map((run) => filledId(0, run)),
  )
  const oldest = runs / 5 - 1
  const trace = parse(await reads.trace(WORKSPACE, filledId(oldest, 0), { view: 'full' }))
  expect(trace.runs).toHaveLength(5)
  expect(trace.totals).toMatchObject({
    llm_runs: 2,
    prompt_tokens: 2 * (100 + (oldest % 900)),
    completion_tokens: 26,
  })
  const stats = await reads.projectStats(WORKSPACE, [LARGE.project_id])
  expect(stats.get(LARGE.project_id)!.run_count / runs).toBeCloseTo(1, 1)
}
