import {
  createDefaultPrices,
  describePriceData,
  listPricedModels,
  type PriceData,
} from '../../trace/price/default-prices.ts'
import type { PriceSource } from '../../trace/price/price.ts'
import { createPriceBooks } from '../../trace/price/book.ts'
import type { PriceSnapshot } from '../prices/price-store.ts'

/** The prices of one thread: the defaults, and the own entries of the last snapshot that it received. */
export interface LanePrices {
  /** Sets a snapshot; cheap when it is the current one. */
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

/** The default prices, which take some 20 MB, and facts about them. */
export async function loadDefaultPrices(): Promise<{
  source: PriceSource
  data: PriceData
  models: Readonly<Record<string, readonly string[]>>
}> {
  const [data, models] = await Promise.all([describePriceData(Date.now()), listPricedModels()])
  return { source: createDefaultPrices(), data, models }
}
