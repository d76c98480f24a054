import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { newUuid } from '../base/ids.ts'
import type { Principal } from '../auth/principal.ts'
import { createOutflow, type Outflow, SLICE_BYTES } from './outflow.ts'

/** One request with its answer and what has become known about it on the way. */
export interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Header `x-request-id` of the request if it is fit to be repeated, else a new uuid. */
  readonly request_id: string
  /** Path without prefix (`/api/v1`, `/api`) and query, as sent. */
  readonly path: string
  /** Query without `?`. */
  readonly search: string
  /** Pattern of the route, e.g. `/runs/{id}`; '' until one matched. */
  route: string
  principal: Principal | undefined
  /** What large answers go out through. */
  readonly outflow: Outflow
}

/** Headers of an answer by lower-case name. */
export type Headers = Readonly<Record<string, string | number>>

const REQUEST_ID = /^[\w.:-]{1,128}$/
/** Has no body, and so no type and no length. */
const NO_CONTENT = 204
const PREFIXES = ['/api/v1', '/api']

/** The same path whether it came with `/api/v1`, with `/api` or without a prefix (contract §1.1). */
export function withoutPrefix(path: string): string {
  for (const prefix of PREFIXES) {
    if (path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/')) {
      return path.slice(prefix.length) || '/'
    }
  }
  return path
}

/** Reads the request line and the request id; nothing is checked yet. `pathOf` takes prefixes off. */
export function createExchange(
  req: IncomingMessage,
  res: ServerResponse,
  pathOf: (path: string) => string = withoutPrefix,
  outflow: Outflow = createOutflow(),
): Exchange {
  const url = req.url ?? '/'
  const mark = url.indexOf('?')
  const sent = req.headers['x-request-id']
  return {
    req,
    res,
    request_id: typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : newUuid(),
    path: pathOf(mark < 0 ? url : url.slice(0, mark)),
    search: mark < 0 ? '' : url.slice(mark + 1),
    route: '',
    principal: undefined,
    outflow,
  }
}

/** Answers with bytes or text; does nothing if an answer has begun or nobody is there to read it. */
export function sendBytes(
  exchange: Exchange,
  status: number,
  headers: Headers,
  body: Uint8Array | string,
): void {
  const { res } = exchange
  if (res.headersSent || res.destroyed) return
  if (status === NO_CONTENT) {
    const { 'content-type': _none, ...others } = headers
    res.writeHead(status, { 'x-request-id': exchange.request_id, ...others })
    res.end()
    return
  }
  res.writeHead(status, {
    'x-request-id': exchange.request_id,
    'content-length': typeof body === 'string' ? Buffer.byteLength(body) : body.length,
    ...headers,
  })
  endWith(exchange, body)
}

/** In whose share an answer counts until its client has taken it. */
export function holderOf({ principal, req }: Pick<Exchange, 'principal' | 'req'>): string {
  return principal?.holder ?? req.socket.remoteAddress ?? ''
}

/** Ends an answer; a large one goes out as its client takes it. */
function endWith(exchange: Exchange, body: Uint8Array | string): void {
  const { res, outflow } = exchange
  if (body.length <= SLICE_BYTES) {
    res.end(body)
    return
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  void outflow.write(holderOf(exchange), res, bytes).then((taken) => taken && res.end())
}

/** Answers with JSON. */
export function sendJson(exchange: Exchange, status: number, body: unknown, headers: Headers = {}): void {
  sendBytes(exchange, status, { 'content-type': 'application/json', ...headers }, JSON.stringify(body))
}

/** Proxies and clients keep a connection that says something this often. */
const KEEP_ALIVE_MS = 5000

/**
 * Answers with a text that comes later: headers at once, a newline every 5 s, which JSON allows for, then the text. When
 * it rejects the connection is cut, so that the client knows that this was not the answer.
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
  const fallSilent = (): void => clearInterval(beat)
  // Whoever leaves is told nothing more, not even by a rejection.
  if (res.destroyed) fallSilent()
  else res.once('close', fallSilent)
  try {
    const body = await text
    fallSilent()
    endWith(exchange, body)
  } catch {
    res.destroy()
  } finally {
    fallSilent()
  }
}

/** A body that writes itself, for as long as it takes. */
export interface LiveBody {
  /** Headers are out. Resolves when all has been said or the client is gone; rejects when the connection is to be cut. */
  writeTo(res: ServerResponse): Promise<void>
  /** Called once in any case, when nothing is written any more. */
  close(): void
}

/**
 * Answers with headers at once and a body that comes as it is made. When that fails, what has been said is sent and the
 * connection is closed in the middle of the answer, so that the client knows that there is more.
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

/** Aborted when the client leaves before its answer is complete. */
export function leaving(res: ServerResponse): AbortSignal {
  const left = new AbortController()
  if (res.destroyed) left.abort()
  else {
    res.once('close', () => {
      if (!res.writableFinished) left.abort()
    })
  }
  return left.signal
}

/** Answers with a stream of bytes; a reader that goes away ends the stream and is no error. */
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
