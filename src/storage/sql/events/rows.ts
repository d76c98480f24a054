import type { EventDraft, ThreadRef } from '../../../events/event-log.ts'
import type { EventChunk, Page } from '../../../events/event-store.ts'
import { joinData, splitData } from '../../event-text.ts'
import type { Database, SqlParam, SqlSession, SqlValue, TxSession } from '../driver/database.ts'
import { storedBytes } from '../driver/large-values.ts'
import { textParam, wholeText } from '../pieces/large-text.ts'
import { KEY, keyValues } from '../runs/rows.ts'

/** Events of one thread to be stored together. */
export interface DraftChunk {
  thread: ThreadRef
  items: readonly EventDraft[]
}

/** Approximate number of rows of a page; a chunk is never split. */
const PAGE_ROWS = 200
const PAGE_EVENTS = 500
const PAGE_CHARS = 1 << 18

const LOG_ROW = '(?, ?, ?, ?, ?, ?, ?, 0, -1)'
const CHUNK_ROW = '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'
/** Numbers of rows in a statement; only three sizes, so that there are few statements, which stay prepared. */
const SIZES = [32, 8, 1]

/**
 * Adds new events to the counts of a log. If the clock has not advanced, ids continue after the last one. The statement
 * locks the rows of the logs.
 */
const ADVANCE = `ON CONFLICT (thread_id, deployment_id, workspace_id) DO UPDATE SET
  total = event_logs.total + excluded.total, chars = event_logs.chars + excluded.chars,
  last_seq = CASE WHEN excluded.last_ms > event_logs.last_ms THEN excluded.last_seq
    ELSE event_logs.last_seq + 1 + excluded.last_seq END,
  last_ms = CASE WHEN excluded.last_ms > event_logs.last_ms THEN excluded.last_ms ELSE event_logs.last_ms END
  RETURNING thread_id, deployment_id, total, chars, last_ms, last_seq`

/** Splits `rows` into portions whose lengths are in SIZES. */
function* portions<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < rows.length; ) {
    const size = SIZES.find((one) => one <= rows.length - at) ?? 1
    yield rows.slice(at, at + size)
    at += size
  }
}

interface LogEnd {
  thread_id: string
  deployment_id: string
  total: number
  chars: number
  last_ms: number
  last_seq: number
}

function keyOf({ thread_id, deployment_id }: Pick<ThreadRef, 'thread_id' | 'deployment_id'>): string {
  return `${thread_id} ${deployment_id}`
}

/** Characters of the data of events. */
export function charsOf(items: readonly EventDraft[]): number {
  return items.reduce((sum, { data }) => sum + data.length, 0)
}

/** The number and size of new events for each log. The logs are always in the same order, which prevents deadlocks. */
function additions(drafts: readonly DraftChunk[]) {
  const byKey = new Map<string, { thread: ThreadRef; events: number; chars: number }>()
  for (const { thread, items } of drafts) {
    const key = keyOf(thread)
    const known = byKey.get(key) ?? { thread, events: 0, chars: 0 }
    known.events += items.length
    known.chars += charsOf(items)
    byKey.set(key, known)
  }
  return [...byKey.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, added]) => added)
}

/**
 * Reserves positions in each log for its new events. Returns the position and the id of the first new event, by log.
 */
async function advance(
  session: SqlSession,
  drafts: readonly DraftChunk[],
  now: number,
): Promise<Map<string, { position: number; offset: number; ms: number; seq: number }>> {
  const starts = new Map<string, { position: number; offset: number; ms: number; seq: number }>()
  const added = additions(drafts)
  const sums = new Map(added.map((one) => [keyOf(one.thread), one]))
  for (const some of portions(added)) {
    const rows = await session.query<LogEnd>(
      `INSERT INTO event_logs (thread_id, deployment_id, workspace_id, total, chars, last_ms, last_seq, forgotten_ms,
        forgotten_seq) VALUES ${some.map(() => LOG_ROW).join(', ')} ${ADVANCE}`,
      some.flatMap(({ thread, events, chars }): SqlValue[] => [
        ...keyValues(thread),
        events,
        chars,
        now,
        events - 1,
      ]),
    )
    for (const row of rows) {
      const { events, chars } = sums.get(keyOf(row)) ?? { events: 0, chars: 0 }
      starts.set(keyOf(row), {
        position: row.total - events,
        offset: row.chars - chars,
        ms: row.last_ms,
        seq: row.last_seq - events + 1,
      })
    }
  }
  return starts
}

