import { startSweeps, type Sweeps } from '../../base/background.ts'
import type { Logger } from '../../base/log.ts'
import type { KvStore } from './kv-store.ts'

export interface ItemSweeperDeps {
  items: Pick<KvStore, 'sweep'>
  /** Milliseconds between sweeps. An expired item counts for quotas until the next sweep. */
  everyMs: number
  logger: Logger
}

/** Number of items that are deleted together; takes a few milliseconds on SQLite. */
const SLICE = 16

/** Deletes expired items of the store until it is stopped, and yields to other work between slices. */
export function startItemSweeper({ items, everyMs, logger }: ItemSweeperDeps): Sweeps {
  const sweepAll = async (signal: AbortSignal): Promise<number> => {
    let count = 0
    for (let deleted = SLICE; deleted === SLICE && !signal.aborted; count += deleted) {
      deleted = await items.sweep(SLICE)
      await new Promise((turn) => setImmediate(turn))
    }
    return count
  }
  return startSweeps(everyMs, sweepAll, (error) =>
    logger.warn({ err: error }, 'expired items cannot be deleted now'),
  )
}
