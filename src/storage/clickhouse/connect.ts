import type { ClientRequest } from 'node:http'
import { addAbortSignal, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import {
  type ClickHouseClient,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
  type ExecParams,
  type Logger as ClientLogger,
} from '@clickhouse/client'
import { AppError } from '../../base/errors.ts'
import { retry } from '../../base/retry.ts'
import { insertedTable, type InsertTurns } from './cluster/insert-turns.ts'
import { type Layout, LAYOUT_SETTINGS, schemaStatements, SINGLE, statementOn } from './cluster/layout.ts'
import { newRowsFile, removeRowsFile, ROWS_FILE_HEADER, saveRows } from './embedded/requests/rows-file.ts'
import { queryForm } from './query-form.ts'
import { clickHouseCode, isReset, refusalError, toStoreError } from './store-error.ts'
import { assertWholeNumber } from '../whole-number.ts'

export interface ClickHouseOptions {
  /** `http://` or `https://`, with a port and without a path; it may contain user and password. */
  readonly url: string
  readonly username?: string
  readonly password?: string
  readonly database: string
  /**
   * Time limit of every statement in seconds; default 30. Twice this time is the limit of a whole request: waiting for a
   * connection, sending, executing, and reading the response.
   */
  readonly maxExecutionSeconds?: number
  /** Default: a single server. */
  readonly layout?: Layout
  /** Undefined where simultaneous inserts into a table are possible. */
  readonly turns?: InsertTurns | undefined
  /** A folder from which the embedded engine reads the rows of large inserts; default: all are sent. */
  readonly rowsFolder?: string
  /** Simultaneous requests; further ones wait. Default 16. */
  readonly maxConnections?: number
}

/** Values for the `{name:Type}` places of a statement; ClickHouse binds them, so they are never parsed as SQL. */
export type SqlParams = Readonly<Record<string, unknown>>

export interface StatementOptions {
  readonly params?: SqlParams
  readonly settings?: Readonly<Record<string, string | number>>
  readonly signal?: AbortSignal
}

export interface InsertBytes {
  /** Table name as in SQL. */
  readonly table: string
  /** The columns of the rows, in their order. */
  readonly columns: readonly string[]
  /** The encoded rows, in any number of pieces; each piece contains whole rows. */
  readonly body: Uint8Array | readonly Uint8Array[]
  /** Default RowBinary. */
  readonly format?: 'RowBinary' | 'JSONEachRow' | 'TabSeparated'
  readonly settings?: Readonly<Record<string, string | number>>
  readonly signal?: AbortSignal
}

/**
 * One database of a ClickHouse server or of the embedded engine. All statements of Weir go through it. Every method
 * rejects with an AppError: `store_unavailable` when trying again later may help, else `internal`. A read is sent once
 * more if its connection is reset before the response begins.
 */
export interface ClickHouse {
  readonly database: string
  readonly layout: Layout
  /** True when the server answers. Never rejects. */
  ping(): Promise<boolean>
  /**
   * The rows of a SELECT without FORMAT clause, parsed from JSONEachRow; 64-bit integers as numbers (toString() keeps
   * all digits).
   */
  rows<Row>(sql: string, options?: StatementOptions): Promise<Row[]>
  /**
   * As `rows`, outside of the database, which may not exist yet, and with no settings, which an old server may not
   * know.
   */
  serverRows<Row>(sql: string, params?: SqlParams): Promise<Row[]>
  /** The whole result of a SELECT in RowBinary. */
  rowBinary(sql: string, options?: StatementOptions): Promise<Buffer>
  /**
   * The rows of a SELECT without FORMAT clause as lines of TabSeparated, while they are read. The time limit of
   * statements does not apply. If the read fails, a server may end the stream with the text of the error instead of a
   * row.
   */
  lines(sql: string): Promise<Readable>
  /** Resolves when ClickHouse has confirmed the rows; an empty body sends nothing. */
  insert(insert: InsertBytes): Promise<void>
  /** Executes a statement without a result. With shards, a change of rows is made on each of them. */
  command(sql: string, options?: StatementOptions): Promise<void>
  /** Creates the database if it does not exist. */
  createDatabase(): Promise<void>
  close(): Promise<void>
}

/**
 * Milliseconds that the client waits beyond the time limit of statements, so that the server's own timeout comes first.
 */
const ANSWER_GRACE_MS = 5_000
/**
 * Pause before a read is sent again. During the pause, the client drops other connections that the server has closed.
 */
const AGAIN_MS = 10
/** Idle time of a connection: below the time after which servers close it (ClickHouse: 10 s, embedded: 15 s). */
const IDLE_SOCKET_MS = 2_500
/**
 * Settings of every statement. They override the profile of the ClickHouse user, which could change when an insert is
 * confirmed and what a later read returns. Deduplication is off, so that a block that equals an earlier one is inserted
 * too: marks of usage may repeat.
 */
const PINNED_SETTINGS = {
  async_insert: 0,
  wait_for_async_insert: 1,
  insert_deduplicate: 0,
  select_sequential_consistency: '1',
} as const
/** The code by which a cluster refuses an insert while another one awaits its quorum; nothing is inserted then. */
const QUORUM_BUSY = 286
/** Milliseconds until such an insert is sent again, and how often that is done. */
const BUSY_MS = 100
const MAX_BUSY = 20
/** An exception of ClickHouse has some hundred bytes, or more when it quotes a statement. */
const MAX_ERROR_BYTES = 64 * 1024
const CREATE_DATABASE = 'CREATE DATABASE IF NOT EXISTS {name:Identifier}'
/** Integers and times, also in arrays. */
const WHOLE_TYPE = /\b(U?Int\d+|DateTime(64)?)\b/
/** Bytes of an insert from which a file is cheaper than sending them. */
const LARGE_INSERT = 256 * 1024
const COLUMN_NAME = /^[A-Za-z_]\w*$/

/** Creates the client; the first statement opens a connection. Throws for an invalid URL. */
export function connectClickHouse(options: ClickHouseOptions): ClickHouse {
  const connection = openConnection(options, settingsOf(options))
  const { client } = connection
  const { database, layout = SINGLE } = options

  return {
    database,
    layout,
    ping: async () => (await client.ping().catch(() => ({ success: false }))).success,
    rows: <Row>(sql: string, asked: StatementOptions = {}) =>
      readRows<Row>(connection, statementOn(layout, sql), asked),
    serverRows: <Row>(sql: string, params?: SqlParams) =>
      outside(options, {}, (server) => readRows<Row>(server, sql, params && { params })),
    rowBinary: (sql, asked = {}) =>
      readWhole(connection, `${statementOn(layout, sql)}\nFORMAT RowBinary`, asked),
    async lines(sql) {
      try {
        const asked = { settings: { max_execution_time: 0 } }
        return await sendRead(() => send(client, `${statementOn(layout, sql)}\nFORMAT TabSeparated`, asked))
      } catch (error) {
        throw toStoreError(error)
      }
    },
    async insert(insert) {
      const pieces = insert.body instanceof Uint8Array ? [insert.body] : insert.body
      if (pieces.every((piece) => piece.length === 0)) return
      const query = insertSql(insert)
      const { rowsFolder } = options
      const isLarge = pieces.reduce((sum, { length }) => sum + length, 0) >= LARGE_INSERT
      const work = (): Promise<void> =>
        rowsFolder !== undefined && isLarge
          ? insertFile(connection, { insert, pieces, query, rowsFolder })
          : insertBody(connection, { insert, pieces, query })
      try {
        await inTurn(options.turns, query, work)
      } catch (error) {
        throw toStoreError(error)
      }
    },
    async command(sql, asked = {}) {
      assertWholeParams(sql, asked.params)
      try {
        const work = (): Promise<unknown> =>
          wholeAnswer(connection, asked.signal, (signal) =>
            send(client, statementOn(layout, sql), { ...asked, signal }),
          )
        await inTurn(options.turns, sql, work)
      } catch (error) {
        throw toStoreError(error)
      }
    },
    async createDatabase() {
      const params = { name: database }
      await outside(options, settingsOf(options), async (server) => {
        for (const sql of schemaStatements(CREATE_DATABASE, { layout, database }))
          await wholeAnswer(server, undefined, (signal) => send(server.client, sql, { params, signal }))
      })
    },
    close: () => client.close(),
  }
}

interface InsertRequest {
  readonly insert: InsertBytes
  readonly pieces: readonly Uint8Array[]
  readonly query: string
}

async function insertBody(connection: Connection, { insert, pieces, query }: InsertRequest): Promise<void> {
  await wholeAnswer(connection, insert.signal, (signal) => {
    const values = Readable.from(pieces, { objectMode: false })
    return execute(connection.client, { query, ...clientOptions({ ...insert, signal }), values })
  })
}

/** Inserts through a file, which the embedded engine reads. */
async function insertFile(
  connection: Connection,
  { insert, pieces, query, rowsFolder }: InsertRequest & { readonly rowsFolder: string },
): Promise<void> {
  const file = newRowsFile()
  try {
    await saveRows(rowsFolder, file, [pieces])
    await wholeAnswer(connection, insert.signal, (signal) => {
      const http_headers = { [ROWS_FILE_HEADER]: file }
      return execute(connection.client, { query, ...clientOptions({ ...insert, signal }), http_headers })
    })
  } finally {
    await removeRowsFile(rowsFolder, file)
  }
}

/** Executes an insert in its turn, and other statements at once. */
async function inTurn(
  turns: InsertTurns | undefined,
  sql: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const table = turns && insertedTable(sql)
  if (turns === undefined || table === undefined) {
    await work()
    return
  }
  // Another server may insert without a turn, or the quorum of an insert whose server has ended is still awaited.
  const mayRetry = (error: unknown, failures: number): boolean =>
    clickHouseCode(error) === QUORUM_BUSY && failures <= MAX_BUSY
  await turns.take(table, async () => void (await retry(work, { pauses: [BUSY_MS], mayRetry })))
}

/**
 * Sends a request and reads its whole response, within the connection's limit. The client's own timeouts apply only while
 * nothing moves on an open socket, and not while a request waits for one.
 */
async function wholeAnswer(
  { limitMs }: Connection,
  left: AbortSignal | undefined,
  ask: (signal: AbortSignal) => Promise<Readable>,
): Promise<Buffer> {
  const limit = AbortSignal.timeout(limitMs)
  const signal = left === undefined ? limit : AbortSignal.any([limit, left])
  try {
    return await buffer(addAbortSignal(signal, await ask(signal)))
  } catch (cause) {
    if (!limit.aborted) throw cause
    const message = `ClickHouse did not answer within ${limitMs / 1000} s.`
    throw new AppError('store_unavailable', { message, cause })
  }
}

/** Sends a statement without data; resolves with the response's body when that begins. */
async function send(client: ClickHouseClient, sql: string, asked: StatementOptions): Promise<Readable> {
  const options = clientOptions(asked)
  if (asked.params === undefined) return await execute(client, { query: sql, ...options })
  const { type, body } = queryForm(sql, asked.params)
  const values = Readable.from([body], { objectMode: false })
  return await execute(client, { query: '', values, ...options, http_headers: { 'Content-Type': type } })
}

/** The responses of the client are those of node:http, which have their request. */
interface HttpAnswer extends Readable {
  readonly req?: ClientRequest
}

/** Sends a request; resolves with the response's body when that begins. Rejects for a response other than 2xx. */
async function execute(
  client: ClickHouseClient,
  params: ExecParams & { values?: Readable },
): Promise<Readable> {
  const asked = { ...params, ignore_error_response: true }
  const { stream, http_status_code: status = 200, response_headers } = await client.exec(asked)
  if (status >= 200 && status < 300) return stream
  const exception = response_headers?.['x-clickhouse-exception-code']
  const text = await beginningOf(stream)
  // A body that is refused unread would occupy the connection for as long as the client's timeout.
  ;(stream as HttpAnswer).req?.destroy()
  throw refusalError({ status, exception: exception?.toString(), text })
}

async function beginningOf(stream: Readable): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of stream as AsyncIterable<Buffer>) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes >= MAX_ERROR_BYTES) break
  }
  return Buffer.concat(pieces).toString('utf8', 0, MAX_ERROR_BYTES)
}

