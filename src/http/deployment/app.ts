import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Authenticator } from '../../identity/authenticator.ts'
import { AppError } from '../../base/errors.ts'
import type { Metrics } from '../../base/metrics.ts'
import { type BodyAdmission, createAdmission } from '../body/admission.ts'
import { isOtherRoute, lacksId } from '../api/no-id.ts'
import { dispatch } from '../server/dispatch.ts'
import { createExchange, type Exchange, sendBytes } from '../server/exchange.ts'
import { ServerResponse as Response } from '../../base/node/http.ts'
import { createSockets, threadOfSocket } from './sockets/create-sockets.ts'
import { assertAllowed } from '../api/access.ts'
import { refuse } from '../server/answer/refuse.ts'
import { allowOrigin, preflightHeaders } from '../server/browser/cors.ts'
import { createIdentify, deploymentPrincipal, type Identify, type UserAuthPort } from './callers.ts'
import { watchCaller } from '../server/callers/open-callers.ts'
import { callerOf, sessionOf } from '../server/credentials.ts'
import { createCustomApp, type CustomAppPort } from './custom-app.ts'
import type { DeploymentDeps } from './deps.ts'
import type { DeploymentContext, DeploymentRoute } from './route.ts'
import { createPassedRequests } from './passed-requests.ts'
import { assertNotCode, SANDBOX_HEADERS } from './reply/answer-of-code.ts'
import { type KeyCheck, withholdCredentials } from './request/withhold-credentials.ts'
import type { BrowserGates } from '../server/browser/browser-gates.ts'
import { type HttpOptions, NOWHERE, readHttpOptions, unmounted } from './http-options.ts'
import { createRouteTable, type RouteMatch } from './route-table.ts'
import { isRequestFaults } from '../api/faults.ts'
import type { ProblemWriter } from '../server/problem.ts'
import { notServedHere, type OtherApi } from '../server/other-api.ts'
import { deploymentRoutes } from './routes.ts'

/** The origin at which a deployment is served: that of the interface, where session cookies count, or another one. */
export type ServingOrigin = 'interface' | 'deployments'

/** The API of one deployment as a request handler. */
export interface DeploymentApp {
  readonly name: string
  /** The workspace in which clients of MCP get tokens for it; absent with an auth file of its own. */
  readonly consents_in?: string | undefined
  /** Whether the API has a route for the method and the path; the path has no prefix. */
  serves(method: string, path: string): boolean
  /**
   * Serves the request; its URL begins with `prefix`, which is not part of the API's paths. `origin` is by default that
   * of the interface if there is a prefix.
   */
  handle(req: IncomingMessage, res: ServerResponse, prefix?: string, origin?: ServingOrigin): void
  /** Whether the request becomes a WebSocket, for which `upgrade` must be called; `prefix` as in `handle`. */
  takesSocket(req: IncomingMessage, prefix?: string): boolean
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer, prefix?: string, origin?: ServingOrigin): void
  /** Serves requests that the custom HTTP app passes on (`core`), and the app's own requests (`inner`). */
  handleOfApp(req: IncomingMessage, res: ServerResponse, from: 'core' | 'inner'): void
}

/** The deployment's settings for its API. */
export interface DeploymentAppOptions {
  /** langgraph.json, `http`. */
  http?: HttpOptions | undefined
  /** The deployment's own auth file. */
  userAuth?: UserAuthPort | undefined
  customApp?: CustomAppPort | undefined
  /** Authenticates keys besides the auth file; undefined with AUTH=off, where every key would be accepted. */
  keys?: Pick<Authenticator, 'authenticate'> | undefined
  /** Replaces these dependencies at the origin of the interface. */
  mounted?: Pick<DeploymentDeps, 'cors' | 'gates' | 'public_url' | 'authorizes'> | undefined
  /** Checks of requests with a session cookie at the origin of the interface; undefined if cookies never authenticate. */
  sessionGates?: BrowserGates | undefined
  /** The platform API, for requests sent to the wrong listener. */
  platform?: OtherApi | undefined
  /**
   * Whether pages of deployed code under a prefix have an origin of their own, on another host than the interface. Else
   * they are sandboxed.
   */
  ownHost?: boolean
  /** Memory of request bodies, shared with other deployments; default: a separate one. */
  admission?: BodyAdmission
}

type Match = RouteMatch<DeploymentRoute>

/** Prefix of routes in metrics, which distinguishes the two APIs. */
const METRIC_PREFIX = '/deployments/{name}'
/** Methods in the preflight response for an app route, whose methods are unknown. */
const ANY_METHOD = 'GET, HEAD, PUT, PATCH, POST, DELETE, OPTIONS'
const MAX_INFLIGHT_BYTES = 256 * 1024 * 1024

/** One text with the faults and their places; SDKs show it unchanged. */
function detailOf({ details, message }: AppError): string {
  if (!isRequestFaults(details)) return message
  return details.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ')
}

/** The body of the deployment API's errors: `{"detail","code"}`, both of them texts. */
export const deploymentProblem: ProblemWriter = (error) => ({
  content_type: 'application/json',
  body: JSON.stringify({ detail: detailOf(error), code: error.code }),
})

