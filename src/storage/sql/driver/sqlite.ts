import { chmodSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { RecentMap } from '../../../base/recent-map.ts'
import { AppError } from '../../../base/errors.ts'
import { retry } from '../../../base/retry.ts'
import { DamagedFile } from './damaged-file.ts'
import {
  type Database,
  isLargeText,
  type SqlParam,
  type SqlValue,
  storableParams,
  type TxSession,
} from './database.ts'
import { LARGE_BYTES, type LargeValues, oneByOne, txInThread } from './large-values.ts'
import { keepText } from '../pieces/keep-text.ts'

/**
 * Options of a SQLite database. `synchronous`: with `normal`, a commit survives the end of the process; with `full`,
 * also a power cut (D-9).
 */
export interface SqliteOptions {
  synchronous?: 'normal' | 'full'
  /**
   * When the log has this number of pages, a commit of this connection also copies the log into the database, and waits
   * for the disk. Default: SQLite's own.
   */
  checkpointPages?: number
  /** Opens an existing file read-only; other connections may write at the same time. */
  readOnly?: boolean
  /**
   * Time for which a statement blocks its thread while another connection writes. Default 0: the statement is tried
   * again later.
   */
  waitMs?: number
}

/**
 * Maximum number of cached statements. Most statements are fixed texts; the limit is for statements that are built from
 * lists.
 */
const MAX_STATEMENTS = 200
const BUSY_TIMEOUT_MS = 5000
/** Time after which statements let other work of their thread go on. */
const TURN_MS = 10
/** Pauses before further attempts; the last pause is repeated. */
const PAUSES_MS = [1, 2, 4, 8] as const
const SQLITE_BUSY = 5
/** SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY. */
const NOT_UNIQUE = new Set([2067, 1555])
/** Low bytes of SQLITE_BUSY and SQLITE_IOERR. */
const UNAVAILABLE = new Set([5, 10])
/** SQLITE_FULL and SQLITE_IOERR_SHMSIZE. The latter means that there is no space for the index of the log. */
const FULL = new Set([13, 4874])
const SQLITE_READONLY = 8
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGED = new Set([11, 26])
/** Message for clients, without the path of the file. */
const DAMAGED_MESSAGE =
  "A database of this server is damaged. The server's log names the file and how to restore it."

function toThrown(error: unknown, file: string): unknown {
  const errcode = (error as { errcode?: unknown }).errcode
  if (typeof errcode !== 'number') return error
  if (DAMAGED.has(errcode & 0xff))
    return new AppError('data_dir_unusable', {
      message: DAMAGED_MESSAGE,
      cause: new DamagedFile(file, error),
    })
  if (NOT_UNIQUE.has(errcode)) return new AppError('conflict', { cause: error })
  if (FULL.has(errcode)) return new AppError('disk_full', { cause: error })
  if ((errcode & 0xff) === SQLITE_READONLY) return new AppError('disk_unwritable', { cause: error })
  return UNAVAILABLE.has(errcode & 0xff) ? new AppError('store_unavailable', { cause: error }) : error
}

function isBusy(error: unknown): boolean {
  const cause = error instanceof AppError ? (error.cause as { errcode?: unknown } | undefined) : undefined
  return typeof cause?.errcode === 'number' && (cause.errcode & 0xff) === SQLITE_BUSY
}

/** Retries while another process writes. SQLite's busy handler is not used, because it would block the event loop. */
async function retryWhileBusy<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + BUSY_TIMEOUT_MS
  return await retry(work, {
    pauses: PAUSES_MS,
    mayRetry: (error) => isBusy(error) && performance.now() < until,
  })
}

