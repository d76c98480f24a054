import { childEntry } from '../base/child-entry.ts'
import { availableParallelism } from 'node:os'
import type { DeriveLanes } from './derive/batch-deriver.ts'
import { createLaneRoutes } from './derive/lane-routes.ts'
import type { Logger } from '../base/log.ts'
import type { DecodeLaneData, LaneData } from './lane-tasks.ts'
import { loadOwnProcessors } from '../trace/messages/own-processors.ts'
import { createWorkerPool, type WorkerPool, type WorkerPoolOptions } from '../worker-threads/worker-pool.ts'

/** The groups of threads that parse payloads, by their work. */
export interface Lanes {
  decode: WorkerPool
  derive: DeriveLanes
  read: WorkerPool
}

export interface LanesOptions {
  /** Paths of modules with processors of the user's own. */
  processors: readonly string[]
  /** Memory for fragments of open TraceRuns, of all lanes together; 0 if another process may write to the store. */
  open_fragment_bytes: number
  /** Lanes that derive; default: one for each processor. */
  deriving?: number
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
/** Each thread that derives takes about 100 MB under load. */
const MAX_DERIVING = 16
/**
 * Time limit of one step of a batch, which has at most 64 MB of payloads; after it the thread is ended, because a
 * processor may not return.
 */
const DERIVE_TIMEOUT_MS = 120_000
/**
 * Size of V8's young generation. The parsed payloads of a batch fit into it, so that they are collected without being
 * copied. Lanes that derive share it, since each has its part of a batch.
 */
const YOUNG_GENERATION_MB = 96
const LEAST_YOUNG_GENERATION_MB = 32
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
 * The same for lanes that derive, which have the state of a batch while the store is asked: longer than a statement may
 * take (60 s) and than the other lanes may need for their step.
 */
const IDLE_DERIVING_MS = 300_000

/** Starts the lanes: the numbers of those that decode and derive depend on the machine; reads have a thread of their own. */
export async function startLanes({
  processors,
  open_fragment_bytes,
  deriving = Math.min(MAX_DERIVING, availableParallelism()),
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
    maxYoungGenerationSizeMb = YOUNG_GENERATION_MB,
  ): WorkerPool => {
    const resourceLimits = { maxYoungGenerationSizeMb }
    const pool = createWorkerPool({ name, logger, resourceLimits, ...options })
    stops.defer(() => pool.close())
    return pool
  }
  const threads = Math.max(1, Math.min(4, availableParallelism() - 1))
  const data: LaneData = { processor_modules, open_fragment_bytes: 0, niceness: BACKGROUND_NICENESS }
  const background = { entry: childEntry('pipeline-worker'), size: 1, workerData: data }
  const pools = Array.from({ length: deriving }, (_, n) =>
    lane(
      n === 0 ? 'derive' : `derive-${n + 1}`,
      {
        ...background,
        workerData: { ...data, open_fragment_bytes: Math.floor(open_fragment_bytes / deriving) },
        taskTimeoutMs: DERIVE_TIMEOUT_MS,
        // Small batches use the first lane only. A lane that ends between batches loses nothing but its cache.
        ...(n === 0 ? {} : { idleMs: IDLE_DERIVING_MS }),
      },
      Math.max(LEAST_YOUNG_GENERATION_MB, Math.floor(YOUNG_GENERATION_MB / deriving)),
    ),
  )
  const lanes: Lanes = {
    decode: lane('decode', {
      entry: childEntry('decode-worker'),
      size: threads,
      workerData: { niceness: 0 } satisfies DecodeLaneData,
      depth: DECODE_DEPTH,
    }),
    derive: { pools, routes: createLaneRoutes({ lanes: deriving }) },
    read: lane('read', { ...background, taskTimeoutMs: READ_TIMEOUT_MS, idleMs: IDLE_LANE_MS }),
  }
  await lanes.decode.warm()
  return lanes
}
