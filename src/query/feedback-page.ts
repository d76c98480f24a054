import { fitting, portionsOf } from '../base/portions.ts'
import type { FeedbackPlace, FeedbackQuery, TraceStore } from '../ingest/store/trace-store.ts'
import { FEEDBACK_FIELDS, absentFeedback } from '../trace/rows/feedback.ts'
import { RowReader } from '../trace/rows/row-binary.ts'
import type { FeedbackPage } from './trace-reads.ts'

/** Reads a page of feedback: first sizes, then bodies, a megabyte at a time. */
export async function readFeedbackPage(
  store: Pick<TraceStore, 'feedbackPlaces' | 'feedbackBodies'>,
  workspace_id: string,
  query: FeedbackQuery,
): Promise<FeedbackPage> {
  // One more than the page has, which shows whether it is the last.
  const wanted = { ...query, limit: query.limit + 1 }
  const found = await store.feedbackPlaces(workspace_id, wanted, FEEDBACK_FIELDS)
  const places = fitting(found.slice(0, query.limit))
  const parts: Buffer[] = []
  for await (const portion of portionsOf(places)) {
    const bodies = byName(await store.feedbackBodies(workspace_id, portion))
    for (const place of portion) {
      const body = bodies.get(`${place.run_id}/${place.feedback_id}`)
      if (body !== undefined) parts.push(Buffer.from(parts.length === 0 ? '[' : ','), ...whole(place, body))
    }
  }
  if (parts.length === 0) parts.push(Buffer.from('['))
  return {
    body: Buffer.concat([...parts, Buffer.from(']')]),
    shown: places.length,
    more: places.length < found.length,
  }
}

/** The record with the further fields that clients expect. */
function whole(place: FeedbackPlace, body: Buffer): Buffer[] {
  const absent = JSON.stringify(absentFeedback(place.sent, place))
  if (absent === '{}') return [body]
  return [Buffer.from(`${absent.slice(0, -1)},`), body.subarray(1)]
}

function byName(rows: Buffer): Map<string, Buffer> {
  const reader = new RowReader(rows)
  const bodies = new Map<string, Buffer>()
  while (!reader.done) bodies.set(reader.string(), reader.bytes())
  return bodies
}