function createSession(connection: DatabaseSync, file: string): TxSession {
  const statements = new RecentMap<string, StatementSync>(MAX_STATEMENTS)
  const prepare = (sql: string): StatementSync => {
    const known = statements.touch(sql)
    if (known !== undefined) return known
    const statement = connection.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  const plain = (param: SqlParam): SqlValue => (isLargeText(param) ? keepText(execute, param) : param)
  const execute = <Row>(sql: string, params: readonly SqlParam[] = []): Row[] => {
    try {
      return prepare(sql).all(...storableParams(params.map(plain))) as Row[]
    } catch (error) {
      throw toThrown(error, file)
    }
  }
  return {
    query: async <Row>(sql: string, params?: readonly SqlParam[]) => execute<Row>(sql, params),
    send: (sql, params) => void execute(sql, params),
  }
}

/**
 * Returns a function that resolves at once, or after a turn of the event loop if the thread has run statements for longer
 * than TURN_MS without one. Each statement resolves in the same turn, so many of them, one after the other, would
 * otherwise block everything else in the thread.
 */
function createTurns(): () => Promise<void> {
  let begun: number | undefined
  const turn = (): Promise<void> =>
    new Promise((resume) => {
      setImmediate(resume)
    })
  return async () => {
    const now = performance.now()
    if (begun === undefined) {
      begun = now
      setImmediate(() => (begun = undefined))
    } else if (now - begun > TURN_MS) await turn()
  }
}

/** Runs the first statement, which fails if the file is not a database. */
function openLog(connection: DatabaseSync, file: string, synchronous: 'normal' | 'full'): void {
  try {
    connection.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`)
  } catch (error) {
    connection.close()
    throw toThrown(error, file)
  }
}

/**
 * Opens or creates the SQLite database in `file` (mode 0600; `:memory:` for tests), in WAL mode with foreign keys on.
 * Statements run on the calling thread, so they must be short; 4 to 18 µs each were measured. Transactions run one at a
 * time, whatever their lock. Statements with large `bytes` run in the threads of `large`, if it is given.
 */
export function openSqlite(file: string, options: SqliteOptions = {}, large?: LargeValues): Database {
  const { checkpointPages, readOnly = false, waitMs = 0 } = options
  const connection = new DatabaseSync(file, {
    timeout: BUSY_TIMEOUT_MS,
    enableForeignKeyConstraints: true,
    readOnly,
  })
  if (file !== ':memory:' && !readOnly) chmodSync(file, 0o600)
  if (!readOnly) openLog(connection, file, options.synchronous ?? 'normal')
  if (checkpointPages !== undefined) connection.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
  connection.exec(`PRAGMA busy_timeout = ${waitMs}`)
  const session = createSession(connection, file)
  /** The end of the transaction that was requested last; `lastHere` is the same for transactions on this connection. */
  let lastTx: Promise<unknown> | undefined
  let lastHere: Promise<unknown> | undefined
  const readInThread = oneByOne()
  const nextTurn = createTurns()

  const runTx = async <T>(work: (session: TxSession) => Promise<T>): Promise<T> => {
    await retryWhileBusy(() => session.query('BEGIN IMMEDIATE'))
    try {
      const result = await work(session)
      await session.query('COMMIT')
      return result
    } catch (error) {
      if (connection.isTransaction) connection.exec('ROLLBACK')
      throw error
    }
  }

  return {
    dialect: 'sqlite',
    async query<Row>(sql: string, params: readonly SqlParam[] = [], bytes = 0): Promise<Row[]> {
      if (large !== undefined && bytes > LARGE_BYTES)
        return await readInThread<Row[]>(large.reads, { kind: 'query', tx: null, sql, params })
      return await retryWhileBusy(async () => {
        await nextTurn()
        while (lastHere !== undefined) await lastHere
        return await session.query<Row>(sql, params)
      })
    },
    async tx(_lock, work, bytes = 0) {
      const before = lastTx ?? Promise.resolve()
      const inThread = large !== undefined && bytes > LARGE_BYTES
      const mine = before.then(() => (inThread ? txInThread(large.writes, work) : runTx(work)))
      const settled = mine.then(nothing, nothing)
      lastTx = settled
      if (!inThread) lastHere = settled
      try {
        return await mine
      } finally {
        if (lastTx === settled) lastTx = undefined
        if (lastHere === settled) lastHere = undefined
      }
    },
    async close() {
      while (lastTx !== undefined) await lastTx
      // The connection that is closed last copies the log into the database, and deletes it.
      await Promise.all([large?.reads.close(), large?.writes.close()])
      if (connection.isOpen) connection.close()
    },
  }
}

function nothing(): void {
  // Later transactions wait only for the end of this one; the caller of this transaction gets its error.
}
