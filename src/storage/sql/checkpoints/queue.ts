import type { AppError } from '../../../base/errors.ts'
import { type Fence, holdFence } from './fence.ts'
import {
  insertBlobs,
  insertCheckpoints,
  type InsertTexts,
  insertWrites,
  storedAlready,
  type Written,
} from './insert-rows.ts'
import type { BlobRow, CheckpointRow, WriteRow } from './rows.ts'
import type { Database, TxSession } from '../driver/database.ts'

/** Rows that must be stored together. */
export interface CheckpointRows {
  checkpoints: CheckpointRow[]
  blobs: BlobRow[]
  writes: WriteRow[]
}

/** Writes rows of checkpoints; rows added in one turn of the event loop are stored in one transaction. */
export interface CheckpointQueue {
  /**
   * Resolves when the rows are durable. Rows that are not `urgent` wait a few milliseconds for further rows; `settled`
   * ends this wait. @throws AppError those of `holdFence`, store_unavailable; then none of the rows is stored
   */
  add(fence: Fence, rows: Partial<CheckpointRows>, urgent: boolean): Promise<void>
  /** Resolves when the rows added for the thread are stored or refused. */
  settled(thread_id: string): Promise<void>
}

/** Rows of one fence that wait to be stored. The queue must call either `done` or `failed`, once. */
export interface QueueEntry {
  fence: Fence
  rows: Partial<CheckpointRows>
  done: () => void
  failed: (error: unknown) => void
}

function fenceKey({ tenant, thread_id, lease }: Fence): string {
  return [tenant.workspace_id, tenant.deployment_id, thread_id, lease?.token ?? ''].join(' ')
}

