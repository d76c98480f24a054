import type { Clock } from '../../../base/clock.ts'
import { newUuid } from '../../../base/ids.ts'
import type { RunLease, ThreadRef } from '../../../events/event-log.ts'
import type { Append, EventChunk, EventBounds, EventStore, LogChange } from '../../../events/event-store.ts'
import type { Database, SqlSession, TxSession } from '../driver/database.ts'
import { sweepPieces } from '../pieces/sweep-pieces.ts'
import { appendEvents, charsOf, readPage } from './rows.ts'
import { createEventTrim } from './trim.ts'
import { inList, KEY, keyValues } from '../runs/rows.ts'

export interface SqlEventStoreOptions {
  database: Database
  clock: Clock
  bounds: EventBounds
  /** Notifies other processes; undefined if this process is the only one. */
  wire?: EventWire
}

/** Notifies the other processes of one database that logs have changed. */
export interface EventWire {
  /** Sends the notification when the transaction commits. */
  notify(session: TxSession, kind: 'appended' | 'dropped', threads: readonly ThreadRef[]): void
  listen(onChange: (change: LogChange) => void): void
  close(): Promise<void>
}

type Held = Pick<RunLease, 'run_id'> & ThreadRef & { token: string }

function holderKey({ run_id, thread_id, deployment_id, workspace_id, token }: Held): string {
  return [token, run_id, thread_id, deployment_id, workspace_id].join(' ')
}

/**
 * Keys of the leases that are still held. They cannot end before the transaction ends: SQLite has one writer at a time,
 * and on Postgres the rows are locked. The rows are always locked in the same order, which prevents deadlocks.
 */
async function heldLeases(
  session: SqlSession,
  dialect: Database['dialect'],
  leases: readonly RunLease[],
): Promise<Set<string>> {
  if (leases.length === 0) return new Set()
  const runs = inList([...new Set(leases.map(({ run_id }) => run_id))])
  const tokens = inList([...new Set(leases.map(({ token }) => token))])
  const lock = dialect === 'postgres' ? ' ORDER BY run_id FOR SHARE' : ''
  const rows = await session.query<Held>(
    `SELECT run_id, thread_id, deployment_id, workspace_id, lease_token AS token FROM runs
      WHERE run_id IN ${runs.places} AND lease_token IN ${tokens.places} AND status = 'running'${lock}`,
    [...runs.values, ...tokens.values],
  )
  return new Set(rows.map(holderKey))
}

/**
 * Stores events in the database of runs, which has been migrated. Only the holder of a run's lease may append for that
 * run.
 */
export function createSqlEventStore({ database, clock, bounds, wire }: SqlEventStoreOptions): EventStore {
  const { dialect } = database
  // The lock name is unique, so that this lock does not stop other processes: appends of different threads commit in
  // parallel. Row locks on the logs order the appends of a thread.
  const lock = `events:${newUuid()}`

  const commit = (appends: readonly Append[]): Promise<(EventChunk | null)[]> => {
    const write = async (session: TxSession): Promise<(EventChunk | null)[]> => {
      const leases = appends.flatMap(({ lease }) => lease ?? [])
      const held = await heldLeases(session, dialect, leases)
      const mayAppend = ({ thread, lease }: Append): boolean =>
        lease === null || held.has(holderKey({ ...thread, ...lease }))
      const allowed = appends.filter(mayAppend)
      const chunks = await appendEvents(session, allowed, clock.now())
      wire?.notify(
        session,
        'appended',
        allowed.map(({ thread }) => thread),
      )
      let next = 0
      return appends.map((append) => (allowed[next] === append ? (chunks[next++] ?? null) : null))
    }
    return database.tx(
      lock,
      write,
      appends.reduce((sum, { items }) => sum + charsOf(items), 0),
    )
  }

  return {
    append: commit,
    page: (thread, after) => readPage(database, thread, after),
    // A read is enough. If the database answers reads but refuses writes, the end of the run, which is a write to the
    // same database, fails too.
    check: async () => void (await database.query('SELECT 1')),
    drop: (thread) =>
      database.tx(lock, async (session) => {
        for (const table of ['event_logs', 'event_chunks'])
          session.send(`DELETE FROM ${table} WHERE ${KEY}`, keyValues(thread))
        await sweepPieces(session, dialect, thread)
        wire?.notify(session, 'dropped', [thread])
      }),
    trim: createEventTrim(database, clock, bounds),
    listen: (onChange) => wire?.listen(onChange),
    close: async () => wire?.close(),
  }
}
