import type { Sweep } from '../../base/background/sweeps.ts'
import type { KvStore } from './kv-store.ts'

/** An expired item counts for quotas until the next sweep. */
const EVERY_MS = 10_000
/** Number of items that are deleted together; takes a few milliseconds on SQLite. */
const SLICE = 16

/** The sweep of expired items of the store; it yields to other work between slices. */
export function itemSweep(items: Pick<KvStore, 'sweep'>): Sweep {
  return {
    name: 'items',
    everyMs: EVERY_MS,
    async work(signal) {
      let count = 0
      for (let deleted = SLICE; deleted === SLICE && !signal.aborted; count += deleted) {
        deleted = await items.sweep(SLICE)
        await new Promise((turn) => setImmediate(turn))
      }
      return count
    },
  }
}