/**
 * Converts an error for this API: a body that is not JSON gets the same response as a body that does not fit the schema,
 * 422 (D-41).
 */
function asDeploymentError(thrown: unknown): unknown {
  if (!(thrown instanceof AppError) || thrown.code !== 'invalid_json') return thrown
  return new AppError('invalid_request', { message: thrown.message, cause: thrown })
}

function allowedMethods({ routes }: Match): string {
  const methods = [...routes.keys()]
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
}

/** Authenticates requests before the app gets them, if `enable_custom_route_auth` or an auth file requires it. */
function appGuard(
  deps: DeploymentDeps,
  identify: Identify | undefined,
  { custom_route_auth = identify !== undefined }: HttpOptions,
): Parameters<typeof createCustomApp>[1] {
  if (!custom_route_auth) return undefined
  return async (exchange) => {
    if (identify !== undefined) return (await identify(exchange)).user
    exchange.principal = await callerOf(exchange, { ...deps, gates: undefined })
    return undefined
  }
}

function isOpen(found: Match | undefined, method: string | undefined): boolean {
  return found?.routes.get(method === 'HEAD' ? 'GET' : (method ?? ''))?.needs === 'open'
}

/** How a request is served: the dependencies at its address, and whether pages of deployed code are sandboxed. */
interface Served {
  own: DeploymentDeps
  sandboxed: boolean
}

/** Passes the request to the custom app; returns whether the app has answered. */
async function serveByApp(
  exchange: Exchange,
  custom: ReturnType<typeof createCustomApp>,
  found: Match | undefined,
  { own: { cors, gates }, sandboxed }: Served,
): Promise<boolean> {
  if (exchange.path === NOWHERE) return false
  exchange.route = `${METRIC_PREFIX}/(app)`
  const isPublic = isOpen(found, exchange.req.method)
  // Without keys, pages of other sites must not reach the app.
  if (!isPublic && exchange.req.method !== 'OPTIONS') gates?.assertOwn(exchange.req)
  const answer = await custom.serve(exchange, { isOurs: found !== undefined, isOpen: isPublic, sandboxed })
  if (answer !== 'preflight' || found !== undefined) return answer === 'answered'
  sendBytes(exchange, 204, preflightHeaders(exchange, cors, ANY_METHOD), '')
  return true
}

export function createDeploymentAdmission(metrics: Metrics): BodyAdmission {
  const admission = createAdmission(MAX_INFLIGHT_BYTES)
  metrics.observedGauge(
    'weir_deployment_in_flight_bytes',
    'Request bodies of the deployment API held in memory.',
    admission.inFlightBytes,
  )
  return admission
}

const MAX_SHOWN_PATH = 200

/** The refusal of a path without a route. Its text begins as LangGraph's does. */
function noRoute({ req: { method = 'GET' }, path }: Exchange): AppError {
  const message = `Not Found: there is no route ${method} ${path.slice(0, MAX_SHOWN_PATH)}; /docs lists all routes.`
  return new AppError('not_found', { message })
}

/** Whether answers of a route are files of deployed code. A page of Weir that shows a component has its own policy. */
function isOfCode({ path }: Match, method: string | undefined): boolean {
  return path === '/ui/{graph_id}' ? method === 'POST' : path.startsWith('/ui/')
}

/** Serves the routes of this API. */
function createServe({
  identify,
  platform,
  admission,
}: {
  identify: Identify | undefined
  platform: OtherApi | undefined
  admission: BodyAdmission
}): (exchange: Exchange, found: Match | undefined, served: Served) => Promise<void> {
  return async (exchange, found, { own, sandboxed }) => {
    const { req, res } = exchange
    const asked = { method: req.method, path: exchange.path }
    const unknownRoute = (): AppError => notServedHere(noRoute(exchange), asked, platform)
    if (found === undefined) throw unknownRoute()
    exchange.route = METRIC_PREFIX + found.path
    if (sandboxed && isOfCode(found, req.method)) {
      assertNotCode(req)
      for (const header of SANDBOX_HEADERS) res.setHeader(...header)
    }
    if (req.method === 'OPTIONS') {
      sendBytes(exchange, 204, preflightHeaders(exchange, own.cors, allowedMethods(found)), '')
      return
    }
    const route = found.routes.get(req.method === 'HEAD' ? 'GET' : (req.method ?? ''))
    const others = [...found.routes.values()]
    const isOther = route
      ? isOtherRoute(route, found.params)
      : others.some((other) => lacksId(other, found.params))
    if (isOther) throw unknownRoute()
    if (route === undefined) {
      res.setHeader('allow', allowedMethods(found))
      throw notServedHere(new AppError('method_not_allowed'), asked, platform)
    }
    const isKnown = route.needs === 'open' || identify === undefined
    const reachable = isKnown ? own : await identify(exchange)
    await dispatch(exchange, route, found.params, reachable, admission)
  }
}

/** The permission that every socket requires; each command also requires its own permission. */
const SOCKET_ACCESS = { needs: 'threads:read' } as const

function isWebSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}

