import { availableParallelism } from 'node:os'
import type { Logger } from '../base/log.ts'
import type { LaneData } from './lanes.ts'
import { loadOwnProcessors } from '../trace/own-processors.ts'
import { createWorkerPool, type WorkerPool, workerEntry } from './worker-pool.ts'

/** The threads that parse payloads, by what they do. */
export interface Lanes {
  decode: WorkerPool
  derive: WorkerPool
  read: WorkerPool
}

export interface LanesOptions {
  /** Paths of modules with processors of the user's own. */
  processors: readonly string[]
  /** Fragments of TraceRuns under way that may be remembered; 0 where another process may write to the store. */
  open_fragment_bytes: number
  logger: Logger
  /** Takes what ends each lane. */
  stops: (() => Promise<unknown> | void)[]
}

/** Requests to a busy decoding thread: their bodies are small, and asking the main thread for the next one takes time. */
const DECODE_DEPTH = 8
const READ_TIMEOUT_MS = 60_000
/** One step of a batch, 64 MB of payloads mostly: a processor that does not return is not waited for. */
const DERIVE_TIMEOUT_MS = 120_000
/** Parsed payloads live for one batch: a young generation that holds them is collected without copying. */
const YOUNG_GENERATION_MB = 96
/** Deriving and reading give way to acknowledging, as the embedded engine does. */
const BACKGROUND_NICENESS = 10
/** For lanes without a state between tasks: threads that start again when there is work cost an idle server nothing. */
const IDLE_LANE_MS = 20_000

/** One thread derives (a batch is derived in steps); decoding scales with the machine; reads stay out of both's way. */
export async function startLanes({
  processors,
  open_fragment_bytes,
  logger,
  stops,
}: LanesOptions): Promise<Lanes> {
  const processor_modules = [...processors]
  // A bad module must fail the start, not every batch.
  const own = await loadOwnProcessors(processor_modules)
  if (own.length > 0) {
    const names = own.map(({ name }) => name)
    logger.info({ processors: names, modules: processor_modules }, 'processors of your own are loaded')
  }
  const lane = (
    name: string,
    options: { size: number; niceness: number; depth?: number; taskTimeoutMs?: number; idleMs?: number },
  ): WorkerPool => {
    const { niceness, ...rest } = options
    const has_prices = name !== 'decode'
    const pool = createWorkerPool({
      entry: workerEntry(import.meta.url, './pipeline-worker'),
      name,
      workerData: { processor_modules, open_fragment_bytes, has_prices, niceness } satisfies LaneData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      logger,
      ...rest,
    })
    stops.push(() => pool.close())
    return pool
  }
  const background = { size: 1, niceness: BACKGROUND_NICENESS }
  const threads = Math.max(1, Math.min(4, availableParallelism() - 1))
  const lanes: Lanes = {
    decode: lane('decode', { size: threads, niceness: 0, depth: DECODE_DEPTH }),
    derive: lane('derive', { ...background, taskTimeoutMs: DERIVE_TIMEOUT_MS }),
    read: lane('read', { ...background, taskTimeoutMs: READ_TIMEOUT_MS, idleMs: IDLE_LANE_MS }),
  }
  await lanes.decode.warm()
  return lanes
}
