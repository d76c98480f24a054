import type { PriceSnapshot } from '../ingest/prices/price-store.ts'
import type { RequestHead } from '../trace/decode/decoded.ts'
import type { Media } from '../trace/json/media.ts'
import type { FileFormat } from '../trace/json/run-lines.ts'
import type { FieldChoice } from '../trace/json/trace-run.ts'
import type { OutlineTask } from './outline-reads.ts'
import type { SelectedRead } from './selected-assembly.ts'
import type { TurnPage } from './threads/turn-assembly.ts'
import type { ReadRows } from './trace-assembly.ts'

/** The tasks of the thread that reads: name → input and output. */
export interface ReadTasks {
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
  /** The TraceRuns of a page as a part of a file. */
  'read-file-part': { input: { read: ReadRows; choice: FieldChoice; format: FileFormat }; output: Uint8Array }
  /** A page as NDJSON: the paths at which each of its TraceRuns contains a text. */
  'read-matches': {
    input: { read: ReadRows; cursors: { next: string | null; prev: string | null }; text: string }
    output: Uint8Array
  }
  'read-selected': { input: SelectedRead; output: Uint8Array | undefined }
  'read-turns': { input: TurnPage; output: Uint8Array }
  validate: { input: { head: RequestHead; body: Uint8Array; prices: PriceSnapshot }; output: Uint8Array }
}
