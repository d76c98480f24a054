import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { toJsonText } from '../../schema/raw-json.ts'
import { newUuid } from '../../base/ids.ts'
import type { Principal } from '../../identity/principal.ts'
import type { Headers, LiveBody } from '../api/route.ts'
import type { BrowserGates } from './browser/browser-gates.ts'
import { createOutflow, type Outflow, SLICE_BYTES } from './outflow.ts'

/** One request with its response, and facts that are added while it is handled. */
export interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Header `x-request-id` of the request if it is valid, else a new uuid. */
  readonly request_id: string
  /** Path as sent, without prefix (`/api/v1`, `/api`, `/api-host`) and without query. */
  readonly path: string
  /** Path as sent, with its prefix. */
  readonly whole_path: string
  /** Query without `?`. */
  readonly search: string
  /** Pattern of the route, e.g. `/runs/{id}`; '' until a route has matched. */
  route: string
  principal: Principal | undefined
  /** Whether the caller was looked up by a key or a session of Weir. */
  hasKey: boolean
  /** Checks of a request with a session cookie; undefined if cookies are ignored at this address. */
  sessionGates: BrowserGates | undefined
  /** Credentials that were removed from the headers of the request, which deployed code may get. */
  withheld: Withheld | undefined
  /** Writer of large responses. */
  readonly outflow: Outflow
}

/** Removed headers of a request, as they were sent. */
export type Withheld = Readonly<Partial<Record<'cookie' | 'authorization' | 'x-api-key', string>>>

const REQUEST_ID = /^[\w.:-]{1,128}$/
/** Statuses of responses without body, type and length. */
const BODILESS: ReadonlySet<number> = new Set([204, 304])
const PREFIXES = ['/api/v1', '/api', '/api-host']

/** The path without `/api/v1`, `/api`, or `/api-host`, under which LangSmith has its control plane. */
export function withoutPrefix(path: string): string {
  for (const prefix of PREFIXES) {
    if (path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/')) {
      return path.slice(prefix.length) || '/'
    }
  }
  return path
}

/** Reads the request line and the request id; nothing is checked yet. `pathOf` removes prefixes. */
export function createExchange(
  req: IncomingMessage,
  res: ServerResponse,
  pathOf: (path: string) => string = withoutPrefix,
  outflow: Outflow = createOutflow(),
): Exchange {
  const url = req.url ?? '/'
  const mark = url.indexOf('?')
  const whole_path = mark < 0 ? url : url.slice(0, mark)
  const sent = req.headers['x-request-id']
  return {
    req,
    res,
    request_id: typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : newUuid(),
    path: pathOf(whole_path),
    whole_path,
    search: mark < 0 ? '' : url.slice(mark + 1),
    route: '',
    principal: undefined,
    hasKey: false,
    sessionGates: undefined,
    withheld: undefined,
    outflow,
  }
}

/** Responds with bytes or text; does nothing if a response has begun or the client has disconnected. */
export function sendBytes(
  exchange: Exchange,
  status: number,
  headers: Headers,
  body: Uint8Array | string,
): void {
  const { res } = exchange
  if (res.headersSent || res.destroyed) return
  if (BODILESS.has(status)) {
    const { 'content-type': _none, ...others } = headers
    res.writeHead(status, { 'x-request-id': exchange.request_id, ...others })
    res.end()
    return
  }
  // A large text is encoded here, because counting its bytes for content-length would take as long.
  const sent = typeof body === 'string' && body.length > SLICE_BYTES ? Buffer.from(body) : body
  res.writeHead(status, {
    'x-request-id': exchange.request_id,
    'content-length': typeof sent === 'string' ? Buffer.byteLength(sent) : sent.length,
    ...headers,
  })
  endWith(exchange, sent)
}

/** The caller whose share of unsent bytes a response uses. */
export function holderOf({ principal, req }: Pick<Exchange, 'principal' | 'req'>): string {
  return principal?.holder ?? req.socket.remoteAddress ?? ''
}

/** Ends a response; a large one is written as fast as the client reads it. */
function endWith(exchange: Exchange, body: Uint8Array | string): void {
  const { res, outflow } = exchange
  if (body.length <= SLICE_BYTES) {
    res.end(body)
    return
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  void outflow.write(holderOf(exchange), res, bytes).then((taken) => taken && res.end())
}

export function sendJson(exchange: Exchange, status: number, body: unknown, headers: Headers = {}): void {
  sendBytes(exchange, status, { 'content-type': 'application/json', ...headers }, toJsonText(body))
}

/** Interval of newlines, short enough that proxies and clients keep the connection open. */
const KEEP_ALIVE_MS = 5000

/**
 * Responds with the text of a promise: headers at once, a newline every 5 s, which JSON allows, then the text. If the
 * promise rejects, the connection is cut, so that the client can detect that the response is incomplete.
 */
export async function sendLater(
  exchange: Exchange,
  status: number,
  headers: Headers,
  text: Promise<string>,
): Promise<void> {
  const { req, res, request_id } = exchange
  res.writeHead(status, { 'x-request-id': request_id, ...headers })
  if (req.method === 'HEAD') res.end()
  else res.flushHeaders()
  const beat = setInterval(() => res.write('\n'), KEEP_ALIVE_MS)
  const stopKeepAlive = (): void => clearInterval(beat)
  // Nothing more is sent to a client that has disconnected, even if the promise rejects.
  if (res.destroyed) stopKeepAlive()
  else res.once('close', stopKeepAlive)
  try {
    const body = await text
    stopKeepAlive()
    endWith(exchange, body)
  } catch {
    res.destroy()
  } finally {
    stopKeepAlive()
  }
}

/**
 * Responds with headers at once and a body that is written as it is produced. If that fails, the data so far is sent
 * and the connection is closed in the middle of the response, so that the client can detect that it is incomplete.
 */
export async function sendLive(
  { req, res, request_id }: Exchange,
  status: number,
  headers: Headers,
  body: LiveBody,
): Promise<void> {
  let cut = false
  try {
    res.writeHead(status, { 'x-request-id': request_id, ...headers })
    if (req.method !== 'HEAD') {
      res.flushHeaders()
      await body.writeTo(res)
    }
  } catch {
    cut = true
  } finally {
    body.close()
  }
  if (cut) res.socket?.destroySoon()
  else res.end()
}

/** A signal that aborts when the client disconnects before its response is complete. */
export function disconnectSignal(res: ServerResponse): AbortSignal {
  const left = new AbortController()
  if (res.destroyed) left.abort()
  else {
    res.once('close', () => {
      if (!res.writableFinished) left.abort()
    })
  }
  return left.signal
}

/** Responds with a stream of bytes; a disconnect of the client ends the stream and is not an error. */
export async function sendStream(
  exchange: Exchange,
  status: number,
  headers: Headers,
  bytes: Readable,
): Promise<void> {
  const { req, res } = exchange
  res.writeHead(status, { 'x-request-id': exchange.request_id, ...headers })
  if (req.method === 'HEAD') {
    bytes.destroy()
    res.end()
    return
  }
  await pipeline(bytes, res).catch(() => res.destroy())
}
