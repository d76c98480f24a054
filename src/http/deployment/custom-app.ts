import type { IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { request as askApp } from '../../base/node/http.ts'
import { CALLER_HEADER, PASSED_HEADER, WEBHOOK_HEADER } from '../../base/app-headers.ts'
import { AppError } from '../../base/errors.ts'
import type { AccessUser } from '../../runs/model.ts'
import { sessionOf } from '../server/credentials.ts'
import type { Exchange } from '../server/exchange.ts'
import type { createPassedRequests } from './passed-requests.ts'
import { answerOfCode, assertNotCode } from './reply/answer-of-code.ts'
import { PREFIX_HEADER, prefixOf } from './request/path-prefix.ts'
import { type HonoRoute, createAppMatch } from './app-routes.ts'

/** The address of a deployment's custom HTTP app. */
export interface CustomAppPort {
  /**
   * Returns the path of the Unix socket, and the app's routes, which are null for an app that is only a `fetch`
   * handler. @throws AppError app_unavailable
   */
  open(): Promise<{ socket: string; routes: readonly HonoRoute[] | null }>
}

/** Path that is never passed to the app, so that health checks are answered even if the app is not running. */
const HEALTH = '/ok'

/**
 * A proxy to the app. Requests and responses are streamed, and a request ends when its client disconnects. `identify`, if
 * given, is called first, and the app gets the user in a header.
 */
export function createCustomApp(
  port: CustomAppPort,
  identify: ((exchange: Exchange) => Promise<AccessUser | undefined>) | undefined,
  passedRequests: ReturnType<typeof createPassedRequests>,
) {
  let known: { routes: readonly HonoRoute[]; takes: ReturnType<typeof createAppMatch> } | undefined

  function matchOf(routes: readonly HonoRoute[]): ReturnType<typeof createAppMatch> {
    if (known?.routes !== routes) known = { routes, takes: createAppMatch(routes) }
    return known.takes
  }

  return {
    /**
     * Passes a request for one of the app's routes to the app. `isOurs`: a route of Weir has the path; `isOpen`: that route
     * needs no authentication; `sandboxed`: as in `AnswerPlace`. Answers `preflight` for a CORS preflight request.
     * @throws AppError app_unavailable, app_failed, websockets_unsupported
     */
    async serve(
      exchange: Exchange,
      { isOurs, isOpen, sandboxed }: { isOurs: boolean; isOpen: boolean; sandboxed: boolean },
    ) {
      const { req, path } = exchange
      if (path === HEALTH) return 'not of the app'
      const { socket, routes } = await port.open()
      const preflight = req.method === 'OPTIONS' ? req.headers['access-control-request-method'] : undefined
      const method = preflight ?? req.method ?? 'GET'
      const takes = routes === null ? !isOurs : matchOf(routes)(method, path)
      if (!takes) return 'not of the app'
      if (preflight !== undefined) return 'preflight'
      if (sandboxed) assertNotCode(req)
      if (req.headers.upgrade !== undefined) throw new AppError('websockets_unsupported')
      const user = isOpen ? undefined : await identify?.(exchange)
      const asked = { socket, path: isOurs ? withoutLastSlash(path) : path, user, sandboxed }
      const id = passedRequests.add(exchange)
      try {
        await pass(exchange, { ...asked, id })
      } finally {
        passedRequests.remove(id)
      }
      return 'answered'
    },
  }
}

/** Hop-by-hop headers, and headers that only the server may set. */
const NOT_PASSED = new Set([
  'connection',
  'keep-alive',
  'upgrade',
  'expect',
  'x-request-id',
  PREFIX_HEADER,
  CALLER_HEADER,
  PASSED_HEADER,
  WEBHOOK_HEADER,
])

/**
 * The path without a trailing slash. Routes of Weir accept this slash; patterns of Hono do not, so middleware would not
 * match.
 */
function withoutLastSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

interface Passed {
  socket: string
  path: string
  user: AccessUser | undefined
  /** Id of the request, for PASSED_HEADER. */
  id: string
  sandboxed: boolean
}

async function pass(exchange: Exchange, { socket, path, user, id, sandboxed }: Passed): Promise<void> {
  const { req, res, search, request_id } = exchange
  const headers = [...without(req.rawHeaders, NOT_PASSED), 'x-request-id', request_id]
  const prefix = prefixOf(req, exchange.path)
  // Otherwise the app would close the connection when it answers before it has read the body, and writing the rest of
  // the body would then discard the response.
  headers.push(PREFIX_HEADER, prefix, PASSED_HEADER, id, 'connection', 'keep-alive')
  if (user !== undefined) headers.push(CALLER_HEADER, callerText(user))
  const asked = askApp({
    socketPath: socket,
    // Connections are not reused, because the app may close an idle one at the moment of its reuse.
    agent: false,
    method: req.method,
    path: search === '' ? path : `${path}?${search}`,
    headers,
  })
  res.once('close', () => {
    asked.destroy()
    // The rest of the body is dropped, otherwise the client could not reuse its connection.
    req.unpipe(asked).resume()
  })
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  asked.once('response', resolve).on('error', reject)
  req.pipe(asked)
  let answer: IncomingMessage
  try {
    answer = await promise
  } catch (cause) {
    if (res.destroyed) return
    const code = (cause as NodeJS.ErrnoException).code
    const isAway = code === 'ECONNREFUSED' || code === 'ENOENT'
    throw new AppError(isAway ? 'app_unavailable' : 'app_failed', { cause })
  }
  const hasSession = sessionOf(exchange) !== undefined
  const passed = answerOfCode(answer.rawHeaders, { prefix, sandboxed, hasSession })
  res.writeHead(answer.statusCode ?? 502, [...passed, 'x-request-id', request_id])
  res.flushHeaders()
  await pipeline(answer, res).catch(() => res.destroy())
}

/** The context variable `auth` of LangGraph's server, encoded for a header. */
function callerText(user: AccessUser): string {
  return Buffer.from(JSON.stringify({ user, scopes: user.permissions })).toString('base64')
}

/** Removes `names` from `rawHeaders` of Node, in which names and values alternate. */
function without(rawHeaders: readonly string[], names: ReadonlySet<string>): string[] {
  return rawHeaders.filter((_text, at) => !names.has((rawHeaders[at - (at % 2)] ?? '').toLowerCase()))
}
