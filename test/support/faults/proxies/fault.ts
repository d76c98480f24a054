import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { fixedPort } from '../../fixed-port.ts'
import { sqlOf } from './statement.ts'

/**
 * The fault that the proxy applies to a request.
 * - `pass`: nothing.
 * - `refuse`: the port is closed, open connections are reset. Applies to the whole proxy, not to single requests.
 * - `reset_request`: forwards the first `afterBytes` (default 1,000) of the body, then resets both sides.
 * - `slow`: waits `latencyMs` before it forwards, plus the time that the body takes at `bytesPerSecond`.
 * - `error`: answers with a ClickHouse exception and does not forward.
 * - `status`: answers with this status and a page of HTML, as a proxy does that refuses the request.
 * - `swallow_answer`: forwards, waits for the whole answer, then resets the client: the work was done.
 * - `hang`: reads the request and never answers; ended by `release`, `set` or `close`.
 */
export type Fault =
  | { readonly kind: 'pass' | 'refuse' | 'swallow_answer' | 'hang' }
  | { readonly kind: 'reset_request'; readonly afterBytes?: number }
  | { readonly kind: 'slow'; readonly latencyMs?: number; readonly bytesPerSecond?: number }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'error'; readonly status?: number; readonly code: number; readonly type: string }

/**
 * The requests that a fault applies to: those whose SQL matches, and of these only the first `times`. By default all
 * requests.
 */
export interface FaultScope {
  readonly query?: RegExp
  readonly times?: number
}

/** A proxy between Weir and its engine. Tests change the proxy's behaviour while it runs. */
export interface FaultProxy {
  readonly url: string
  /** Numbers of requests: received, affected by a fault, and completely answered by the engine. */
  readonly counts: { readonly seen: number; readonly faulted: number; readonly answered: number }
  /** Replaces the fault; resolves when the new one applies. Requests that hang are cut. */
  set(fault: Fault, scope?: FaultScope): Promise<void>
  /** Resolves when the current fault has been applied to that many requests. */
  faulted(count: number): Promise<void>
  close(): Promise<void>
}

interface Tally {
  answered: number
}

interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** The body, if the proxy had to read it to find the SQL. */
  readonly read: Buffer | undefined
}

/** Maximum size of the request line and the headers. nginx has this limit for one line. */
const MAX_HEAD_BYTES = 8 * 1024

/**
 * Starts the proxy on a port of 127.0.0.1. The proxy can close and reopen the port; it passes everything on to
 * `target`.
 */
export async function startFaultProxy({ target }: { target: string }): Promise<FaultProxy> {
  const state = { fault: { kind: 'pass' } as Fault, scope: {} as FaultScope, met: 0 }
  const counts = { seen: 0, faulted: 0, answered: 0 }
  const sockets = new Set<Socket>()
  const hanging = new Set<Socket>()
  const waiting: { count: number; resolve: () => void }[] = []
  const server = createServer({ maxHeaderSize: MAX_HEAD_BYTES }, (req, res) => {
    counts.seen += 1
    handle(req, res).catch(() => req.socket.resetAndDestroy())
  })
  server.requestTimeout = 0
  // Idle connections are closed by the client, so that no statement is sent on a connection that the proxy is closing.
  server.keepAliveTimeout = 3_600_000
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const port = await fixedPort()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const inUrl = new URL(req.url ?? '/', target).searchParams.has('query')
    const read = inUrl ? undefined : await buffer(req)
    const exchange = { req, res, read }
    if (!meets(sqlOf(req, read))) {
      await forward(exchange, target, counts)
      return
    }
    state.met += 1
    counts.faulted += 1
    for (const waiter of waiting.splice(0)) {
      if (state.met >= waiter.count) waiter.resolve()
      else waiting.push(waiter)
    }
    await applyFault(state.fault, exchange, target, counts, hanging)
  }

  function meets(sql: string): boolean {
    if (state.fault.kind === 'pass' || state.met >= (state.scope.times ?? Number.POSITIVE_INFINITY))
      return false
    return state.scope.query?.test(sql) ?? true
  }

  async function closePort(): Promise<void> {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.resetAndDestroy()
    await closed
  }

  return {
    url: `http://127.0.0.1:${port}`,
    counts,
    async set(fault, scope = {}) {
      Object.assign(state, { fault, scope, met: 0 })
      for (const socket of hanging) socket.resetAndDestroy()
      hanging.clear()
      if (fault.kind === 'refuse') await closePort()
      else if (!server.listening) {
        server.listen(port, '127.0.0.1')
        await once(server, 'listening')
      }
    },
    faulted(count) {
      if (state.met >= count) return Promise.resolve()
      return new Promise((resolve) => waiting.push({ count, resolve }))
    },
    close: closePort,
  }
}

