import type { IncomingMessage, ServerResponse } from 'node:http'
import express, { type NextFunction, type Request, type Response } from 'express'
import { AppError } from '../base/errors.ts'
import { type Admission, createAdmission } from './admission.ts'
import type { AppDeps } from './app-deps.ts'
import { dispatch } from './dispatch.ts'
import type { DeploymentApp } from './deployment/app.ts'
import { createExchange, type Exchange, sendBytes, withoutPrefix } from './exchange.ts'
import { createIngestHandler, matchIngest, refuse } from './ingest-handler.ts'
import { createObserver, type Observer } from './observe.ts'
import { createOutflow, type Outflow } from './outflow.ts'
import { observeProcess } from './process-metrics.ts'
import { platformRoutes } from './routes.ts'
import type { GuardedRoute } from './route.ts'

/** What is served beside the platform API. */
export interface AppCompanions {
  /** Shared with the deployment's own listener; made here if absent. */
  observer?: Observer
  /** Of large answers; shared with the deployment's own listener; made here if absent. */
  outflow?: Outflow
  /** Served under `/deployments/{name}` as well. */
  deployment?: DeploymentApp
}

/** The platform API as one request handler. */
export interface App {
  handle(req: IncomingMessage, res: ServerResponse): void
  /** Bodies in memory now, for tests and metrics. */
  inFlightBytes(): number
  /** Ends the measuring of the process; requests are no concern of it. */
  close(): void
}

/** `/runs/{id}` as Express writes it. */
function expressPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}

/** Routes by path; paths without parameters first, so that `/runs/query` is not taken for a `/runs/{id}`. */
function byPath(routes: readonly GuardedRoute[]): Map<string, GuardedRoute[]> {
  const groups = new Map<string, GuardedRoute[]>()
  const open = ({ path }: GuardedRoute): number => Number(path.includes('{'))
  for (const route of routes.toSorted((a, b) => open(a) - open(b)))
    groups.set(route.path, [...(groups.get(route.path) ?? []), route])
  return groups
}

function allowedMethods(routes: readonly GuardedRoute[]): string {
  const methods = routes.map(({ method }): string => method)
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
}

/** Express 5 for everything but ingest; `exchangeOf` gives back what the front door knows of a request. */
function createRouter(deps: AppDeps, admission: Admission, exchangeOf: (req: Request) => Exchange) {
  const router = express()
  router.disable('x-powered-by').disable('etag').enable('case sensitive routing')
  for (const [path, routes] of byPath(platformRoutes())) {
    const target = router.route(expressPath(path))
    const allow = allowedMethods(routes)
    for (const route of routes.filter(({ hot }) => !hot)) {
      const method = route.method.toLowerCase() as 'get' | 'post' | 'patch' | 'put' | 'delete'
      target[method]((req: Request) => dispatch(exchangeOf(req), route, req.params, deps, admission))
    }
    target.options((req: Request) => sendBytes(exchangeOf(req), 204, { allow }, ''))
    target.all((req: Request, res: Response) => {
      exchangeOf(req).route = path
      res.setHeader('allow', allow)
      throw new AppError('method_not_allowed')
    })
  }
  router.use(() => {
    throw new AppError('not_found')
  })
  router.use((thrown: unknown, req: Request, _res: Response, _next: NextFunction) => {
    refuse(exchangeOf(req), isUnreadablePath(thrown) ? new AppError('not_found') : thrown, deps)
  })
  return router
}

/** What precedes the deployment's own paths in a URL that is meant for it: `/deployments/{name}`, behind `/api/v1` or not. */
function mountPrefix(name: string, url = ''): string | undefined {
  const mount = `/deployments/${encodeURIComponent(name)}`
  const prefix = url.slice(0, url.length - withoutPrefix(url).length) + mount
  if (!url.startsWith(prefix)) return undefined
  const next = url[prefix.length]
  return next === undefined || next === '/' || next === '?' ? prefix : undefined
}

/** What Express throws for a path with a broken percent-encoding: no route has such a path. */
function isUnreadablePath(thrown: unknown): boolean {
  return thrown instanceof URIError
}

/**
 * The platform API on `deps`. Ingest requests are matched on the raw request, in front of Express, which is six
 * times cheaper for small bodies (facts §4.4); each path answers with and without `/api/v1` and `/api`.
 */
export function createApp(
  deps: AppDeps,
  { observer, outflow = createOutflow(), deployment }: AppCompanions = {},
): App {
  const admission = createAdmission(deps.limits.max_inflight_bytes)
  const observing = observer ?? createObserver(deps)
  const stopObserving = observeProcess(deps.metrics)
  deps.metrics.observedGauge(
    'weir_ingest_in_flight_bytes',
    'Request bodies held in memory.',
    admission.inFlightBytes,
  )
  const exchanges = new WeakMap<IncomingMessage, Exchange>()
  const exchangeOf = (req: IncomingMessage): Exchange => {
    const exchange = exchanges.get(req)
    if (exchange === undefined)
      throw new AppError('internal', { message: 'A request came past the front door.' })
    return exchange
  }
  const ingest = createIngestHandler(deps, admission)
  const router = createRouter(deps, admission, exchangeOf)

  const handle = (exchange: Exchange): void => {
    const { req, res, path, search } = exchange
    const match = matchIngest(req.method, path)
    if (match !== undefined) return ingest(exchange, match)
    exchanges.set(req, exchange)
    req.url = search === '' ? path : `${path}?${search}`
    router(req, res)
  }

  return {
    handle(req, res) {
      const prefix = deployment && mountPrefix(deployment.name, req.url)
      if (prefix !== undefined) return deployment?.handle(req, res, prefix)
      const exchange = createExchange(req, res, withoutPrefix, outflow)
      observing.observe(exchange, () => handle(exchange))
    },
    inFlightBytes: admission.inFlightBytes,
    close: stopObserving,
  }
}
