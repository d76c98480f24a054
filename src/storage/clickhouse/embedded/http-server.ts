import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { createServer } from '../../../base/node/http.ts'
import type { ChangeResult, Engine } from './engine.ts'
import { EngineException, exceptionStatus, toEngineException } from './exception.ts'
import { authenticate, digest, readRequest, readText } from './requests/query-request.ts'
import {
  hasRowsFile,
  isRowsFile,
  newRowsFile,
  removeRowsFile,
  ROWS_FILE_HEADER,
  saveRows,
} from './requests/rows-file.ts'
import type { QueryContext } from './session-state.ts'
import { classifyStatement, type Statement } from './statement.ts'

/** Options of the server: the engine, the password of its only user, and the folder for bodies of inserts. */
export interface EngineServerOptions {
  readonly engine: Engine
  readonly password: string
  readonly workDir: string
}

/**
 * Maximum length of a URL. It is shorter than ClickHouse's own limit, so that a statement which a proxy before a
 * ClickHouse server would refuse (most allow 8 or 16 KB) fails here too.
 */
const MAX_URL_BYTES = 4 * 1024
const WRITE_BYTES = 1024 * 1024
const READER_STALL_MS = 60_000
const KEEP_ALIVE_MS = 15_000

/**
 * An HTTP server for the part of ClickHouse's interface that @clickhouse/client uses: ping, queries with parameters and
 * settings, inserts with the rows in the body, errors in ClickHouse's format. One difference: `wait_end_of_query` is
 * ignored. If a read fails after a part of the result was sent, the server cuts the connection, so that the client
 * detects the truncation. The returned server is not listening yet.
 */
export function createEngineServer(options: EngineServerOptions): Server {
  const { engine } = options
  const secret = digest(options.password)

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if ((req.url?.length ?? 0) > MAX_URL_BYTES)
      throw new EngineException(1000, 'POCO_EXCEPTION', `The URL is longer than ${MAX_URL_BYTES} bytes.`)
    const { pathname, searchParams } = new URL(req.url ?? '/', 'http://engine')
    if (pathname === '/ping') {
      res.end('Ok.\n')
      return
    }
    authenticate(req, searchParams, secret)
    const asked = await readRequest(req, searchParams)
    res.setHeader('X-ClickHouse-Query-Id', searchParams.get('query_id') ?? randomUUID())
    res.setHeader('X-ClickHouse-Format', asked.format)
    const file = rowsFileOf(req)
    const hasRows = asked.rows !== undefined || file !== undefined
    const statement = classifyStatement(asked.sql, hasRows, asked.format)
    if (statement.kind === 'insert' && file !== undefined) {
      // A start of the engine removes the files that it finds. The client may try again.
      if (!(await hasRowsFile(options.workDir, file)))
        throw new EngineException(210, 'NETWORK_ERROR', 'The file with the rows is gone.')
      endWith(res, await engine.insertFile(statement, file, asked.context))
    } else if (statement.kind === 'insert' && asked.rows !== undefined) {
      endWith(res, await insert(options, statement, asked.context, asked.rows))
    } else if (statement.kind === 'read') {
      await read(engine, statement, asked.context, res)
    } else {
      const tail = asked.rows === undefined ? '' : `\n${await readText(asked.rows)}`
      endWith(res, await engine.change(asked.sql + tail, asked.context))
    }
  }

  const limits = { maxHeaderSize: 2 * MAX_URL_BYTES, keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 }
  return createServer(limits, (req, res) => {
    answer(req, res).catch((error: unknown) => fail(res, error))
  })
}

/** The file that has the rows of an insert; undefined if its body has them. */
function rowsFileOf(req: IncomingMessage): string | undefined {
  const name = req.headers[ROWS_FILE_HEADER]
  if (name === undefined || (typeof name === 'string' && isRowsFile(name))) return name
  throw new EngineException(1001, 'STD_EXCEPTION', `${ROWS_FILE_HEADER} is not the name of a file with rows.`)
}

async function insert(
  { engine, workDir }: EngineServerOptions,
  statement: Statement & { kind: 'insert' },
  context: QueryContext,
  rows: Readable,
): Promise<ChangeResult> {
  const file = newRowsFile()
  try {
    const size = await saveRows(workDir, file, inPortions(rows))
    if (size === 0) return { rows: 0, bytes: 0, seconds: 0, output: new Uint8Array() }
    return await engine.insertFile(statement, file, context)
  } finally {
    await removeRowsFile(workDir, file)
  }
}

async function read(
  engine: Engine,
  statement: Statement & { kind: 'read' },
  context: QueryContext,
  res: ServerResponse,
): Promise<void> {
  const left = new AbortController()
  const reason = new EngineException(735, 'QUERY_WAS_CANCELLED_BY_CLIENT', 'The reader has left.')
  const leave = (): void => left.abort(reason)
  if (res.destroyed) leave()
  else res.once('close', leave)
  await engine.read(statement, context, left.signal, (bytes) => writeSlowly(res, bytes, left.signal))
  res.end()
}

/** The pieces of a body, a megabyte at a time. */
async function* inPortions(body: Readable): AsyncGenerator<Buffer[]> {
  let pieces: Buffer[] = []
  let held = 0
  for await (const piece of body as AsyncIterable<Buffer>) {
    pieces.push(piece)
    held += piece.length
    if (held < WRITE_BYTES) continue
    yield pieces
    pieces = []
    held = 0
  }
  if (held > 0) yield pieces
}

function endWith(res: ServerResponse, result: ChangeResult): void {
  const summary = {
    read_rows: String(result.rows),
    read_bytes: String(result.bytes),
    written_rows: String(result.rows),
    written_bytes: String(result.bytes),
    total_rows_to_read: '0',
    result_rows: String(result.rows),
    result_bytes: String(result.bytes),
    elapsed_ns: String(Math.round(result.seconds * 1e9)),
  }
  res.setHeader('X-ClickHouse-Summary', JSON.stringify(summary))
  res.end(result.output)
}

/**
 * Writes with back-pressure. If the client reads nothing for a minute, its connection is closed, which frees its
 * session.
 */
async function writeSlowly(res: ServerResponse, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  if (bytes.length === 0 || res.write(bytes)) return
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => res.destroy(), READER_STALL_MS)
    const finish = (settle: () => void) => () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      res.removeListener('drain', onDrain)
      settle()
    }
    const onDrain = finish(resolve)
    const onAbort = finish(() => reject(signal.reason))
    res.once('drain', onDrain)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

function fail(res: ServerResponse, error: unknown): void {
  if (res.headersSent || res.destroyed) {
    res.destroy()
    return
  }
  const exception = toEngineException(error)
  res.statusCode = exceptionStatus(exception.clickhouseCode)
  res.setHeader('X-ClickHouse-Exception-Code', String(exception.clickhouseCode))
  res.setHeader('Content-Type', 'text/plain; charset=UTF-8')
  if (!res.req.complete) res.setHeader('Connection', 'close')
  res.end(`${exception.message}\n`)
}
