import { availableParallelism } from 'node:os'
import { childEntry } from '../src/base/child-entry.ts'
import { createLogger } from '../src/base/log.ts'
import { createMetrics } from '../src/base/metrics.ts'
import { type BatchDeriver, createBatchDeriver } from '../src/ingest/derive/batch-deriver.ts'
import { createLaneRoutes } from '../src/ingest/derive/lane-routes.ts'
import type { LaneData } from '../src/ingest/lane-tasks.ts'
import type { PriceStore } from '../src/ingest/prices/price-store.ts'
import { createStepTimer } from '../src/ingest/store/step-timer.ts'
import { decodeRequest } from '../src/trace/decode/decode.ts'
import { createWorkerPool, type WorkerPool } from '../src/worker-threads/worker-pool.ts'
import { requestHead } from '../test/support/traces/wire-body.ts'
import { BOUNDARY, createTraceBodies } from './load/trace-bodies.ts'

// How many traces a second the derive lanes can do, beside a store that has nothing and takes all: with one lane, two,
// four … up to the number of processors, in turn:
//   node scripts/launch.mjs bench/derive-lanes.bench.ts [batches a round] [rounds]
const TRACES_A_REQUEST = 4
const BATCH_BYTES = 16 << 20
const OPEN_FRAGMENT_BYTES = 64 << 20

const logger = createLogger({ level: 'silent' })
const none = new Uint8Array(0)

interface Setup {
  lanes: number
  pools: WorkerPool[]
  deriver: BatchDeriver
  rates: number[]
  cpu: number[]
}

function setUp(lanes: number): Setup {
  const workerData: LaneData = {
    processor_modules: [],
    open_fragment_bytes: OPEN_FRAGMENT_BYTES / lanes,
    niceness: 0,
  }
  const pools = Array.from({ length: lanes }, (_, n) =>
    createWorkerPool({
      entry: childEntry('pipeline-worker'),
      name: `derive-${n}`,
      size: 1,
      workerData,
      logger,
    }),
  )
  const metrics = createMetrics()
  const prices: Pick<PriceStore, 'snapshot'> = { snapshot: async () => ({ version: 0, entries: [] }) }
  const deriver = createBatchDeriver(
    {
      store: {
        outlines: async () => none,
        payloads: async () => none,
        hasWaitingChildren: async () => false,
        waitingChildren: async () => [],
        belowRoots: async () => [],
      },
      deriveLanes: { pools, routes: createLaneRoutes({ lanes }) },
      prices: prices as PriceStore,
      usage: { periods: [{ from: 0, to: Number.POSITIVE_INFINITY }] },
      exclusive: true,
      logger,
      metrics,
    },
    createStepTimer(metrics),
  )
  return { lanes, pools, deriver, rates: [], cpu: [] }
}

/** The records of a full batch of the ingest log, in shared memory as the log reads them. */
function batch(next: ReturnType<typeof createTraceBodies>): { payloads: Uint8Array[]; traces: number } {
  const head = requestHead({ content_type: `multipart/form-data; boundary=${BOUNDARY}` })
  const rows: Uint8Array[] = []
  let bytes = 0
  let traces = 0
  while (bytes < BATCH_BYTES) {
    const { creates, updates } = next()
    for (const body of [creates, updates]) {
      rows.push(decodeRequest(head, body).rows)
      bytes += rows.at(-1)!.length
    }
    traces += TRACES_A_REQUEST
  }
  const shared = Buffer.from(new SharedArrayBuffer(bytes))
  let at = 0
  const payloads = rows.map((each) => {
    shared.set(each, at)
    at += each.length
    return shared.subarray(at - each.length, at)
  })
  return { payloads, traces }
}

const [count = '12', rounds = '4'] = process.argv.slice(2)
const next = createTraceBodies(TRACES_A_REQUEST)
const now = Promise.resolve()
const state = { stored: now, earlierRows: now }
const { signal } = new AbortController()
const setups = [1, 2, 4, 8, 16].filter((lanes) => lanes <= Math.max(2, availableParallelism())).map(setUp)

async function round({ deriver, rates, cpu }: Setup): Promise<void> {
  const batches = Array.from({ length: Number(count) }, () => batch(next))
  const used = process.cpuUsage()
  const from = performance.now()
  for (const { payloads } of batches) await deriver.derive(payloads, state, signal)
  const seconds = (performance.now() - from) / 1000
  const { user, system } = process.cpuUsage(used)
  const traces = batches.reduce((sum, each) => sum + each.traces, 0)
  rates.push(traces / seconds)
  cpu.push((user + system) / 1000 / traces)
}

for (const setup of setups) await round(setup) // compiles the code
for (const setup of setups) Object.assign(setup, { rates: [], cpu: [] })
for (let i = 0; i < Number(rounds); i++)
  for (const setup of i % 2 === 0 ? setups : setups.toReversed()) await round(setup)
for (const { lanes, rates, cpu, pools } of setups) {
  const best = Math.max(...rates)
  console.log(
    `${lanes} lanes: ${rates.map((rate) => rate.toFixed(0)).join(', ')} traces a second, most ${best.toFixed(0)}; CPU of a trace ${cpu.map((ms) => ms.toFixed(3)).join(', ')} ms, least ${Math.min(...cpu).toFixed(3)}`,
  )
  await Promise.all(pools.map((pool) => pool.close()))
}
