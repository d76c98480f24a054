import type { PriceQuery } from '../../trace/price/price.ts'
import type { FoundPrice, LaneTasks } from '../lane-tasks.ts'
import type { PriceStore } from './price-store.ts'
import type { WorkerPool } from '../../worker-threads/worker-pool.ts'

/** Looks up a price by the rules of ingest. */
export type PriceLookup = (workspace_id: string, query: PriceQuery) => Promise<FoundPrice>

/** Looks up prices in the lane that has loaded them, so that the main thread need not load the default prices. */
export function createPriceLookup(lane: WorkerPool, prices: PriceStore): PriceLookup {
  return async (workspace_id, query) => {
    const input: LaneTasks['find-price']['input'] = { workspace_id, query, prices: await prices.snapshot() }
    return await lane.run<LaneTasks['find-price']['output']>({ name: 'find-price', input })
  }
}
