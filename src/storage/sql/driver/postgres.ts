import { createHash } from 'node:crypto'
import pg from 'pg'
import { AppError } from '../../../base/errors.ts'
import { retry } from '../../../base/retry.ts'
import { type Database, type SqlSession, type SqlValue, storableParams } from './database.ts'

export interface PostgresOptions {
  /** Time limit of a statement, including its wait for locks. Default 30,000. */
  statementTimeoutMs?: number
  /** Maximum size of the connection pool; default 10. */
  connections?: number
}

const POOL_SIZE = 10
const CONNECT_TIMEOUT_MS = 5_000
const STATEMENT_TIMEOUT_MS = 30_000
/** The server ends a transaction that is idle for this long: no lock outlives a stalled process. */
const IDLE_TRANSACTION_MS = 30_000
/** Time beyond the server's own limit after which a connection without an answer counts as lost. */
const SILENCE_MS = 5_000
const MAX_STATEMENTS = 200
const MAX_ATTEMPTS = 5

const NOT_UNIQUE = '23505'
/** Serialization failure and deadlock: the transaction may run again. */
const REPEATABLE = new Set(['40001', '40P01'])
const DISK_FULL = '53100'
/** Connection, resources and operator's intervention; a transaction that idled for too long. */
const UNAVAILABLE = /^(08|53|57|25P03)/
/** The error for the caller: everything except an error of the server about a statement counts as a lost connection. */
function toThrown(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return new AppError('store_unavailable', { cause: error })
  const code = error.code ?? ''
  if (code === NOT_UNIQUE) return new AppError('conflict', { cause: error })
  if (code === DISK_FULL) {
    return new AppError('disk_full', { message: 'The disk of the Postgres server is full.', cause: error })
  }
  return UNAVAILABLE.test(code) ? new AppError('store_unavailable', { cause: error }) : error
}

function isRepeatable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && REPEATABLE.has(error.code ?? '')
}

/** Runs `work` again while Postgres ends it in favour of other transactions. */
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

/** Replaces each `?` by `$1`, `$2`, …, except in quotes and comments. */
export function numberPlaceholders(sql: string): string {
  let count = 0
  return sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\?/g, (part) =>
    part === '?' ? `$${++count}` : part,
  )
}

interface Statement {
  text: string
  /** Named statements are parsed and planned once per connection. */
  name?: string
}

/** Statements in Postgres's form, cached. They are few and fixed; the limit is for those built from lists. */
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

/** The number of a lock in Postgres: 64 bits of a hash, signed. */
function lockNumber(lock: string): bigint {
  return createHash('sha256').update(`weir:${lock}`).digest().readBigInt64BE()
}

/** Runs the work of one lock one after the other, and that of different locks in parallel. */
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
  // A lost connection is reported by the statement that needs it.
}

function createPool(url: string, { statementTimeoutMs, connections }: Required<PostgresOptions>): pg.Pool {
  const types = new pg.TypeOverrides()
  // Counts and sums as numbers, as with SQLite.
  types.setTypeParser(pg.types.builtins.INT8, Number)
  types.setTypeParser(pg.types.builtins.NUMERIC, Number)
  const pool = new pg.Pool({
    connectionString: url,
    types,
    max: connections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
    query_timeout: statementTimeoutMs + SILENCE_MS,
    keepAlive: true,
    application_name: 'weir',
  })
  pool.on('error', ignore)
  pool.on('connect', (client) => client.on('error', ignore))
  return pool
}

/**
 * Opens a pool of connections to the Postgres database at `url`, the first one with the first statement; lost ones are
 * replaced when they are next needed. Transactions are READ COMMITTED with a transaction-scoped advisory lock; those of
 * one process queue before they take a connection.
 */
export function openPostgres(url: string, options: PostgresOptions = {}): Database {
  const { statementTimeoutMs = STATEMENT_TIMEOUT_MS, connections = POOL_SIZE } = options
  const pool = createPool(url, { statementTimeoutMs, connections })
  const statementOf = createStatements()
  const queued = createQueues()
  let closed: Promise<void> | undefined

  const withClient = async <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect().catch((cause: unknown) => {
      throw new AppError('store_unavailable', { cause })
    })
    let lost = false
    try {
      return await work(client)
    } catch (error) {
      lost = isLost(error)
      throw error
    } finally {
      client.release(lost)
    }
  }
  const run = async (
    client: pg.PoolClient,
    sql: string,
    params: readonly SqlValue[],
  ): Promise<pg.QueryResult> => {
    try {
      return await client.query({ ...statementOf(sql), values: storableParams(params) })
    } catch (error) {
      throw toThrown(error)
    }
  }
  const attempt = <T>(lock: string, work: (session: SqlSession) => Promise<T>): Promise<T> =>
    withClient(async (client) => {
      try {
        await run(client, `BEGIN; SELECT pg_advisory_xact_lock(${lockNumber(lock)})`, [])
        const result = await work({
          query: async <Row>(sql: string, params: readonly SqlValue[] = []) =>
            (await run(client, sql, params)).rows as Row[],
        })
        const { command } = await run(client, 'COMMIT', [])
        if (command !== 'COMMIT') throw new TypeError('a transaction went on after a statement had failed')
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