async function forward(exchange: Exchange, target: string, tally: Tally): Promise<void> {
  const answer = await send(exchange, target)
  exchange.res.writeHead(answer.statusCode ?? 502, answer.headers)
  answer.pipe(exchange.res)
  await once(answer, 'end')
  tally.answered += 1
}

async function applyFault(
  fault: Fault,
  exchange: Exchange,
  target: string,
  tally: Tally,
  hanging: Set<Socket>,
): Promise<void> {
  const { req, res } = exchange
  switch (fault.kind) {
    case 'slow':
      await delay(fault.latencyMs ?? 0)
      await forward(
        fault.bytesPerSecond === undefined ? exchange : await slowed(exchange, fault),
        target,
        tally,
      )
      return
    case 'error':
      req.resume()
      res.writeHead(fault.status ?? 500, { 'X-ClickHouse-Exception-Code': String(fault.code) })
      res.end(`Code: ${fault.code}. DB::Exception: Injected fault. (${fault.type})\n`)
      return
    case 'status':
      req.resume()
      res.writeHead(fault.status, { 'content-type': 'text/html' })
      res.end(`<html><h1>${fault.status}</h1></html>`)
      return
    case 'swallow_answer':
      await buffer(await send(exchange, target))
      tally.answered += 1
      req.socket.resetAndDestroy()
      return
    case 'reset_request':
      await sendBeginning(exchange, target, fault.afterBytes ?? 1000)
      req.socket.resetAndDestroy()
      return
    case 'hang':
      hanging.add(req.socket)
      return
    default:
      req.socket.resetAndDestroy()
  }
}

function open(exchange: Exchange, target: string) {
  const { req } = exchange
  const { connection: _, ...headers } = req.headers
  const upstream = request(new URL(req.url ?? '/', target), { method: req.method, headers, agent: false })
  req.socket.once('close', () => upstream.destroy())
  // The body may still be piped into the request when the request's socket is destroyed.
  upstream.on('error', () => undefined)
  return upstream
}

async function send(exchange: Exchange, target: string): Promise<IncomingMessage> {
  const upstream = open(exchange, target)
  const response = once(upstream, 'response')
  if (exchange.read === undefined) exchange.req.pipe(upstream)
  else upstream.end(exchange.read)
  const [answer] = (await response) as [IncomingMessage]
  return answer
}

/** Forwards the first bytes of the body, then cuts the connection to the target without ending the request. */
async function sendBeginning(exchange: Exchange, target: string, bytes: number): Promise<void> {
  const upstream = open(exchange, target)
  let left = bytes
  const pieces =
    exchange.read === undefined ? exchange.req.iterator({ destroyOnReturn: false }) : [exchange.read]
  for await (const piece of pieces as AsyncIterable<Buffer>) {
    const part = piece.subarray(0, left)
    left -= part.length
    await new Promise<void>((resolve) => upstream.write(part, () => resolve()))
    if (left <= 0) break
  }
  upstream.socket?.resetAndDestroy()
}

async function slowed(exchange: Exchange, fault: Fault & { kind: 'slow' }): Promise<Exchange> {
  const body = exchange.read ?? (await buffer(exchange.req))
  await delay((body.length / (fault.bytesPerSecond ?? body.length)) * 1000)
  return { ...exchange, read: body }
}
