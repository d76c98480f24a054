import { newUuid } from '../../../base/ids.ts'
import type { Database, SqlParam, SqlValue, TxSession } from './database.ts'

/** On SQLite, a statement whose values have more than this number of bytes runs outside of the main thread. */
export const LARGE_BYTES = 1 << 20

/** Runs statements in a thread with its own connection, one task after the other. */
export interface StatementThread {
  /** @throws AppError the error of the task in the thread; worker_failed if the thread ends */
  run<T>(task: StatementTask): Promise<T>
  close(): Promise<void>
}

/**
 * One task of a `StatementThread`. A transaction consists of `begin`, any number of `query` with its id, and `commit`
 * or `rollback`.
 */
export type StatementTask =
  | { kind: 'query'; tx: string | null; sql: string; params: readonly SqlParam[] }
  | { kind: 'begin' | 'commit' | 'rollback'; tx: string }

/** The threads for large values, one for reads and one for writes, so that reads do not wait for a long write. */
export interface LargeValues {
  reads: StatementThread
  writes: StatementThread
}

/**
 * Returns a function that runs tasks one after the other. Between two tasks the event loop turns, because receiving a
 * large answer takes time on the main thread.
 */
export function oneByOne(): <T>(thread: StatementThread, task: StatementTask) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(thread: StatementThread, task: StatementTask) => {
    const mine = last.then(() => thread.run<T>(task))
    last = mine.then(nextTurn, nextTurn)
    return mine
  }
}

function nextTurn(): Promise<void> {
  return new Promise((turn) => setImmediate(() => setImmediate(turn)))
}

/** Runs a transaction in the writing thread. */
export async function txInThread<T>(
  thread: StatementThread,
  work: (session: TxSession) => Promise<T>,
): Promise<T> {
  const tx = newUuid()
  await thread.run({ kind: 'begin', tx })
  let sent: Promise<unknown> = Promise.resolve()
  const query = async <Row>(sql: string, params: readonly SqlParam[] = []): Promise<Row[]> => {
    await sent
    return await thread.run<Row[]>({ kind: 'query', tx, sql, params })
  }
  try {
    const result = await work({
      query,
      send(sql, params) {
        sent = query(sql, params)
        // The error is not lost: the next statement and the commit throw it.
        sent.catch(() => undefined)
      },
    })
    await sent
    await thread.run({ kind: 'commit', tx })
    return result
  } catch (error) {
    // If the thread has ended, the transaction is already rolled back.
    await thread.run({ kind: 'rollback', tx }).catch(() => undefined)
    throw error
  }
}

/**
 * The rows of `sql`, which may have large values. On SQLite, `bytesSql` is executed first, with the same parameters; it
 * returns the size of the values as `bytes`. Postgres needs neither the size nor a thread.
 */
export async function readSized<Row>(
  database: Pick<Database, 'query' | 'dialect'>,
  bytesSql: string,
  sql: string,
  params: readonly SqlValue[],
): Promise<Row[]> {
  return await database.query<Row>(sql, params, await storedBytes(database, bytesSql, params))
}

/** The result of `bytesSql`; 0 on Postgres, and if it returns no row. */
export async function storedBytes(
  database: Pick<Database, 'query' | 'dialect'>,
  bytesSql: string,
  params: readonly SqlValue[],
): Promise<number> {
  if (database.dialect === 'postgres') return 0
  const [row] = await database.query<{ bytes: number | null }>(bytesSql, params)
  return row?.bytes ?? 0
}
