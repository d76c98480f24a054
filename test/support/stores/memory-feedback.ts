import type { TraceStore } from '../../../src/ingest/store/trace-store.ts'
import { FEEDBACK_ROWS, type FeedbackRow } from '../../../src/trace/rows/feedback.ts'
import { RowWriter } from '../../../src/trace/rows/row-binary.ts'

/** Feedback rows in memory, with the methods of a trace store. */
export function createMemoryFeedback(): Pick<TraceStore, 'insert' | 'feedbackRecord' | 'deleteFeedback'> & {
  rows: Map<string, FeedbackRow>
} {
  const rows = new Map<string, FeedbackRow>()
  return {
    rows,
    async insert(_table, bodies) {
      for (const row of bodies.flatMap((body) => [...FEEDBACK_ROWS.readAll(body)]))
        rows.set(row.feedback_id, row)
    },
    async feedbackRecord(workspace_id, feedback_id) {
      const row = rows.get(feedback_id)
      const writer = new RowWriter()
      if (row?.workspace_id === workspace_id) FEEDBACK_ROWS.write(writer, row)
      return writer.finish()
    },
    async deleteFeedback(_workspace_id, feedback_id) {
      rows.delete(feedback_id)
    },
  }
}
