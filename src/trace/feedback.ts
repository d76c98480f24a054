import type { RowWriter } from './row-binary.ts'

/** A feedback record as stored: the client's JSON with the ids that it is found by. */
export interface FeedbackRow {
  workspace_id: string
  /** The TraceRun it speaks of; NIL_UUID for feedback on a whole session. */
  run_id: string
  feedback_id: string
  /** NIL_UUID when not sent. */
  trace_id: string
  /** Epoch milliseconds. Of two records with one id the later received is kept. */
  received_at: number
  /** JSON text of the record as sent. */
  body: string
}

/** Columns of table `feedback` in the order of the encoding. */
export const FEEDBACK_COLUMNS = [
  'workspace_id',
  'run_id',
  'feedback_id',
  'trace_id',
  'received_at',
  'body',
] as const

/** Appends one row of table `feedback`. */
export function writeFeedback(writer: RowWriter, row: FeedbackRow): void {
  writer.uuid(row.workspace_id)
  writer.uuid(row.run_id)
  writer.uuid(row.feedback_id)
  writer.uuid(row.trace_id)
  writer.i64(BigInt(row.received_at))
  writer.string(row.body)
}
