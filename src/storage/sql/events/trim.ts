import { type Clock, createExpiryTime } from '../../../base/clock.ts'
import type { ThreadRef } from '../../../events/event-log.ts'
import type { EventBounds } from '../../../events/event-store.ts'
import type { Database } from '../driver/database.ts'
import { sweepPieces } from '../pieces/sweep-pieces.ts'
import { KEY, keyValues } from '../runs/rows.ts'

/** Time for which the stream of a deleted thread can still be read. */
const RETIRED_MS = 10 * 60_000
/** Maximum number of chunks that one transaction deletes. Deleting so many takes some milliseconds. */
const STEP_CHUNKS = 50
const STEP_CHARS = 4 << 20
const STEP_LOGS = 100
/** Number of logs whose sizes one statement sums up. */
const SUMMED_LOGS = 200
/** When the total limit is exceeded, trimming goes below it by this share, so that it is not exceeded again at once. */
const TOTAL_SLACK = 0.05
/** Maximum number of threads whose pieces wait to be swept; of further ones they stay until the next trim. */
const MAX_UNSWEPT = 10_000
/** Maximum number of old chunks, or of their times, that one statement looks up. */
const OLD_CHUNKS = 500

interface OldChunk {
  ms: number
  last_seq: number
  position: number
  start_chars: number
  chars: number
}

/** The oldest chunks that are beyond the limits; at most as many as one transaction may delete. */
function beyond(
  chunks: readonly OldChunk[],
  log: { total: number; chars: number },
  bounds: EventBounds,
  since: number,
): OldChunk[] {
  let chars = 0
  const kept = chunks.findIndex((chunk) => {
    chars += chunk.chars
    const isOld =
      chunk.position < log.total - bounds.events ||
      chunk.start_chars < log.chars - bounds.chars ||
      chunk.ms < since
    return !isOld || chars > STEP_CHARS + chunk.chars
  })
  return kept < 0 ? [...chunks] : chunks.slice(0, kept)
}

/**
 * Deletes some events that are beyond the limits or before `since`. If the log does not exist, deletes all remaining
 * events. Returns false if nothing is left to delete.
 */
function trimStep(
  database: Database,
  thread: ThreadRef,
  bounds: EventBounds,
  since: number,
): Promise<boolean> {
  const key = keyValues(thread)
  return database.tx(lockOf(thread), async (session) => {
    const [log] = await session.query<{ total: number; chars: number }>(
      `SELECT total, chars FROM event_logs WHERE ${KEY}`,
      key,
    )
    if (log === undefined) {
      const isOfNone = `NOT EXISTS (SELECT 1 FROM event_logs WHERE ${KEY})`
      await session.query(`DELETE FROM event_chunks WHERE ${KEY} AND ${isOfNone}`, [...key, ...key])
      return false
    }
    const oldest = await session.query<OldChunk>(
      `SELECT ms, last_seq, position, start_chars, chars FROM event_chunks WHERE ${KEY}
        ORDER BY ms, last_seq LIMIT ${STEP_CHUNKS}`,
      key,
    )
    const last = beyond(oldest, log, bounds, since).at(-1)
    if (last === undefined) return false
    const { ms, last_seq } = last
    await session.query(`UPDATE event_logs SET forgotten_ms = ?, forgotten_seq = ? WHERE ${KEY}`, [
      ms,
      last_seq,
      ...key,
    ])
    await session.query(`DELETE FROM event_chunks WHERE ${KEY} AND (ms, last_seq) <= (?, ?)`, [
      ...key,
      ms,
      last_seq,
    ])
    return true
  })
}

/**
 * Removes the log of a deleted thread. If a thread with this id exists again, the log belongs to that thread and stays.
 */
function removeLog(database: Database, thread: ThreadRef): Promise<void> {
  const key = keyValues(thread)
  return database.tx(lockOf(thread), async (session) => {
    const there = await session.query(`SELECT 1 AS there FROM threads WHERE ${KEY}`, key)
    if (there.length > 0) {
      await session.query(`UPDATE event_logs SET retired_at = NULL WHERE ${KEY}`, key)
      return
    }
    // The row of the log is deleted first. This waits for an append in progress; a later append creates a new log.
    for (const table of ['event_logs', 'event_chunks'])
      await session.query(`DELETE FROM ${table} WHERE ${KEY}`, key)
    await sweepPieces(session, database.dialect, thread)
  })
}

