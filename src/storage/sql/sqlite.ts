import { chmodSync } from 'node:fs'
import { basename } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../../base/errors.ts'
import { type Database, type SqlSession, type SqlValue, storableParams } from './database.ts'

/** How much a commit waits for: `normal` survives the death of the process, `full` a power cut too (D-9). */
export interface SqliteOptions {
  synchronous?: 'normal' | 'full'
  /**
   * Pages of the log after which a commit of this connection also moves them into the database, which waits for the
   * disk. Default: SQLite's own.
   */
  checkpointPages?: number
  /** The file is there, and is read only, beside others that write. */
  readOnly?: boolean
}

/** Statements are few and fixed; the bound is for the day one is built from text. */
const MAX_STATEMENTS = 200
const BUSY_TIMEOUT_MS = 5000
/** The longest pause before it is tried again. */
const MAX_PAUSE_MS = 8
const SQLITE_BUSY = 5
/** SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY. */
const NOT_UNIQUE = new Set([2067, 1555])
/** SQLITE_BUSY and SQLITE_IOERR, whatever more the upper bits say. */
const UNAVAILABLE = new Set([5, 10])
/** SQLITE_FULL, and SQLITE_IOERR_SHMSIZE: the index of the log cannot grow. */
const FULL = new Set([13, 4874])
const SQLITE_READONLY = 8
/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGED = new Set([11, 26])

function damaged(file: string, cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : 'it cannot be read'
  return new AppError('data_dir_unusable', {
    message: `${file} is damaged (${reason}). Stop the server, move the file and those named ${basename(file)}-wal and ${basename(file)}-shm away, and put the file back from a backup; sqlite3 with .recover may save what is left in it.`,
    cause,
  })
}

function toThrown(error: unknown, file: string): unknown {
  const errcode = (error as { errcode?: unknown }).errcode
  if (typeof errcode !== 'number') return error
  if (DAMAGED.has(errcode & 0xff)) return damaged(file, error)
  if (NOT_UNIQUE.has(errcode)) return new AppError('conflict', { cause: error })
  if (FULL.has(errcode)) return new AppError('disk_full', { cause: error })
  if ((errcode & 0xff) === SQLITE_READONLY) return new AppError('disk_unwritable', { cause: error })
  return UNAVAILABLE.has(errcode & 0xff) ? new AppError('store_unavailable', { cause: error }) : error
}

function isBusy(error: unknown): boolean {
  const cause = error instanceof AppError ? (error.cause as { errcode?: unknown } | undefined) : undefined
  return typeof cause?.errcode === 'number' && (cause.errcode & 0xff) === SQLITE_BUSY
}

/** Waits while another process writes. SQLite's own waiting would hold up the thread, and with it all who ask for else. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + BUSY_TIMEOUT_MS
  for (let pause = 1; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
    try {
      return await work()
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error
    }
    await delay(pause)
  }
}

function createSession(connection: DatabaseSync, file: string): SqlSession {
  const statements = new Map<string, StatementSync>()
  const prepare = (sql: string): StatementSync => {
    const known = statements.get(sql)
    if (known !== undefined) return known
    if (statements.size >= MAX_STATEMENTS) statements.clear()
    const statement = connection.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  return {
    async query<Row>(sql: string, params: readonly SqlValue[] = []): Promise<Row[]> {
      try {
        return prepare(sql).all(...storableParams(params)) as Row[]
      } catch (error) {
        throw toThrown(error, file)
      }
    },
  }
}

/** The first statement: a file that is no database shows here. */
function openLog(connection: DatabaseSync, file: string, synchronous: 'normal' | 'full'): void {
  try {
    connection.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`)
  } catch (error) {
    connection.close()
    throw toThrown(error, file)
  }
}

/**
 * Opens or creates the SQLite database in `file` (mode 0600; `:memory:` for tests), in WAL mode with foreign
 * keys on. Statements run on the calling thread: 4 to 18 µs each as measured, so keep them small. Transactions run
 * one at a time whatever their lock.
 */
export function openSqlite(file: string, options: SqliteOptions = {}): Database {
  const { checkpointPages, readOnly = false } = options
  const connection = new DatabaseSync(file, {
    timeout: BUSY_TIMEOUT_MS,
    enableForeignKeyConstraints: true,
    readOnly,
  })
  if (file !== ':memory:' && !readOnly) chmodSync(file, 0o600)
  if (!readOnly) openLog(connection, file, options.synchronous ?? 'normal')
  if (checkpointPages !== undefined) connection.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
  connection.exec('PRAGMA busy_timeout = 0')
  const session = createSession(connection, file)
  let lastTx: Promise<unknown> | undefined

  const runTx = async <T>(work: (session: SqlSession) => Promise<T>): Promise<T> => {
    await patiently(() => session.query('BEGIN IMMEDIATE'))
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
    async query<Row>(sql: string, params?: readonly SqlValue[]): Promise<Row[]> {
      return await patiently(async () => {
        while (lastTx !== undefined) await lastTx
        return await session.query<Row>(sql, params)
      })
    },
    async tx(_lock, work) {
      const before = lastTx
      const mine = (before ?? Promise.resolve()).then(() => runTx(work))
      const settled = mine.then(
        () => undefined,
        () => undefined,
      )
      lastTx = settled
      try {
        return await mine
      } finally {
        if (lastTx === settled) lastTx = undefined
      }
    },
    async close() {
      while (lastTx !== undefined) await lastTx
      if (connection.isOpen) connection.close()
    },
  }
}
