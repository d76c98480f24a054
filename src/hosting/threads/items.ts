import { childEntry } from '../../base/child-entry.ts'
import type { Logger } from '../../base/log.ts'
import type { ItemText, LargeItems } from '../../runs/items/large-items.ts'
import type { JsonObject } from '../../schema/json.ts'
import { createWorkerPool } from '../../worker-threads/worker-pool.ts'

export interface LargeItemsStart {
  logger: Logger
  stops: AsyncDisposableStack
}

/** Requests the texts at paths of a value. */
export interface TextsTask {
  json: string
  paths: readonly string[]
}

/** Requests whether a filter matches a value. */
export interface MatchTask {
  json: string
  others: JsonObject
  filter: JsonObject
}

const TIMEOUT_MS = 30_000
/** Idle time after which a thread ends. */
const IDLE_MS = 20_000
/** Heap limit of a thread in MB. A value that needs more ends its thread, but not the process. */
const HEAP_MB = 1024

/** A thread that reads large values of items, started with the first one. */
export function startLargeItems({ logger, stops }: LargeItemsStart): LargeItems {
  const pool = createWorkerPool({
    entry: childEntry('item-thread'),
    name: 'large-items',
    size: 1,
    depth: 1,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    taskTimeoutMs: TIMEOUT_MS,
    idleMs: IDLE_MS,
    logger,
  })
  stops.defer(() => pool.close())
  return {
    texts: (json, paths) =>
      pool.run<ItemText[]>({ name: 'texts', input: { json, paths } satisfies TextsTask }),
    matches: (json, others, filter) =>
      pool.run<boolean>({ name: 'matches', input: { json, others, filter } satisfies MatchTask }),
  }
}
