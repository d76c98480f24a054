import type { Decoded, RequestHead } from '../trace/decode/decoded.ts'
import type { DeriveStep, LaneBatch, ReadBack } from './derive/deriver.ts'
import type { Price, PriceQuery } from '../trace/price/price.ts'
import type { PriceData } from '../trace/price/default/default-prices.ts'
import type { Repriced } from '../trace/price/reprice/reprice-rows.ts'
import type { PriceEntry } from '../trace/price/book.ts'
import type { PreviewedRows } from '../trace/price/reprice/preview-rows.ts'
import type { PriceSnapshot } from './prices/price-store.ts'

/** The price that applies to a call now (undefined if none is known), and the version of the default prices. */
export interface FoundPrice {
  price: Price | undefined
  default_prices: PriceData
}

/** The tasks of threads that decode, derive and compute prices: name → input and output. */
export interface LaneTasks {
  decode: { input: { head: RequestHead; body: Uint8Array }; output: Decoded }
  'derive-begin': { input: LaneBatch & { prices: PriceSnapshot }; output: DeriveStep }
  'derive-go-on': { input: ReadBack; output: DeriveStep }
  reprice: { input: { rows: Uint8Array; prices: PriceSnapshot }; output: Repriced }
  /** `entries`: the own prices that the workspace of the rows has after the change. */
  'preview-prices': { input: { rows: Uint8Array; entries: readonly PriceEntry[] }; output: PreviewedRows }
  'find-price': {
    input: { workspace_id: string; query: PriceQuery; prices: PriceSnapshot }
    output: FoundPrice
  }
  /** Names of the models in the default prices by their provider. */
  'priced-models': { input: Record<string, never>; output: Readonly<Record<string, readonly string[]>> }
}

/** Data that a decoding thread receives at its start. */
export interface DecodeLaneData {
  /** How much lower the priority is than that of acknowledging threads: 0 to 19, as for `nice`. */
  niceness: number
}

/** Data that a thread that derives or reads receives at its start. */
export interface LaneData extends DecodeLaneData {
  /** Modules with a user's own processors (PROCESSORS), absolute paths. */
  processor_modules: readonly string[]
  /** Memory for the fragments of open TraceRuns; 0 if other processes write to the same store. */
  open_fragment_bytes: number
}