/**
 * Stores events in a transaction, in order, and returns them with their places. No other transaction can append to the
 * same threads until this one ends.
 */
export async function appendEvents(
  session: TxSession,
  drafts: readonly DraftChunk[],
  now: number,
): Promise<EventChunk[]> {
  const ends = await advance(session, drafts, now)
  const chunks = drafts.map(({ thread, items }): EventChunk => {
    const end = ends.get(keyOf(thread)) ?? { position: 0, offset: 0, ms: now, seq: 0 }
    const chunk = { ...end, items }
    end.position += items.length
    end.offset += charsOf(items)
    end.seq += items.length
    return chunk
  })
  for (const some of portions(chunks.map((chunk, index) => ({ chunk, thread: drafts[index]?.thread })))) {
    session.send(
      `INSERT INTO event_chunks (thread_id, deployment_id, workspace_id, ms, last_seq, events, chars, position,
        start_chars, heads, data) VALUES ${some.map(() => CHUNK_ROW).join(', ')}`,
      some.flatMap(({ chunk, thread }): SqlParam[] =>
        thread ? [...keyValues(thread), ...toRow(chunk, thread)] : [],
      ),
    )
  }
  return chunks
}

function toRow({ ms, seq, items, position, offset }: EventChunk, thread: ThreadRef): SqlParam[] {
  const { heads, data } = joinData(items)
  return [
    ms,
    seq + items.length - 1,
    items.length,
    data.length,
    position,
    offset,
    heads,
    textParam(data, thread),
  ]
}

interface PageRow {
  total: number
  end_ms: number
  end_seq: number
  forgotten_ms: number
  forgotten_seq: number
  /** Null in the only row of a page without chunks. */
  ms: number | null
  last_seq: number
  events: number
  position: number
  start_chars: number
  heads: string
  data: string
}

const IN_PAGE = `s.events_before < ${PAGE_EVENTS} AND s.chars_before < ${PAGE_CHARS}`
/** SQL of the positions and sizes of the chunks of a page. */
const SUMMED = `WITH found AS (
    SELECT ms, last_seq, events, chars FROM event_chunks
    WHERE ${KEY} AND (ms, last_seq) > (?, ?) ORDER BY ms, last_seq LIMIT ${PAGE_ROWS}
  ), summed AS (
    SELECT ms, last_seq, chars, sum(events) OVER (ORDER BY ms, last_seq) - events AS events_before,
      sum(chars) OVER (ORDER BY ms, last_seq) - chars AS chars_before FROM found
  )`

const PAGE_SIZE = `${SUMMED} SELECT sum(s.chars) AS bytes FROM summed s WHERE ${IN_PAGE}`

/** SQL that reads the log and the chunks of a page in one statement, so that both are from the same moment. */
const PAGE = `${SUMMED}
  SELECT l.total, l.last_ms AS end_ms, l.last_seq AS end_seq, l.forgotten_ms, l.forgotten_seq,
    c.ms, c.last_seq, c.events, c.position, c.start_chars, c.heads, ${wholeText('c.data', 'c.')} AS data
  FROM event_logs l
  LEFT JOIN summed s ON ${IN_PAGE}
  LEFT JOIN event_chunks c ON c.thread_id = l.thread_id AND c.deployment_id = l.deployment_id
    AND c.workspace_id = l.workspace_id AND c.ms = s.ms AND c.last_seq = s.last_seq
  WHERE l.thread_id = ? AND l.deployment_id = ? AND l.workspace_id = ? ORDER BY c.ms, c.last_seq`

/** The part of a thread's log after an event, limited to one page. Undefined if there is no log. */
export async function readPage(
  database: Pick<Database, 'query' | 'dialect'>,
  thread: ThreadRef,
  after: readonly [ms: number, seq: number],
): Promise<Page | undefined> {
  const key = keyValues(thread)
  const bytes = await storedBytes(database, PAGE_SIZE, [...key, ...after])
  const rows = await database.query<PageRow>(PAGE, [...key, ...after, ...key], bytes)
  const [log] = rows
  if (log === undefined) return undefined
  return {
    chunks: rows.flatMap((row) => (row.ms === null ? [] : [toChunk(row, row.ms)])),
    total: log.total,
    last: [log.end_ms, log.end_seq],
    forgotten: [log.forgotten_ms, log.forgotten_seq],
  }
}

function toChunk({ last_seq, events, position, start_chars, heads, data }: PageRow, ms: number): EventChunk {
  return { position, offset: start_chars, ms, seq: last_seq - events + 1, items: splitData(heads, data) }
}