async function readRows<Row>(
  connection: Connection,
  sql: string,
  asked: StatementOptions = {},
): Promise<Row[]> {
  const text = (await readWhole(connection, `${sql}\nFORMAT JSONEachRow`, asked)).toString('utf8')
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Row]))
}

async function readWhole(connection: Connection, sql: string, asked: StatementOptions): Promise<Buffer> {
  assertWholeParams(sql, asked.params)
  // With this setting, a server sends only the error if a read fails. The embedded engine ignores it and cuts the
  // connection.
  const settings = { ...asked.settings, wait_end_of_query: 1 }
  try {
    return await wholeAnswer(connection, asked.signal, (signal) =>
      sendRead(() => send(connection.client, sql, { ...asked, settings, signal }), signal),
    )
  } catch (error) {
    throw toStoreError(error)
  }
}

/**
 * Sends a read. If its connection is reset before the response begins, sends the read once more: the server may have
 * closed the idle connection at that moment, and a read may be repeated. `send` resolves when the response begins.
 */
function sendRead<T>(send: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const mayRetry = (error: unknown, failures: number): boolean =>
    failures === 1 && isReset(error) && signal?.aborted !== true
  return retry(send, { pauses: [AGAIN_MS], mayRetry })
}

/** Calls `use` with a connection that is not in the database. */
async function outside<T>(
  options: ClickHouseOptions,
  settings: ClickHouseSettings,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = openConnection({ ...options, database: 'default' }, settings)
  try {
    return await use(connection)
  } catch (error) {
    throw toStoreError(error)
  } finally {
    await connection.client.close()
  }
}

