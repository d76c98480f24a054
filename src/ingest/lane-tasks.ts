import type { Decoded, RequestHead } from '../trace/decode/decoded.ts'
import type { DeriveStep, ReadBack } from './derive/deriver.ts'
import type { Media } from '../trace/json/media.ts'
import type { LineFormat } from '../trace/json/run-lines.ts'
import type { FieldChoice } from '../trace/json/trace-run.ts'
import type { UsagePeriod } from '../usage/counting/claim.ts'
import type { Price, PriceQuery } from '../trace/price/price.ts'
import type { PriceData } from '../trace/price/default/default-prices.ts'
import type { Repriced } from '../trace/price/reprice/reprice-rows.ts'
import type { PriceEntry } from '../trace/price/book.ts'
import type { PreviewedRows } from '../trace/price/reprice/preview-rows.ts'
import type { PriceSnapshot } from './prices/price-store.ts'
import type { SelectedRead } from '../query/selected-assembly.ts'
import type { TurnPage } from '../query/threads/turn-assembly.ts'
import type { OutlineTask } from '../query/outline-reads.ts'
import type { ReadRows } from '../query/trace-assembly.ts'

/** The price that applies to a call now (undefined if none is known), and the version of the default prices. */
export interface FoundPrice {
  price: Price | undefined
  default_prices: PriceData
}

/** The tasks of worker threads: name → input and output. */
export interface LaneTasks {
  decode: { input: { head: RequestHead; body: Uint8Array }; output: Decoded }
  'derive-begin': {
    input: {
      payloads: Uint8Array[]
      prices: PriceSnapshot
      headOnly: ReadonlySet<string>
      periods: readonly UsagePeriod[]
    }
    output: DeriveStep
  }
  'derive-go-on': { input: ReadBack; output: DeriveStep }
  'read-trace-run': {
    /** `prices` is set if the TraceRun has newer fragments than its row. */
    input: { read: ReadRows; choice: FieldChoice; prices: PriceSnapshot | undefined; media_link?: string }
    output: Uint8Array | undefined
  }
  /** The file at a JSON Pointer into the output of `read-trace-run`. */
  'read-media': {
    input: { read: ReadRows; prices: PriceSnapshot | undefined; pointer: string }
    output: Media | undefined
  }
  'read-trace': {
    input: { read: ReadRows; trace_id: string; next: string | null }
    output: Uint8Array | undefined
  }
  'read-outline': { input: OutlineTask; output: Uint8Array }
  'read-page': {
    input: {
      read: ReadRows
      cursors: { next: string | null; prev: string | null }
      choice: FieldChoice
    }
    output: Uint8Array
  }
  /** The TraceRuns of a page as lines of a file. */
  'read-lines': { input: { read: ReadRows; choice: FieldChoice; format: LineFormat }; output: Uint8Array }
  /** A page as NDJSON: the paths at which each of its TraceRuns contains a text. */
  'read-matches': {
    input: { read: ReadRows; cursors: { next: string | null; prev: string | null }; text: string }
    output: Uint8Array
  }
  'read-selected': { input: SelectedRead; output: Uint8Array | undefined }
  'read-turns': { input: TurnPage; output: Uint8Array }
  reprice: { input: { rows: Uint8Array; prices: PriceSnapshot }; output: Repriced }
  /** `entries`: the own prices that the workspace of the rows has after the change. */
  'preview-prices': { input: { rows: Uint8Array; entries: readonly PriceEntry[] }; output: PreviewedRows }
  'find-price': {
    input: { workspace_id: string; query: PriceQuery; prices: PriceSnapshot }
    output: FoundPrice
  }
  /** Names of the models in the default prices by their provider. */
  'priced-models': { input: Record<string, never>; output: Readonly<Record<string, readonly string[]>> }
  validate: { input: { head: RequestHead; body: Uint8Array; prices: PriceSnapshot }; output: Uint8Array }
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