/** WebSockets at the root, and under a prefix with the dependencies `mounted`. */
function socketEntrance(
  deps: DeploymentDeps,
  mounted: DeploymentDeps,
  {
    identify,
    keyCheck,
    match,
    exchangeFor,
  }: {
    identify: Identify | undefined
    keyCheck: KeyCheck
    match(path: string): Match | undefined
    exchangeFor(req: IncomingMessage, res: ServerResponse, prefix: string, origin: ServingOrigin): Exchange
  },
): Pick<DeploymentApp, 'takesSocket' | 'upgrade'> {
  const sockets = createSockets(deps)
  /** Identifies the caller again, because the caller's rights may have changed (V-44). */
  const callerNow = async (exchange: Exchange, own: DeploymentDeps): Promise<DeploymentContext> => {
    exchange.principal = undefined
    await withholdCredentials(exchange, keyCheck)
    const reachable = identify === undefined ? own : await identify(exchange)
    exchange.principal ??= await callerOf(exchange, own)
    assertAllowed(exchange.principal, SOCKET_ACCESS)
    return { deps: reachable, principal: exchange.principal, req: exchange.req }
  }
  return {
    takesSocket(req, prefix = '') {
      if (!isWebSocket(req)) return false
      const { path } = exchangeFor(req, new Response(req), prefix, 'deployments')
      return threadOfSocket(path) !== undefined && match(path)?.routes.has('POST') === true
    },
    upgrade(req, socket, head, prefix = '', origin = originOf(prefix)) {
      const exchange = exchangeFor(req, new Response(req), prefix, origin)
      const own = origin === 'deployments' ? deps : mounted
      sockets.accept(
        { req, socket, head, path: exchange.path },
        {
          callerNow: () => callerNow(exchange, own),
          watch: (end) => watchCaller(exchange, own, SOCKET_ACCESS, end),
        },
      )
    },
  }
}

function originOf(prefix: string): ServingOrigin {
  return prefix === '' ? 'deployments' : 'interface'
}

/** The deployment API on `deps`, at the root or under a prefix. */
export function createDeploymentApp(deps: DeploymentDeps, options: DeploymentAppOptions = {}): DeploymentApp {
  const { http = readHttpOptions({}), userAuth, customApp, keys, mounted, sessionGates, platform } = options
  const mountedDeps = mounted === undefined ? deps : { ...deps, ...mounted }
  const identify = userAuth && createIdentify(deps, userAuth, keys)
  const passedRequests = createPassedRequests()
  const custom = customApp && createCustomApp(customApp, appGuard(deps, identify, http), passedRequests)
  const match = createRouteTable(deploymentRoutes(http.disabled))
  const { admission = createDeploymentAdmission(deps.metrics) } = options
  const serve = createServe({ identify, platform, admission })
  const keyCheck: KeyCheck = { keys, tenant: deps.tenant }

  const exchangeFor = (
    req: IncomingMessage,
    res: ServerResponse,
    prefix: string,
    origin: ServingOrigin,
  ): Exchange => {
    const pathOf = (path: string): string => unmounted(path.slice(prefix.length) || '/', http)
    const exchange = createExchange(req, res, pathOf, deps.outflow)
    if (origin === 'interface') exchange.sessionGates = sessionGates
    return exchange
  }
  const sockets = socketEntrance(deps, mountedDeps, { identify, keyCheck, match, exchangeFor })

  const answer = (exchange: Exchange, served: Served, app?: typeof custom): void => {
    const serveAll = async (): Promise<void> => {
      await withholdCredentials(exchange, keyCheck)
      const found = match(exchange.path)
      if (app !== undefined && (await serveByApp(exchange, app, found, served))) return
      await serve(exchange, found, served)
    }
    deps.observer.observe(exchange, () => {
      serveAll().catch((thrown: unknown) =>
        refuse(exchange, asDeploymentError(thrown), deps, deploymentProblem),
      )
    })
  }

  return {
    name: deps.name,
    consents_in: userAuth === undefined ? deps.tenant.workspace_id : undefined,
    serves: (method, path) => match(unmounted(path, http))?.routes.has(method) === true,
    ...sockets,
    handle(req, res, prefix = '', origin = originOf(prefix)) {
      const exchange = exchangeFor(req, res, prefix, origin)
      const own = origin === 'deployments' ? deps : mountedDeps
      // Sets the headers on responses of the custom app too: `handleOfApp` could not, since it no longer has the
      // address of the request.
      if (sessionOf(exchange) === undefined) allowOrigin(exchange, own.cors)
      const sandboxed = prefix !== '' && (origin === 'interface' || options.ownHost !== true)
      answer(exchange, { own, sandboxed }, custom)
    },
    handleOfApp(req, res, from) {
      const exchange = createExchange(req, res, (path) => path, deps.outflow)
      if (from === 'core') passedRequests.resume(exchange)
      // Without an auth file, the app has the same rights as the graphs. With an auth file, its handlers determine the
      // rights.
      if (from === 'inner' && identify === undefined) {
        exchange.principal = deploymentPrincipal(deps.tenant.workspace_id)
      }
      answer(exchange, { own: deps, sandboxed: false })
    },
  }
}
