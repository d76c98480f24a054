import { createServer, type IncomingMessage, request as askServer } from 'node:http'
import { Readable } from 'node:stream'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { CALLER_HEADER, WEBHOOK_HEADER } from '../../base/app-headers.ts'
import { AppError } from '../../base/errors.ts'
import { isObject } from '../../schema/json.ts'
import { openChannel } from '../pool/channel.ts'
import type { AppRoute, FromHttpApp, OpenApp, ToHttpApp } from './messages.ts'
import { openServerSocket } from '../pool/vitals.ts'
import { loadExport, prepareLoader } from '../host/load-graphs.ts'

interface Bindings extends Partial<HttpBindings> {
  /** True for requests of the app to its own deployment. */
  loopback?: boolean
}

type Env = { Bindings: Bindings; Variables: { auth: unknown } }
type Ask = (input: string, init?: RequestInit) => Promise<Response>
type Fetch = (request: Request, env: Bindings) => Response | Promise<Response>

interface Opened {
  fetch: Fetch
  /** Calls the deployment's API. */
  ask: Ask
  routes: AppRoute[] | null
}

/** Runs a deployment's custom HTTP app in this process until the server ends. */
export function serveHttpApp(): void {
  const channel = openChannel<ToHttpApp, FromHttpApp>(openServerSocket(), ({ head }) => {
    if (head.type === 'stop') return process.exit(0)
    const report = (file: string): void => channel.send({ type: 'loaded', files: [file] })
    open(head, report).then(
      (routes) => channel.send({ type: 'opened', routes }),
      (error: unknown) => channel.send({ type: 'failed', message: messageOf(error) }),
    )
  })
}

async function open(asked: OpenApp, report: (file: string) => void): Promise<AppRoute[] | null> {
  await prepareLoader([asked.file], asked.report_files ? report : undefined)
  const loopback = bindLoopback()
  const app = await loadExport(asked.file, asked.export)
  const { fetch, ask, routes } = isHono(app) ? aroundHono(app, asked) : aroundHandler(app, asked)
  loopback.ask = ask
  const listener = getRequestListener(fetch as never, { overrideGlobalObjects: false })
  const server = createServer((req, res) => void listener(req, res))
  // No time limit, because the body of a request may be a long stream.
  server.requestTimeout = 0
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject).listen(asked.listen, resolve)
  await promise
  return routes
}

function isHono(app: unknown): app is Hono<Env> {
  return isObject(app) && Array.isArray(app['routes']) && 'route' in app && 'fetch' in app
}

/**
 * Opens the app as LangGraph's server does: its middleware and routes come first, and requests that match none of its
 * routes are passed on to Weir's routes. Uses the project's own copy of Hono.
 */
function aroundHono(app: Hono<Env>, { core, inner }: OpenApp): Opened {
  const outer = new (app.constructor as new () => Hono<Env>)()
  outer.use(async (context, next) => {
    const caller = context.req.header(CALLER_HEADER)
    if (caller !== undefined) context.set('auth', JSON.parse(Buffer.from(caller, 'base64').toString('utf8')))
    await next()
  })
  outer.route('/', app)
  outer.all('*', (context) => {
    // A client chooses the path of its run's webhook, so a webhook must not reach the routes of Weir.
    if (context.req.header(WEBHOOK_HEADER) !== undefined) return context.notFound()
    return passOn(context, context.env?.loopback === true ? inner : core)
  })
  const ask: Ask = async (input, init) => outer.request(input, init, { loopback: true })
  const routes = app.routes.map(({ method, path }) => ({ method, path }))
  return { fetch: (request, env) => outer.fetch(request, env), ask, routes }
}

/** Opens an app that is a `fetch` handler, or an object with one. */
function aroundHandler(app: unknown, { file, inner, export: name }: OpenApp): Opened {
  const handler = hasFetch(app) ? app : undefined
  if (handler === undefined && typeof app !== 'function') {
    throw new AppError('config_invalid', {
      message: `The export "${name}" of ${file} is not a Hono app and has no "fetch" handler.`,
    })
  }
  const ask: Ask = (input, init) => forward(new Request(input, init), inner)
  const fetch: Fetch = handler === undefined ? (app as Fetch) : (request, env) => handler.fetch(request, env)
  return { fetch, ask, routes: null }
}

function hasFetch(app: unknown): app is { fetch: Fetch } {
  return typeof app === 'object' && app !== null && 'fetch' in app && typeof app.fetch === 'function'
}

/**
 * Installs the fetch function that the SDK's `new Client()` uses if it gets no address. A client that is created while
 * the app loads keeps this function. So the caller must set `ask` of the result when the app has loaded.
 */
function bindLoopback(): { ask: Ask } {
  const loopback = { ask: async () => new Response('The app is being loaded.', { status: 503 }) } as {
    ask: Ask
  }
  const fetch: Ask = (input, init) => loopback.ask(input, init)
  Object.assign(globalThis, { [Symbol.for('langgraph_api:fetch')]: fetch })
  return loopback
}

/**
 * Forwards the request to the routes of Weir. If a middleware has read the body, the body is taken from Hono's cache,
 * with the changes of the middleware.
 */
async function passOn({ req }: Context<Env>, target: string): Promise<Response> {
  const { raw, bodyCache } = req
  const isRead = raw.body !== null && Object.keys(bodyCache).length > 0
  return forward(raw, target, isRead ? await req.arrayBuffer() : raw.body)
}

/** Hop-by-hop headers, and the header that only the server may set. */
const DROPPED = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', CALLER_HEADER])

type Body = ReadableStream | ArrayBuffer | null

function forward(request: Request, socketPath: string, body: Body = request.body as Body): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const headers = Object.fromEntries([...request.headers].filter(([name]) => !DROPPED.has(name)))
  // Otherwise the server would close the connection when it refuses a request before it has read the body, and writing
  // the rest of the body would then discard the answer.
  headers['connection'] = 'keep-alive'
  // Without this header, Node sends the body of a DELETE or OPTIONS without its length, and the server would read the
  // body as the next request.
  if (body !== null) headers['transfer-encoding'] = 'chunked'
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const { method, signal } = request
  // Connections are not reused, because the server may close an idle one at the moment of its reuse.
  const connection = { socketPath, agent: false } as const
  const asked = askServer({ ...connection, method, path: pathname + search, headers, signal }, (answer) =>
    resolve(toResponse(answer, method)),
  )
  asked.once('error', reject)
  // The signal of a Request does not abort after the Request was garbage-collected. This listener keeps the Request in
  // memory until `asked` is closed.
  asked.once('close', () => void request)
  if (body === null) asked.end()
  else if (body instanceof ArrayBuffer) asked.end(Buffer.from(body))
  else
    Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0])
      .on('error', (error) => asked.destroy(error))
      .pipe(asked)
  return promise
}

const NO_BODY = new Set([101, 204, 205, 304])

function toResponse(answer: IncomingMessage, method: string): Response {
  const headers = new Headers()
  for (const [name, values] of Object.entries(answer.headersDistinct)) {
    if (!DROPPED.has(name)) for (const value of values ?? []) headers.append(name, value)
  }
  const status = answer.statusCode ?? 502
  if (method === 'HEAD' || NO_BODY.has(status)) {
    answer.resume()
    return new Response(null, { status, headers })
  }
  return new Response(Readable.toWeb(answer) as ReadableStream, { status, headers })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