interface Connection {
  readonly client: ClickHouseClient
  /** Time limit of a request whose whole response is read. */
  readonly limitMs: number
}

class SilentLogger implements ClientLogger {
  trace(): void {}
  debug(): void {}
  info(): void {}
  warn(): void {}
  error(): void {}
}

function secondsOf({ maxExecutionSeconds = 30 }: ClickHouseOptions): number {
  return maxExecutionSeconds
}

function settingsOf(options: ClickHouseOptions): ClickHouseSettings {
  return {
    max_execution_time: secondsOf(options),
    output_format_json_quote_64bit_integers: 0,
    ...PINNED_SETTINGS,
    ...LAYOUT_SETTINGS[(options.layout ?? SINGLE).kind],
  }
}

function openConnection(options: ClickHouseOptions, settings: ClickHouseSettings): Connection {
  const client = createClient({
    url: options.url,
    database: options.database,
    application: 'weir',
    ...(options.username !== undefined && { username: options.username }),
    ...(options.password !== undefined && { password: options.password }),
    max_open_connections: options.maxConnections ?? 16,
    request_timeout: secondsOf(options) * 1000 + ANSWER_GRACE_MS,
    keep_alive: { enabled: true, idle_socket_ttl: IDLE_SOCKET_MS, eagerly_destroy_stale_sockets: true },
    // Measured: for a server on the same machine, compression takes a third of the time of an insert.
    compression: { request: false, response: false },
    clickhouse_settings: settings,
    // The caller logs each error once. SilentLogger is needed because the client writes some warnings at any log level.
    log: { level: ClickHouseLogLevel.OFF, LoggerClass: SilentLogger },
  })
  return { client, limitMs: secondsOf(options) * 2_000 }
}

/** @throws TypeError for a fraction in a place of an integer type */
function assertWholeParams(sql: string, params: SqlParams = {}): void {
  for (const [name, value] of Object.entries(params)) {
    const numbers = (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'number')
    if (numbers.every(Number.isInteger)) continue
    const type = new RegExp(`\\{${name}:\\s*([^}]*)\\}`).exec(sql)?.[1]
    if (type !== undefined && WHOLE_TYPE.test(type))
      for (const one of numbers) assertWholeNumber(one, `parameter ${name}`)
  }
}

function clientOptions(asked: Omit<StatementOptions, 'params'>) {
  return {
    ...(asked.settings !== undefined && { clickhouse_settings: { ...asked.settings } }),
    ...(asked.signal !== undefined && { abort_signal: asked.signal }),
  }
}

function insertSql(insert: InsertBytes): string {
  const wrong = insert.columns.find((name) => !COLUMN_NAME.test(name))
  if (wrong !== undefined) throw new TypeError(`not a column name: ${wrong}`)
  return `INSERT INTO ${insert.table} (${insert.columns.join(', ')}) FORMAT ${insert.format ?? 'RowBinary'}`
}