/** Characters in the logs of all threads; one statement sums up `SUMMED_LOGS` logs. */
async function charsOfAll(database: Database): Promise<number> {
  let sum = 0
  let after: ThreadRef | undefined
  do {
    const behind = after === undefined ? '' : 'WHERE (thread_id, deployment_id, workspace_id) > (?, ?, ?)'
    const logs: (ThreadRef & { kept: number })[] = await database.query(
      `SELECT thread_id, deployment_id, workspace_id, chars - coalesce((SELECT c.start_chars FROM event_chunks c
          WHERE c.thread_id = l.thread_id AND c.deployment_id = l.deployment_id AND c.workspace_id = l.workspace_id
          ORDER BY c.ms, c.last_seq LIMIT 1), chars) AS kept
        FROM event_logs l ${behind} ORDER BY thread_id, deployment_id, workspace_id LIMIT ${SUMMED_LOGS}`,
      after === undefined ? [] : keyValues(after),
    )
    for (const { kept } of logs) sum += kept
    after = logs.length < SUMMED_LOGS ? undefined : logs.at(-1)
    await othersTurn()
  } while (after !== undefined)
  return sum
}

/** The earliest time before which the chunks together have at least `chars` characters. */
async function timeOfOldest(database: Database, chars: number): Promise<number> {
  let sum = 0
  let after = 0
  for (;;) {
    const chunks = await database.query<{ ms: number; chars: number }>(
      // Whole times: chunks of several threads may have the same.
      `SELECT ms, sum(chars) AS chars FROM event_chunks WHERE ms > ? GROUP BY ms ORDER BY ms LIMIT ${OLD_CHUNKS}`,
      [after],
    )
    for (const chunk of chunks) {
      sum += chunk.chars
      after = chunk.ms
      if (sum >= chars) return after + 1
    }
    if (chunks.length === 0) return after + 1
    await othersTurn()
  }
}

/** Yields to the event loop, because SQLite statements run on the main thread. */
function othersTurn(): Promise<void> {
  return new Promise((turn) => setImmediate(turn))
}

function lockOf(thread: ThreadRef): string {
  return `event-trim:${keyValues(thread).join('/')}`
}

/** Deletes events beyond the limits in small steps; see `EventStore.trim`. */
export function createEventTrim(
  database: Database,
  clock: Clock,
  bounds: EventBounds,
): (thread: ThreadRef | null) => Promise<void> {
  const expiryTime = createExpiryTime(clock)
  /** Threads whose events were deleted since their pieces were swept, by key. A process that ends leaves some pieces. */
  const unswept = new Map<string, ThreadRef>()
  const trimThread = async (thread: ThreadRef, since: number): Promise<void> => {
    while (await trimStep(database, thread, bounds, since)) {
      if (unswept.size < MAX_UNSWEPT) unswept.set(lockOf(thread), thread)
      await othersTurn()
    }
  }

  const sweepTrimmed = async (): Promise<void> => {
    for (const [lock, thread] of unswept) {
      unswept.delete(lock)
      await database.tx(lock, (session) => sweepPieces(session, database.dialect, thread))
      await othersTurn()
    }
  }

  /** Deletes events of all threads before `since`. */
  const trimOld = async (since: number): Promise<void> => {
    const old = await database.query<ThreadRef>(
      `SELECT DISTINCT thread_id, deployment_id, workspace_id FROM (SELECT thread_id, deployment_id, workspace_id
        FROM event_chunks WHERE ms < ? ORDER BY ms LIMIT ${OLD_CHUNKS}) oldest`,
      [since],
    )
    for (const thread of old) await trimThread(thread, since)
    if (old.length > 0) await trimOld(since)
  }

  /** Deletes the oldest events of all threads when their logs together exceed the limit. */
  const trimTotal = async (): Promise<void> => {
    const excess = (await charsOfAll(database)) - bounds.total_chars
    if (excess > 0) await trimOld(await timeOfOldest(database, excess + bounds.total_chars * TOTAL_SLACK))
  }

  const removeRetired = async (): Promise<void> => {
    const retired = await database.query<ThreadRef>(
      `SELECT thread_id, deployment_id, workspace_id FROM event_logs WHERE retired_at <= ? LIMIT ${STEP_LOGS}`,
      [expiryTime() - RETIRED_MS],
    )
    for (const thread of retired) {
      await removeLog(database, thread)
      await othersTurn()
    }
    if (retired.length === STEP_LOGS) await removeRetired()
  }

  return async (thread) => {
    const since = expiryTime() - bounds.age_ms
    if (thread !== null) return await trimThread(thread, since)
    await trimOld(since)
    await trimTotal()
    await removeRetired()
    await sweepTrimmed()
  }
}
