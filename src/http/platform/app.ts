import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type express from 'express'
import type { NextFunction, Request, Response } from 'express'
import { AppError } from '../../base/errors.ts'
import type { Unserved } from '../../deploy/hosting.ts'
import type { AppDeps } from './app-deps.ts'
import { allowOrigin, type CorsRules, preflightHeaders, readCorsRules } from '../server/browser/cors.ts'
import { createCompressor } from '../server/answer/compressor.ts'
import { isOtherRoute, lacksId } from '../api/no-id.ts'
import { dispatch } from '../server/dispatch.ts'
import { createEntrance, type Entrance } from './entrance.ts'
import { callerOf, sessionOf } from '../server/credentials.ts'
import { createExchange, type Exchange, sendBytes, withoutPrefix } from '../server/exchange.ts'
import { createIngestHandler, createIngestMatch } from './ingest-handler.ts'
import type { RequestHandler } from '../server/http-server.ts'
import { refuse } from '../server/answer/refuse.ts'
import { createObserver, type Observer } from '../server/observe.ts'
import { createOutflow, type Outflow } from '../server/outflow.ts'
import { observeProcess } from '../server/process-metrics.ts'
import { notServedHere, type OtherApi } from '../server/other-api.ts'
import type { WebApp } from '../web/web-app.ts'
import { consentsIn, type DeploymentMounts, deploymentOf, isServed } from '../deployment/mounts.ts'
import { pagesOrigin } from '../server/browser/own-address.ts'
import { platformRoutes } from './routes.ts'
import type { PlatformRoute } from './route.ts'

export interface AppCompanions {
  /** Observer, shared with the deployment's own listener; default: a new one. */
  observer?: Observer
  /** Writer of large responses, shared with the deployment's listener; default: a new one. */
  outflow?: Outflow
  /** Entrance, shared with OTLP/gRPC; default: a new one. */
  entrance?: Entrance
  /** Deployments under `/deployments/{name}`; default: none. */
  mounts?: DeploymentMounts
  /** The port of the listener of deployments, once it is known. */
  deploymentPort?: () => number | undefined
  /** The web interface under `/app`. */
  web?: WebApp
}

export interface App extends RequestHandler {
  /** Bytes of bodies that are in memory, for tests and metrics. */
  inFlightBytes(): number
  /** Stops measuring the process; requests are not affected. */
  close(): void
}

/** `/runs/{id}` in Express's syntax. */
function expressPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}

/** Routes by path. Paths without parameters are first, so that `/runs/query` does not match `/runs/{id}`. */
function byPath(routes: readonly PlatformRoute[]): Map<string, PlatformRoute[]> {
  const groups = new Map<string, PlatformRoute[]>()
  const open = ({ path }: PlatformRoute): number => Number(path.includes('{'))
  for (const route of routes.toSorted((a, b) => open(a) - open(b)))
    groups.set(route.path, [...(groups.get(route.path) ?? []), route])
  return groups
}

function allowedMethods(routes: readonly PlatformRoute[]): string {
  const methods = routes.map(({ method }): string => method)
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
}

const require = createRequire(import.meta.url)

/**
 * Express 5 for all routes except ingest; `exchangeOf` returns the exchange of a request. Express is loaded by the
 * first request that needs it, because loading takes a sixth of a start's CPU time in the main thread.
 */
