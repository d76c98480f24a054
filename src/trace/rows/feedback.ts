import { rowFormat, string, ticks, uuid } from './row-format.ts'

/** A feedback record as stored: the client's JSON, and ids for looking it up. */
export interface FeedbackRow {
  workspace_id: string
  /** The TraceRun of the feedback; NIL_UUID for feedback on a whole session. */
  run_id: string
  feedback_id: string
  /** NIL_UUID when not sent. */
  trace_id: string
  /** Epoch milliseconds. Of two records with the same id, the one received later is kept. */
  received_at: number
  /** JSON text of the record as sent. */
  body: string
}

/** Rows of table `feedback`. */
export const FEEDBACK_ROWS = rowFormat<FeedbackRow>({
  workspace_id: uuid,
  run_id: uuid,
  feedback_id: uuid,
  trace_id: uuid,
  received_at: ticks,
  body: string,
})

const NULLABLE = ['run_id', 'trace_id', 'score', 'value', 'comment', 'correction'] as const

/** Fields that clients expect in every answer; the Python client refuses a record without `trace_id`. */
export const FEEDBACK_FIELDS = ['id', 'created_at', 'modified_at', ...NULLABLE] as const

/** Values for the FEEDBACK_FIELDS that are missing in `sent`, the fields of a record. */
export function absentFeedback(
  sent: readonly string[],
  { feedback_id, received_at }: Pick<FeedbackRow, 'feedback_id' | 'received_at'>,
): Record<string, string | null> {
  const received = new Date(received_at).toISOString()
  const known: Record<string, string> = { id: feedback_id, created_at: received, modified_at: received }
  const absent = FEEDBACK_FIELDS.filter((field) => !sent.includes(field))
  return Object.fromEntries(absent.map((field) => [field, known[field] ?? null]))
}
