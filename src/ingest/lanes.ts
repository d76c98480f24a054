import type { Decoded, RequestHead } from '../trace/decoded.ts'
import type { DeriveStep, ReadBack } from './deriver.ts'
import type { FieldChoice } from '../trace/trace-run-json.ts'
import type { FoundPrice } from './price-lookup.ts'
import type { UsagePeriod } from '../trace/usage-claim.ts'
import type { PriceQuery } from '../trace/price/price.ts'
import type { Repriced } from '../trace/price/reprice-rows.ts'
import type { PriceSnapshot } from './price-store.ts'
import type { ReadRows } from './trace-assembly.ts'

/** The tasks that worker threads take: name → what goes in, what comes out. */
export interface LaneTasks {
  decode: { input: { head: RequestHead; body: Uint8Array }; output: Decoded }
  'derive-begin': {
    input: {
      payloads: Uint8Array[]
      prices: PriceSnapshot
      bare: ReadonlySet<string>
      periods: readonly UsagePeriod[]
    }
    output: DeriveStep
  }
  'derive-go-on': { input: ReadBack; output: DeriveStep }
  'read-trace-run': { input: { read: ReadRows; choice: FieldChoice }; output: Uint8Array | undefined }
  'read-trace': {
    input: { read: ReadRows; trace_id: string; next: string | null }
    output: Uint8Array | undefined
  }
  'read-page': {
    input: {
      read: ReadRows
      cursors: { next: string | null; prev: string | null }
      choice: FieldChoice
    }
    output: Uint8Array
  }
  reprice: { input: { rows: Uint8Array; prices: PriceSnapshot }; output: Repriced }
  'find-price': {
    input: { workspace_id: string; query: PriceQuery; prices: PriceSnapshot }
    output: FoundPrice
  }
  validate: { input: { head: RequestHead; body: Uint8Array; prices: PriceSnapshot }; output: Uint8Array }
}

/** What every thread is told when it starts. */
export interface LaneData {
  /** Modules with a user's own processors (PROCESSORS), absolute paths. */
  processor_modules: readonly string[]
  /** Memory for the fragments of open TraceRuns; 0 where others write to the same store. */
  open_fragment_bytes: number
  /** Costs are computed here: holds the default prices, some 20 MB. */
  has_prices: boolean
  /** How much the threads stand back for those that acknowledge: 0 to 19, as `nice` has it. */
  niceness: number
}