function createRouter(
  deps: AppDeps,
  {
    all,
    entrance,
    exchangeOf,
    other,
    mounts,
    cors,
  }: {
    all: readonly PlatformRoute[]
    entrance: Entrance
    exchangeOf(req: Request): Exchange
    other: OtherApi | undefined
    mounts: DeploymentMounts
    cors: CorsRules | undefined
  },
) {
  const router = (require('express') as typeof express)()
  const answering = {
    ...deps,
    compressor: createCompressor(),
    consentsIn: (name: string) => consentsIn(mounts, name),
  }
  const unknownRoute = (exchange: Exchange): AppError => {
    const asked = askedBy(exchange)
    return notServedHere(noRoute(asked, mounts.root?.name), asked, other)
  }
  router.disable('x-powered-by').disable('etag').enable('case sensitive routing')
  for (const [path, routes] of byPath(all)) {
    const target = router.route(expressPath(path))
    const allow = allowedMethods(routes)
    if (routes.some(({ any_origin }) => any_origin)) target.all(letAnyOrigin(allow))
    for (const route of routes.filter(({ hot }) => hot === undefined)) {
      const method = route.method.toLowerCase() as 'get' | 'post' | 'patch' | 'put' | 'delete'
      target[method]((req: Request) => {
        const exchange = exchangeOf(req)
        if (isOtherRoute(route, valuesOf(req))) throw unknownRoute(exchange)
        return dispatch(exchange, route, req.params, answering, entrance.admission)
      })
    }
    target.options((req: Request) => {
      const exchange = exchangeOf(req)
      const headers = cors === undefined ? { allow } : preflightHeaders(exchange, cors, allow)
      sendBytes(exchange, 204, headers, '')
    })
    target.all((req: Request, res: Response) => {
      const exchange = exchangeOf(req)
      if (routes.some((route) => lacksId(route, valuesOf(req)))) throw unknownRoute(exchange)
      exchange.route = path
      res.setHeader('allow', allow)
      throw notServedHere(new AppError('method_not_allowed'), askedBy(exchange), other)
    })
  }
  router.use((req: Request) => {
    throw unknownRoute(exchangeOf(req))
  })
  router.use((thrown: unknown, req: Request, _res: Response, _next: NextFunction) => {
    refuse(exchangeOf(req), isUnreadablePath(thrown) ? new AppError('not_found') : thrown, {
      ...deps,
      ...entrance,
    })
  })
  return router
}

function valuesOf({ params }: Request): Record<string, string> {
  return params as Record<string, string>
}

/** Adds CORS headers so that pages of any site may call the path. Their requests have no cookies. */
function letAnyOrigin(allow: string) {
  return (_req: Request, res: Response, next: NextFunction): void => {
    res.setHeader('access-control-allow-origin', '*')
    res.setHeader('access-control-allow-methods', allow)
    res.setHeader('access-control-allow-headers', '*')
    res.setHeader('access-control-max-age', '600')
    next()
  }
}

interface Asked {
  method: string | undefined
  path: string
}

function askedBy({ req: { method }, path }: Exchange): Asked {
  return { method, path }
}

const MAX_SHOWN_PATH = 200

/** The refusal of a path without a route; `deployment` is the name of the hosted deployment. */
function noRoute({ method = 'GET', path }: Asked, deployment: string | undefined): AppError {
  const [, named] = /^\/deployments\/([^/]+)/.exec(path) ?? []
  const hosted = deployment === undefined ? 'this server hosts no graphs' : `this server has "${deployment}"`
  const message =
    named === undefined
      ? `Not found: there is no route ${method} ${path.slice(0, MAX_SHOWN_PATH)}; /docs lists all routes.`
      : `Not found: there is no deployment "${named.slice(0, MAX_SHOWN_PATH)}"; ${hosted}.`
  return new AppError('not_found', { message })
}

/** The deployment API, for requests sent to the wrong listener. */
function otherApi(
  { root }: DeploymentMounts,
  { deploymentPort = () => undefined }: AppCompanions,
): OtherApi | undefined {
  return (
    root && {
      name: 'the deployment API (threads and runs of graphs)',
      serves: root.serves,
      port: deploymentPort,
      also: `and is under /deployments/${encodeURIComponent(root.name)} of this one`,
    }
  )
}

/**
 * The error of a deployment that is not served. The reason may name files and lines, so only keys that may read the
 * deployments of its workspace get it. Other callers may be users of the deployment's own auth file, which is not
 * running; they get an error after which clients retry, instead of `unauthorized`.
 */
