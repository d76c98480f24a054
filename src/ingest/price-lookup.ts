import type { Price, PriceQuery } from '../trace/price/price.ts'
import type { PriceData } from '../trace/price/default-prices.ts'
import type { LaneTasks } from './lanes.ts'
import type { PriceStore } from './price-store.ts'
import type { WorkerPool } from './worker-pool.ts'

/** The price that a call would be costed with now, undefined when none is known, and what the defaults are. */
export interface FoundPrice {
  price: Price | undefined
  default_prices: PriceData
}

/** Looks up a price by the rules that ingest goes by. */
export type PriceLookup = (workspace_id: string, query: PriceQuery) => Promise<FoundPrice>

/** Looks prices up where they are held: the default prices stay out of the main thread. */
export function createPriceLookup(lane: WorkerPool, prices: PriceStore): PriceLookup {
  return async (workspace_id, query) => {
    const input: LaneTasks['find-price']['input'] = { workspace_id, query, prices: await prices.snapshot() }
    return await lane.run<LaneTasks['find-price']['output']>({ name: 'find-price', input })
  }
}
