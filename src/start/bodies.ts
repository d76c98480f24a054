import { childEntry } from '../base/child-entry.ts'
import { createFairQueue } from '../base/fair-queue.ts'
import type { Logger } from '../base/log.ts'
import { putBulk } from '../http/body/bulk.ts'
import type { LargeBodies } from '../http/server/dispatch.ts'
import { createWorkerPool } from '../worker-threads/worker-pool.ts'
import { parseExact } from '../schema/exact-json.ts'
import type { BodyTaken, BodyTask } from './children/body-thread.ts'

export interface LargeBodiesStart {
  logger: Logger
  stops: AsyncDisposableStack
}

/** Limits of bodies that are parsed at a time: a body may need ten times its size in memory. */
const PARSED = { at_once: 2, at_once_per_key: 1, waiting_per_key: 64 }
const TIMEOUT_MS = 30_000
const IDLE_MS = 20_000
/** Heap limit of a thread in MB. A body that needs more ends its thread, but not the process. */
const HEAP_MB = 2048

/** Parses large bodies in threads that exist while they are needed; callers take turns. */
export function startLargeBodies({ logger, stops }: LargeBodiesStart): LargeBodies {
  const pool = createWorkerPool({
    entry: childEntry('body-thread'),
    name: 'bodies',
    size: PARSED.at_once,
    depth: 1,
    taskTimeoutMs: TIMEOUT_MS,
    idleMs: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    logger,
  })
  stops.defer(() => pool.close())
  const queue = createFairQueue(PARSED)
  return {
    async parse(bytes, schema, holder, gone) {
      const leave = await queue.enter(holder, gone)
      try {
        const input: BodyTask = { bytes, schema }
        const task = { name: 'parse', input, transfer: [bytes.buffer] }
        const { json, large } = await pool.run<BodyTaken>(task, gone)
        return putBulk({ body: parseExact(json), large })
      } finally {
        leave()
      }
    },
  }
}
