import { createHash } from 'node:crypto'
import type pg from 'pg'
import { AppError } from '../../../base/errors.ts'
import { retry } from '../../../base/retry.ts'
import { type Database, type SqlValue, storableParams, type TxSession } from './database.ts'
import { nodePostgres } from './postgres/pg.ts'
import { createConnectionQueue } from './postgres/take-connection.ts'
import { openTransaction } from './postgres/transaction.ts'

export interface PostgresOptions {
  /** Time limit of a statement, including its wait for locks. Default 30,000. */
  statementTimeoutMs?: number
  /** Maximum size of the connection pool; default 10. */
  connections?: number
  /**
   * A connection counts as lost if there is no answer for this time after the server's own time limit. Default 5,000.
   */
  silenceMs?: number
}

const CONNECT_TIMEOUT_MS = 5_000
const DEFAULTS = { connections: 10, statementTimeoutMs: 30_000, silenceMs: 5_000 }
/** Postgres ends a transaction that is idle for this time, so that a stalled process does not hold a lock for long. */
const IDLE_TRANSACTION_MS = 30_000
const MAX_STATEMENTS = 200
const MAX_ATTEMPTS = 5

const NOT_UNIQUE = '23505'
/** Codes of serialization failure and deadlock, after which the transaction runs again. */
const REPEATABLE = new Set(['40001', '40P01'])
const DISK_FULL = '53100'
/**
 * Codes for errors of connections, lack of resources, intervention by the operator, and a transaction that was idle for
 * too long.
 */
const UNAVAILABLE = /^(08|53|57|25P03)/
/** The error for the caller. Every error that Postgres itself did not send counts as a lost connection. */
function toThrown(error: unknown): unknown {
  if (!(error instanceof nodePostgres().DatabaseError))
    return new AppError('store_unavailable', { cause: error })
  const code = error.code ?? ''
  if (code === NOT_UNIQUE) return new AppError('conflict', { cause: error })
  if (code === DISK_FULL) {
    return new AppError('disk_full', { message: 'The disk of the Postgres server is full.', cause: error })
  }
  return UNAVAILABLE.test(code) ? new AppError('store_unavailable', { cause: error }) : error
}

function isRepeatable(error: unknown): boolean {
  return error instanceof nodePostgres().DatabaseError && REPEATABLE.has(error.code ?? '')
}

/** Runs `work`, and repeats it if Postgres aborts it in favour of another transaction, up to MAX_ATTEMPTS times. */
async function repeating<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await retry(work, {
      pauses: [0],
      mayRetry: (error, failures) => isRepeatable(error) && failures < MAX_ATTEMPTS,
    })
  } catch (error) {
    throw isRepeatable(error) ? new AppError('store_unavailable', { cause: error }) : error
  }
}

function isLost(error: unknown): boolean {
  return error instanceof AppError && error.code === 'store_unavailable'
}

const PLACEHOLDERS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\?/g

/** Replaces each `?` by `$1`, `$2`, …, except in quotes and comments. */
export function numberPlaceholders(sql: string): string {
  let count = 0
  return sql.replace(PLACEHOLDERS, (part) => (part === '?' ? `$${++count}` : part))
}

interface Statement {
  text: string
  /** Name of the statement; Postgres parses and plans a named statement once per connection. */
  name?: string
}

/**
 * Returns a function that converts statements to Postgres's form, with a cache. Most statements are fixed texts. The
 * cache is limited because some are built from lists.
 */
function createStatements(): (sql: string) => Statement {
  const statements = new Map<string, Statement>()
  return (sql) => {
    const known = statements.get(sql)
    if (known !== undefined) return known
    const text = numberPlaceholders(sql)
    if (statements.size >= MAX_STATEMENTS || text === sql) return { text }
    const statement = { text, name: `weir_${statements.size}` }
    statements.set(sql, statement)
    return statement
  }
}

/** The key of the advisory lock for a lock name: 64 bits of its hash, signed. */
function lockNumber(lock: string): bigint {
  return createHash('sha256').update(`weir:${lock}`).digest().readBigInt64BE()
}

/** Returns a function that runs work of the same lock one after the other, and work of different locks in parallel. */
function createQueues(): <T>(lock: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return async (lock, work) => {
    const mine = (last.get(lock) ?? Promise.resolve()).then(work)
    const settled = mine.catch(() => undefined)
    last.set(lock, settled)
    try {
      return await mine
    } finally {
      if (last.get(lock) === settled) last.delete(lock)
    }
  }
}

function ignore(): void {
  // The connection is lost. The next statement on it fails with the error.
}

/** Type parsers with which counts and sums become numbers, as with SQLite. */
export function numberTypes(): pg.TypeOverrides {
  const { TypeOverrides, types } = nodePostgres()
  const overrides = new TypeOverrides()
  overrides.setTypeParser(types.builtins.INT8, Number)
  overrides.setTypeParser(types.builtins.NUMERIC, Number)
  return overrides
}

function createPool(
  url: string,
  { statementTimeoutMs, connections, silenceMs }: Required<PostgresOptions>,
): pg.Pool {
  const { Pool } = nodePostgres()
  const pool = new Pool({
    connectionString: url,
    types: numberTypes(),
    max: connections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
    query_timeout: statementTimeoutMs + silenceMs,
    keepAlive: true,
    // Statements are sent without waiting for the answers to earlier ones.
    pipeline: true,
    application_name: 'weir',
  })
  pool.on('error', ignore)
  pool.on('connect', (client) => client.on('error', ignore))
  return pool
}

/**
 * Opens a pool of connections to the Postgres database at `url`. The first connection is opened for the first
 * statement, and lost connections are replaced when needed. Work waits for a free connection. Transactions are READ
 * COMMITTED and hold an advisory lock up to their end. Transactions of the same process wait for the lock before they
 * take a connection.
 */
export function openPostgres(url: string, options: PostgresOptions = {}): Database {
  const limits = { ...DEFAULTS, ...options }
  const { connections: size, statementTimeoutMs, silenceMs } = limits
  const pool = createPool(url, limits)
  const statementOf = createStatements()
  const queued = createQueues()
  const queue = createConnectionQueue(pool, { size, patienceMs: statementTimeoutMs + silenceMs })
  let closed: Promise<void> | undefined

  const withClient = async <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    const client = await queue.take()
    let lost = false
    try {
      return await work(client)
    } catch (error) {
      lost = isLost(error)
      throw error
    } finally {
      queue.give(client, lost)
    }
  }
  const run = async (
    client: pg.PoolClient,
    sql: string,
    params: readonly SqlValue[],
  ): Promise<pg.QueryResult> => {
    const values = storableParams(params)
    try {
      return await client.query({ ...statementOf(sql), values })
    } catch (error) {
      throw toThrown(error)
    }
  }
  const attempt = <T>(lock: string, work: (session: TxSession) => Promise<T>): Promise<T> =>
    withClient(async (client) => {
      const transaction = openTransaction(client, (sql, params) => run(client, sql, params))
      try {
        transaction.session.send(`BEGIN; SELECT pg_advisory_xact_lock(${lockNumber(lock)})`)
        const result = await work(transaction.session)
        await transaction.commit()
        return result
      } catch (error) {
        if (!isLost(error)) await run(client, 'ROLLBACK', [])
        throw error
      }
    })

  return {
    dialect: 'postgres',
    query: <Row>(sql: string, params: readonly SqlValue[] = []) =>
      repeating(() => withClient(async (client) => (await run(client, sql, params)).rows as Row[])),
    tx: (lock, work) => queued(lock, () => repeating(() => attempt(lock, work))),
    close: () => (closed ??= pool.end()),
  }
}
