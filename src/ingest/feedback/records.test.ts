import { expect, it } from 'vitest'
import { testClock } from '../../../test/support/faults/test-clock.ts'
import { NIL_UUID } from '../../base/ids.ts'
import { FEEDBACK_ROWS, type FeedbackRow } from '../../trace/rows/feedback.ts'
import { RowWriter } from '../../trace/rows/row-binary.ts'
import { createFeedbackRecords } from './records.ts'

const ID = '01a1f83d-5201-7000-8000-00000000000a'
const RUN = '01a1f83d-5201-7000-8000-00000000000b'
const OTHER = '01a1f83d-5201-7000-8000-00000000000c'

/** Records over a store with one row of this body, and the body that the store has. */
function recordsOf(body: string) {
  let row: FeedbackRow = {
    workspace_id: NIL_UUID,
    run_id: RUN,
    feedback_id: ID,
    trace_id: NIL_UUID,
    received_at: 1,
    body,
  }
  const records = createFeedbackRecords({
    store: {
      async feedbackRecord() {
        const writer = new RowWriter()
        FEEDBACK_ROWS.write(writer, row)
        return writer.finish()
      },
      async insert(_table, parts) {
        ;[row] = FEEDBACK_ROWS.readAll(Buffer.concat(parts)) as unknown as [FeedbackRow]
      },
      deleteFeedback: () => expect.unreachable(),
    },
    ingester: { settled: async () => undefined },
    clock: testClock(),
  })
  return { records, stored: () => row }
}

it('a change keeps which record it is, what it judges, and when it was made', async () => {
  const sent = { id: ID, key: 'quality', run_id: RUN, created_at: '2026-11-20T09:00:00Z', score: 0.5 }
  const { records, stored } = recordsOf(JSON.stringify(sent))
  const wrong = { id: OTHER, key: '', run_id: OTHER, trace_id: OTHER, session_id: OTHER, created_at: null }
  const changed = await records.update(NIL_UUID, ID, { ...wrong, score: 1, extra: { a: 1 } })
  expect(changed).toMatchObject({ ...sent, score: 1, extra: { a: 1 }, trace_id: null })
  expect([stored().run_id, JSON.parse(stored().body)]).toEqual([RUN, changed])
})

it('a change keeps all digits of the other values', async () => {
  const { records, stored } = recordsOf(`{"id":"${ID}","key":"id","value":{"order":12345678901234567891}}`)
  await records.update(NIL_UUID, ID, { comment: 'checked' })
  expect(stored().body).toContain('"value":{"order":12345678901234567891}')
  expect(JSON.stringify(await records.read(NIL_UUID, ID))).toContain('12345678901234567891')
})
