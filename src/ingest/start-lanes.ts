import { childEntry } from '../base/child-entry.ts'
import { availableParallelism } from 'node:os'
import type { Logger } from '../base/log.ts'
import type { DecodeLaneData, LaneData } from './lane-tasks.ts'
import { loadOwnProcessors } from '../trace/messages/own-processors.ts'
import { createWorkerPool, type WorkerPool, type WorkerPoolOptions } from '../worker-threads/worker-pool.ts'

/** The groups of threads that parse payloads, by their work. */
export interface Lanes {
  decode: WorkerPool
  derive: WorkerPool
  read: WorkerPool
}

export interface LanesOptions {
  /** Paths of modules with processors of the user's own. */
  processors: readonly string[]
  /** Memory for fragments of open TraceRuns; 0 if another process may write to the store. */
  open_fragment_bytes: number
  logger: Logger
  /** Receives a function that ends each lane. */
  stops: AsyncDisposableStack
}

/**
 * Number of requests that are queued on a busy decoding thread, because fetching the next one from the main thread
 * takes time. The bodies of these requests are small.
 */
const DECODE_DEPTH = 8
const READ_TIMEOUT_MS = 60_000
/**
 * Time limit of one step of a batch, which has at most 64 MB of payloads; after it the thread is ended, because a
 * processor may not return.
 */
const DERIVE_TIMEOUT_MS = 120_000
/**
 * Size of V8's young generation. The parsed payloads of a batch fit into it, so that they are collected without being
 * copied.
 */
const YOUNG_GENERATION_MB = 96
/**
 * Niceness of the threads that derive and read, so that acknowledging threads have precedence. The embedded engine
 * has the same niceness.
 */
const BACKGROUND_NICENESS = 10
/**
 * Idle time after which the threads of lanes without state end, so that an idle server does not pay for them; they
 * start again for the next task.
 */
const IDLE_LANE_MS = 20_000

/**
 * Starts the lanes: one thread derives, because a batch is derived in steps; the number of decoding threads depends on
 * the machine; reads have their own thread.
 */
export async function startLanes({
  processors,
  open_fragment_bytes,
  logger,
  stops,
}: LanesOptions): Promise<Lanes> {
  const processor_modules = [...processors]
  // An invalid module must fail the start, not every batch.
  const own = await loadOwnProcessors(processor_modules)
  if (own.length > 0) {
    const names = own.map(({ name }) => name)
    logger.info({ processors: names, modules: processor_modules }, 'processors of your own are loaded')
  }
  const lane = (
    name: string,
    options: Omit<WorkerPoolOptions, 'name' | 'logger' | 'resourceLimits'>,
  ): WorkerPool => {
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB }
    const pool = createWorkerPool({ name, logger, resourceLimits, ...options })
    stops.defer(() => pool.close())
    return pool
  }
  const data: LaneData = { processor_modules, open_fragment_bytes, niceness: BACKGROUND_NICENESS }
  const background = { entry: childEntry('pipeline-worker'), size: 1, workerData: data }
  const threads = Math.max(1, Math.min(4, availableParallelism() - 1))
  const lanes: Lanes = {
    decode: lane('decode', {
      entry: childEntry('decode-worker'),
      size: threads,
      workerData: { niceness: 0 } satisfies DecodeLaneData,
      depth: DECODE_DEPTH,
    }),
    derive: lane('derive', { ...background, taskTimeoutMs: DERIVE_TIMEOUT_MS }),
    read: lane('read', { ...background, taskTimeoutMs: READ_TIMEOUT_MS, idleMs: IDLE_LANE_MS }),
  }
  await lanes.decode.warm()
  return lanes
}
