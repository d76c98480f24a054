import {
  createDefaultPrices,
  describePriceData,
  listPricedModels,
  type PriceData,
} from '../../trace/price/default/default-prices.ts'
import type { PriceSource } from '../../trace/price/price.ts'
import { createPriceBooks } from '../../trace/price/book.ts'
import type { PriceSnapshot } from '../prices/price-store.ts'

/** The prices of one thread: the default prices, and own prices from the last snapshot that the thread received. */
export interface LanePrices {
  /** Sets a snapshot; cheap if it is already the current one. */
  use(snapshot: PriceSnapshot): void
  of(workspace_id: string): PriceSource
}

export function createLanePrices(defaults: PriceSource): LanePrices {
  let version: number | undefined
  let books = createPriceBooks([], defaults)
  return {
    use(snapshot) {
      if (snapshot.version === version) return
      books = createPriceBooks(snapshot.entries, defaults)
      version = snapshot.version
    },
    of: (workspace_id) => books(workspace_id),
  }
}

/** Loads the default prices, which take about 20 MB, and facts about them. */
export function loadDefaultPrices(): {
  source: PriceSource
  data: PriceData
  models: Readonly<Record<string, readonly string[]>>
} {
  return { source: createDefaultPrices(), data: describePriceData(Date.now()), models: listPricedModels() }
}
