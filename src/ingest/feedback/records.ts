import type { Clock } from '../../base/clock.ts'
import { parseExact } from '../../schema/exact-json.ts'
import { type JsonObject, isObject } from '../../schema/json.ts'
import { FEEDBACK_ROWS, type FeedbackRow, absentFeedback } from '../../trace/rows/feedback.ts'
import { RowWriter } from '../../trace/rows/row-binary.ts'
import type { Ingester } from '../ingester.ts'
import type { TraceStore } from '../store/trace-store.ts'

/** Feedback records by their own id. A read that begins after a change has finished returns the changed state. */
export interface FeedbackRecords {
  /** Returns the record, with all fields that clients expect; undefined if there is none with that id. */
  read(workspace_id: string, id: string): Promise<JsonObject | undefined>
  /**
   * Sets the given fields and `modified_at`, except for those that say which record it is and what it is about;
   * undefined when there is no such record.
   */
  update(workspace_id: string, id: string, changes: JsonObject): Promise<JsonObject | undefined>
  /** Returns false if there was no such record. */
  delete(workspace_id: string, id: string): Promise<boolean>
}

/** Fields that a change keeps. The store has some of them in columns, too. */
const FIXED: ReadonlySet<string> = new Set(['id', 'key', 'run_id', 'trace_id', 'session_id', 'created_at'])

export interface FeedbackRecordsDeps {
  store: Pick<TraceStore, 'insert' | 'feedbackRecord' | 'deleteFeedback'>
  ingester: Pick<Ingester, 'settled'>
  clock: Clock
}

/** Feedback records over the trace store; changes are written to it directly (docs/adr/0038). */
export function createFeedbackRecords(deps: FeedbackRecordsDeps): FeedbackRecords {
  const { store, ingester, clock } = deps
  const inTurn = createTurns()

  const find = async (workspace_id: string, id: string): Promise<FeedbackRow | undefined> => {
    const [row] = FEEDBACK_ROWS.readAll(await store.feedbackRecord(workspace_id, id))
    return row
  }
  /**
   * Reads a record; waits for the store if it is missing, because an acknowledged record may still be only in the
   * ingest log.
   */
  const findOrAwait = async (workspace_id: string, id: string): Promise<FeedbackRow | undefined> => {
    const found = await find(workspace_id, id)
    if (found !== undefined) return found
    await ingester.settled()
    return await find(workspace_id, id)
  }

  const write = async (row: FeedbackRow, changes: JsonObject): Promise<JsonObject> => {
    // Reads use the later row of a record, so the new row must be later.
    const received_at = Math.max(clock.now(), row.received_at + 1)
    const modified_at = new Date(received_at).toISOString()
    const given = Object.entries(changes).filter(([field]) => !FIXED.has(field))
    const record = { ...recordOf(row), ...Object.fromEntries(given), modified_at }
    const writer = new RowWriter()
    FEEDBACK_ROWS.write(writer, { ...row, received_at, body: JSON.stringify(record) })
    await store.insert('feedback', [writer.finish()])
    return record
  }

  return {
    async read(workspace_id, id) {
      const row = await findOrAwait(workspace_id, id)
      return row && recordOf(row)
    },
    update: (workspace_id, id, changes) =>
      inTurn(workspace_id + id, async () => {
        // Wait, because an older version that is still in the log would be stored after the change.
        await ingester.settled()
        const row = await find(workspace_id, id)
        return row && (await write(row, changes))
      }),
    delete: (workspace_id, id) =>
      inTurn(workspace_id + id, async () => {
        await ingester.settled()
        const row = await find(workspace_id, id)
        if (row !== undefined) await store.deleteFeedback(workspace_id, id)
        return row !== undefined
      }),
  }
}

function recordOf(row: FeedbackRow): JsonObject {
  // A value of the client may be an integer beyond 2^53.
  const parsed: unknown = parseExact(row.body)
  const record = isObject(parsed) ? parsed : {}
  return { ...absentFeedback(Object.keys(record), row), ...record, id: row.feedback_id }
}

/** Runs the tasks of one key one after the other. */
function createTurns() {
  const last = new Map<string, Promise<unknown>>()
  return <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(key) ?? Promise.resolve()
    const mine = before.then(work, work)
    last.set(key, mine)
    const forget = (): void => {
      if (last.get(key) === mine) last.delete(key)
    }
    mine.then(forget, forget)
    return mine
  }
}
