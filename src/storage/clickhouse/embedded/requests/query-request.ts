import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { MAX_FIELD_BYTES } from '../../query-form.ts'
import { EngineException } from '../exception.ts'
import type { QueryContext } from '../session-state.ts'

const USER = 'default'
const MAX_SQL_BYTES = 16 * 1024 * 1024
/** URL parameters of ClickHouse's HTTP interface that are not settings of the engine. */
const NOT_SETTINGS = new Set(
  `query query_id database default_format user password quota_key role session_id session_timeout session_check
  close_session compress decompress buffer_size wait_end_of_query stacktrace client_protocol_version framing
  http_response_buffer_size enable_http_compression`.split(/\s+/),
)

export interface QueryRequest {
  readonly sql: string
  readonly format: string
  readonly context: QueryContext
  /** The body if it is data; the SQL is then in the URL. */
  readonly rows: Readable | undefined
}

/**
 * Parses a request as ClickHouse's HTTP interface does: the SQL in the URL or in the body, parameters and settings in
 * the URL or in a form. A body that is data is left unread.
 */
export async function readRequest(req: IncomingMessage, search: URLSearchParams): Promise<QueryRequest> {
  const body = decompressed(req)
  const inUrl = search.get('query')
  const fields = new Map(search)
  let sql = inUrl ?? ''
  if (req.headers['content-type']?.startsWith('multipart/form-data')) {
    const form = await new Response(new Uint8Array(await readBytes(body)), {
      headers: { 'content-type': req.headers['content-type'] },
    }).formData()
    for (const [name, value] of form) if (typeof value === 'string') fields.set(name, withinLimit(value))
    sql = form.getAll('query').join('')
  } else if (inUrl === null) {
    sql = await readText(body)
  }
  const hasRows = inUrl !== null && req.method === 'POST' && !req.readableEnded
  return {
    sql,
    format: search.get('default_format') ?? 'TabSeparated',
    context: queryContext(fields),
    rows: hasRows ? body : undefined,
  }
}

/** A server refuses a longer field with this error. */
function withinLimit(value: string): string {
  if (Buffer.byteLength(value) <= MAX_FIELD_BYTES) return value
  throw new EngineException(1000, 'POCO_EXCEPTION', 'HTML Form Exception: Field value too long')
}

function queryContext(fields: ReadonlyMap<string, string>): QueryContext {
  const settings = new Map<string, string>()
  const params = new Map<string, string>()
  for (const [name, value] of fields) {
    if (name.startsWith('param_')) params.set(name.slice('param_'.length), value)
    else if (!NOT_SETTINGS.has(name)) settings.set(name, value)
  }
  return { database: fields.get('database'), settings, params }
}

function decompressed(req: IncomingMessage): Readable {
  const encoding = req.headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return req
  const stages = {
    gzip: createGunzip,
    deflate: createInflate,
    br: createBrotliDecompress,
    zstd: createZstdDecompress,
  }
  const stage = Object.entries(stages).find(([name]) => name === encoding)?.[1]
  if (stage === undefined) {
    throw new EngineException(89, 'UNKNOWN_COMPRESSION_METHOD', `Content-Encoding ${encoding} is unknown.`)
  }
  const plain = stage()
  // Readers of `plain` receive its errors. Without this listener, an error before the first read would end the process.
  plain.on('error', () => undefined)
  pipeline(req, plain).catch(() => undefined)
  return plain
}

/** Reads a whole body as text. Throws SYNTAX_ERROR for more than 16 MB; all SQL of Weir is shorter. */
export async function readText(body: Readable): Promise<string> {
  return (await readBytes(body)).toString('utf8')
}

async function readBytes(body: Readable): Promise<Buffer> {
  const bytes = await buffer(body)
  if (bytes.length > MAX_SQL_BYTES) throw new EngineException(62, 'SYNTAX_ERROR', 'The query is too long.')
  return bytes
}

/**
 * Throws AUTHENTICATION_FAILED for a request without the password of the only user. `secret` is the digest of the
 * password.
 */
export function authenticate(req: IncomingMessage, search: URLSearchParams, secret: Buffer): void {
  const basic = /^Basic (.+)$/i.exec(req.headers.authorization ?? '')?.[1]
  const [basicUser, ...rest] = Buffer.from(basic ?? '', 'base64')
    .toString('utf8')
    .split(':')
  const header = (name: string) => {
    const value = req.headers[name]
    return typeof value === 'string' ? value : undefined
  }
  const user = header('x-clickhouse-user') ?? search.get('user') ?? basicUser
  const password = header('x-clickhouse-key') ?? search.get('password') ?? rest.join(':')
  if (user !== USER || !timingSafeEqual(digest(password), secret)) {
    throw new EngineException(516, 'AUTHENTICATION_FAILED', `${USER}: Authentication failed.`)
  }
}

/** A digest of fixed length. Comparing digests takes the same time for all passwords. */
export function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