async function refusalFor(
  exchange: Exchange,
  deps: AppDeps,
  { refusal, workspace_id }: Unserved,
): Promise<AppError> {
  try {
    const caller = await callerOf(exchange, deps)
    if (caller.workspace_id === workspace_id && caller.permissions.has('deployments:read')) return refusal
  } catch (error) {
    if (!(error instanceof AppError)) throw error
  }
  return new AppError(refusal.code)
}

/** WebSockets of deployments under their prefix. */
function socketsOf(mounts: DeploymentMounts): Pick<App, 'takesSocket' | 'upgrade'> {
  return {
    takesSocket(req) {
      const { found, prefix } = deploymentOf(mounts, req) ?? {}
      return found !== undefined && isServed(found) && found.takesSocket(req, prefix)
    },
    upgrade(req, socket, head) {
      const { found, prefix } = deploymentOf(mounts, req) ?? {}
      if (found === undefined || !isServed(found)) socket.destroy()
      else found.upgrade(req, socket, head, prefix)
    },
  }
}

/** The error that Express throws for a path with a broken percent-encoding: no route has such a path. */
function isUnreadablePath(thrown: unknown): boolean {
  return thrown instanceof URIError
}

/**
 * The platform API with dependencies `deps`. Ingest requests are matched before Express gets them; for small bodies
 * that takes a sixth of the time. Each path is served with and without `/api/v1` and `/api`.
 */
export function createApp(deps: AppDeps, companions: AppCompanions = {}): App {
  const { observer, outflow = createOutflow(), entrance = createEntrance(deps), web } = companions
  const { mounts = { find: () => undefined } } = companions
  const observing = observer ?? createObserver(deps)
  const stopObserving = observeProcess(deps.metrics)
  const exchanges = new WeakMap<IncomingMessage, Exchange>()
  const exchangeOf = (req: IncomingMessage): Exchange => {
    const exchange = exchanges.get(req)
    if (exchange === undefined)
      throw new AppError('internal', { message: 'A request reached the router before its key was checked.' })
    return exchange
  }
  const all = platformRoutes()
  const matchIngest = createIngestMatch(all)
  const ingest = createIngestHandler(deps, entrance)
  // Without keys, pages of other origins must not read responses (IDENTITY-14).
  const cors = deps.gates === undefined ? readCorsRules({}) : undefined
  let router: ReturnType<typeof createRouter> | undefined
  const route = (req: IncomingMessage, res: ServerResponse): void => {
    router ??= createRouter(deps, {
      all,
      entrance,
      exchangeOf,
      cors,
      other: otherApi(mounts, companions),
      mounts,
    })
    router(req, res)
  }

  const servePage = (web: WebApp, exchange: Exchange): Promise<void> =>
    web
      .handle(exchange, pagesOrigin(deps, exchange.req))
      .catch((error: unknown) => refuse(exchange, error, { ...deps, ...entrance }))

  const handle = (exchange: Exchange): void => {
    const { req, res, path, search } = exchange
    if (web?.matches(path) === true) return void servePage(web, exchange)
    if (cors !== undefined && sessionOf(exchange) === undefined) allowOrigin(exchange, cors)
    const match = matchIngest(req.method, path)
    if (match !== undefined) return ingest(exchange, match)
    exchanges.set(req, exchange)
    req.url = search === '' ? path : `${path}?${search}`
    route(req, res)
  }

  return {
    ...socketsOf(mounts),
    handle(req, res) {
      const { found, prefix } = deploymentOf(mounts, req) ?? {}
      if (found !== undefined && isServed(found)) return found.handle(req, res, prefix)
      const exchange = createExchange(req, res, withoutPrefix, outflow)
      exchange.sessionGates = deps.sessionGates
      observing.observe(exchange, () => {
        if (found === undefined) return handle(exchange)
        const answer = (error: unknown): void => refuse(exchange, error, { ...deps, ...entrance })
        void refusalFor(exchange, deps, found).then(answer, answer)
      })
    },
    inFlightBytes: entrance.admission.inFlightBytes,
    close: stopObserving,
  }
}