/** Entries by fence, in order of arrival. */
export function byFence(entries: readonly QueueEntry[]): QueueEntry[][] {
  const groups = new Map<string, QueueEntry[]>()
  for (const entry of entries) {
    const key = fenceKey(entry.fence)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  return [...groups.values()]
}

function rowKey(tenant: string, row: CheckpointRow | BlobRow | WriteRow): string {
  const { thread_id, checkpoint_ns, checkpoint_id } = row
  const rest = 'idx' in row ? [row.task_id, row.idx] : 'channel' in row ? [row.channel] : []
  return JSON.stringify([tenant, thread_id, checkpoint_ns, checkpoint_id, ...rest])
}

/**
 * The rows of one kind, without duplicate keys. Of ordinary writes of a task with the same key, the first is kept; of
 * all other rows, the last.
 */
function collect<Row extends CheckpointRow | BlobRow | WriteRow>(
  entries: readonly QueueEntry[],
  rowsOf: (rows: Partial<CheckpointRows>) => readonly Row[] | undefined,
): Written<Row>[] {
  const found = new Map<string, Written<Row>>()
  for (const { fence, rows } of entries) {
    const { tenant, lease } = fence
    for (const row of rowsOf(rows) ?? []) {
      const key = rowKey(`${tenant.workspace_id} ${tenant.deployment_id} ${lease?.run_id ?? ''}`, row)
      if ('idx' in row && row.idx >= 0 && found.has(key)) continue
      found.set(key, { tenant, run_id: lease?.run_id ?? '', row })
    }
  }
  return [...found.values()]
}

/** Characters of the values, as an estimate of their bytes. */
function charsOf(entries: readonly QueueEntry[]): number {
  let chars = 0
  for (const { rows } of entries)
    for (const { value } of [...(rows.blobs ?? []), ...(rows.writes ?? [])]) chars += value.length
  return chars
}

interface Tables {
  database: Database
  texts: InsertTexts
}

/** Stores the entries that are allowed and rejects the others with the reason. Rejects if the database fails. */
async function store(
  { database, texts }: Tables,
  line: string,
  entries: readonly QueueEntry[],
): Promise<void> {
  const refused = new Map<QueueEntry, AppError>()
  const work = async (session: TxSession): Promise<void> => {
    refused.clear()
    const fences = byFence(entries).map(async (group) => {
      const refusal = group[0] && (await holdFence(session, database.dialect, group[0].fence))
      if (refusal !== undefined) for (const entry of group) refused.set(entry, refusal)
    })
    const checkpointsOf = ({ checkpoints }: Partial<CheckpointRows>) => checkpoints
    const [known] = await Promise.all([storedAlready(session, collect(entries, checkpointsOf)), ...fences])
    const allowed = entries.filter((entry) => !refused.has(entry))
    insertBlobs(
      session,
      texts,
      collect(allowed, ({ blobs }) => blobs),
    )
    insertCheckpoints(session, texts, collect(allowed, checkpointsOf), known)
    insertWrites(
      session,
      texts,
      collect(allowed, ({ writes }) => writes),
    )
  }
  await database.tx(`checkpoints:${line}`, work, charsOf(entries))
  for (const entry of entries) {
    const refusal = refused.get(entry)
    if (refusal === undefined) entry.done()
    else entry.failed(refusal)
  }
}

/** Stores entries. If they fail together, stores each one alone, so that a bad entry does not affect the others. */
async function storeApart(tables: Tables, line: string, entries: readonly QueueEntry[]): Promise<void> {
  try {
    await store(tables, line, entries)
  } catch (error) {
    const groups = byFence(entries)
    if (groups.length === 1) for (const entry of entries) entry.failed(error)
    else for (const group of groups) await storeApart(tables, line, group)
  }
}

/** A queue of entries. Its batches are stored one after the other. */
interface Line {
  waiting: QueueEntry[]
  /** The timer that runs while no entry is urgent. */
  hold: NodeJS.Timeout | undefined
  flushing: Promise<void> | undefined
}

/** Time for which rows wait for further rows. A step of a graph that calls no model takes less than one millisecond. */
const HOLD_MS = 3

/**
 * Opens the queue. SQLite has one writer, so it gets one line for all threads; Postgres gets a line for each thread.
 */
export function createCheckpointQueue(database: Database): CheckpointQueue {
  const lineOf = (thread_id: string): string => (database.dialect === 'sqlite' ? '' : thread_id)
  const tables = { database, texts: new Map<string, string>() }
  return createQueue(lineOf, (line, entries) => storeApart(tables, line, entries))
}

/** A queue whose lines store one batch after the other. `storeBatch` settles all entries, and never rejects. */
export function createQueue(
  keyOf: (thread_id: string) => string,
  storeBatch: (line: string, entries: readonly QueueEntry[]) => Promise<void>,
): CheckpointQueue {
  const lines = new Map<string, Line>()
  /** The pending entries of each thread. */
  const pending = new Map<string, Set<Promise<void>>>()
  const track = (thread_id: string, added: Promise<void>): Promise<void> => {
    const ofThread = pending.get(thread_id) ?? new Set()
    pending.set(thread_id, ofThread)
    const tracked = added.finally(() => {
      ofThread.delete(tracked)
      if (ofThread.size === 0) pending.delete(thread_id)
    })
    ofThread.add(tracked)
    return tracked
  }

  const flush = async (key: string, line: Line): Promise<void> => {
    await new Promise((turn) => setImmediate(turn))
    while (line.waiting.length > 0) {
      clearTimeout(line.hold)
      line.hold = undefined
      const entries = line.waiting
      line.waiting = []
      await storeBatch(key, entries)
    }
    line.flushing = undefined
    lines.delete(key)
  }

  const hurry = (key: string, line: Line): Promise<void> => (line.flushing ??= flush(key, line))

  return {
    add(fence, rows, urgent) {
      const key = keyOf(fence.thread_id)
      const line = lines.get(key) ?? { waiting: [], hold: undefined, flushing: undefined }
      lines.set(key, line)
      const added = new Promise<void>((done, failed) => line.waiting.push({ fence, rows, done, failed }))
      if (urgent) void hurry(key, line)
      else if (line.flushing === undefined) line.hold ??= setTimeout(() => void hurry(key, line), HOLD_MS)
      return track(fence.thread_id, added)
    },
    async settled(thread_id) {
      const key = keyOf(thread_id)
      const line = lines.get(key)
      const ofThread = pending.get(thread_id)
      if (ofThread === undefined) return
      if (line !== undefined) void hurry(key, line)
      await Promise.allSettled(ofThread)
    },
  }
}
