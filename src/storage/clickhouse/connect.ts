import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import {
  type ClickHouseClient,
  ClickHouseLogLevel,
  createClient,
  type Logger as ClientLogger,
} from '@clickhouse/client'
import { CLUSTER_SETTINGS, onCluster } from './on-cluster.ts'
import { toStoreError } from './store-error.ts'

/** Where a ClickHouse is and how long one statement may take there. */
export interface ClickHouseOptions {
  /** `http://` or `https://`, with a port and without a path; user and password may be in it. */
  readonly url: string
  readonly username?: string
  readonly password?: string
  readonly database: string
  /** For every statement, in seconds; default 30. */
  readonly maxExecutionSeconds?: number
  /** Name of the cluster of replicas that the server is one of: statements are run so that they agree. */
  readonly cluster?: string
  /** Simultaneous requests; further ones wait. Default 16. */
  readonly maxConnections?: number
}

/** Values for the `{name:Type}` places of a statement; ClickHouse binds them, they never become SQL. */
export type SqlParams = Readonly<Record<string, unknown>>

/** What a single statement may ask for besides. */
export interface StatementOptions {
  readonly params?: SqlParams
  readonly settings?: Readonly<Record<string, string | number>>
  readonly signal?: AbortSignal
}

/** An insert of ready bytes. */
export interface InsertBytes {
  /** Table name as in SQL. */
  readonly table: string
  /** The columns that the rows hold, in their order. */
  readonly columns: readonly string[]
  /** Whole rows in the format, in any number of pieces. */
  readonly body: Uint8Array | readonly Uint8Array[]
  /** Default RowBinary. */
  readonly format?: 'RowBinary' | 'JSONEachRow'
  readonly settings?: Readonly<Record<string, string | number>>
  readonly signal?: AbortSignal
}

/**
 * One database of a ClickHouse, embedded or not: the only way in which the product talks to it. Every method
 * rejects with an AppError: `store_unavailable` when trying again later may help, else `internal`.
 */
export interface ClickHouse {
  readonly database: string
  /** Of ClickHouseOptions. */
  readonly cluster: string | undefined
  /** True when the server answers. Never rejects. */
  ping(): Promise<boolean>
  /** The rows of a SELECT without FORMAT clause, parsed from JSONEachRow; 64-bit integers as numbers (toString() keeps all digits). */
  rows<Row>(sql: string, options?: StatementOptions): Promise<Row[]>
  /** The result of a SELECT in RowBinary, whole. The parameters may take 700 KB as text. */
  rowBinary(sql: string, options?: StatementOptions): Promise<Buffer>
  /** Resolves when ClickHouse has confirmed the rows; nothing is sent when the body is empty. */
  insert(insert: InsertBytes): Promise<void>
  /** Any statement without a result. */
  command(sql: string, options?: StatementOptions): Promise<void>
  /** Creates the database when it is not there. */
  createDatabase(): Promise<void>
  close(): Promise<void>
}

/** Longer than any statement may take, so that the server's word comes before ours. */
const ANSWER_GRACE_MS = 5_000
/** Below the idle time after which servers close a connection (ClickHouse: 10 s, embedded: 15 s). */
const IDLE_SOCKET_MS = 2_500
const CREATE_DATABASE = 'CREATE DATABASE IF NOT EXISTS {name:Identifier}'
const COLUMN_NAME = /^[A-Za-z_]\w*$/

/** Prepares the connection; nothing is sent before the first statement. Throws for a URL that is none. */
export function connectClickHouse(options: ClickHouseOptions): ClickHouse {
  const client = openClient(options, options.database)

  async function exec(query: string, asked: StatementOptions, values?: Readable): Promise<Buffer> {
    try {
      const result = await client.exec({ query, ...statementParams(asked), ...(values && { values }) })
      return await buffer(result.stream)
    } catch (error) {
      throw toStoreError(error)
    }
  }

  return {
    database: options.database,
    cluster: options.cluster,
    async ping() {
      const result = await client.ping().catch(() => ({ success: false }))
      return result.success
    },
    async rows<Row>(query: string, asked: StatementOptions = {}) {
      try {
        const result = await client.query({ query, format: 'JSONEachRow', ...statementParams(asked) })
        return await result.json<Row>()
      } catch (error) {
        throw toStoreError(error)
      }
    },
    rowBinary(sql, asked = {}) {
      // A server that fails half-way then answers with the error alone; the embedded engine cuts the connection.
      const settings = { ...asked.settings, wait_end_of_query: 1 }
      return exec(`${sql}\nFORMAT RowBinary`, { ...asked, settings })
    },
    async insert(insert) {
      const pieces = insert.body instanceof Uint8Array ? [insert.body] : insert.body
      if (pieces.every((piece) => piece.length === 0)) return
      await exec(insertSql(insert), insert, Readable.from(pieces, { objectMode: false }))
    },
    async command(query, asked = {}) {
      try {
        await client.command({ query, ...statementParams(asked) })
      } catch (error) {
        throw toStoreError(error)
      }
    },
    async createDatabase() {
      const outside = openClient(options, 'default')
      try {
        await outside.command({
          query: options.cluster ? onCluster(CREATE_DATABASE, options.cluster) : CREATE_DATABASE,
          query_params: { name: options.database },
        })
      } catch (error) {
        throw toStoreError(error)
      } finally {
        await outside.close()
      }
    },
    close: () => client.close(),
  }
}

class SilentLogger implements ClientLogger {
  trace(): void {}
  debug(): void {}
  info(): void {}
  warn(): void {}
  error(): void {}
}

function openClient(options: ClickHouseOptions, database: string): ClickHouseClient {
  const seconds = options.maxExecutionSeconds ?? 30
  return createClient({
    url: options.url,
    database,
    application: 'weir',
    ...(options.username !== undefined && { username: options.username }),
    ...(options.password !== undefined && { password: options.password }),
    max_open_connections: options.maxConnections ?? 16,
    request_timeout: seconds * 1000 + ANSWER_GRACE_MS,
    keep_alive: { enabled: true, idle_socket_ttl: IDLE_SOCKET_MS, eagerly_destroy_stale_sockets: true },
    // Measured: compressing for a server on the same machine is a third of an insert's cost.
    compression: { request: false, response: false },
    clickhouse_settings: {
      max_execution_time: seconds,
      output_format_json_quote_64bit_integers: 0,
      ...(options.cluster && CLUSTER_SETTINGS),
    },
    // Every failure reaches the caller as an error, who logs it once. Some warnings heed no level.
    log: { level: ClickHouseLogLevel.OFF, LoggerClass: SilentLogger },
  })
}

function statementParams(asked: StatementOptions) {
  return {
    ...(asked.params !== undefined && { query_params: { ...asked.params } }),
    ...(asked.settings !== undefined && { clickhouse_settings: { ...asked.settings } }),
    ...(asked.signal !== undefined && { abort_signal: asked.signal }),
  }
}

function insertSql(insert: InsertBytes): string {
  const wrong = insert.columns.find((name) => !COLUMN_NAME.test(name))
  if (wrong !== undefined) throw new TypeError(`not a column name: ${wrong}`)
  return `INSERT INTO ${insert.table} (${insert.columns.join(', ')}) FORMAT ${insert.format ?? 'RowBinary'}`
}
