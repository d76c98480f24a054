import type { IncomingMessage, ServerResponse } from 'node:http'
import express, { type NextFunction, type Request, type Response } from 'express'
import { AppError } from '../base/errors.ts'
import { type Admission, createAdmission } from './admission.ts'
import type { AppDeps } from './app-deps.ts'
import { dispatch } from './dispatch.ts'
import { createExchange, type Exchange, sendBytes } from './exchange.ts'
import { createIngestHandler, matchIngest, refuse } from './ingest-handler.ts'
import { createObserver } from './observe.ts'
import { observeProcess } from './process-metrics.ts'
import { platformRoutes } from './routes.ts'
import type { Route } from './route.ts'

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
function byPath(routes: readonly Route[]): Map<string, Route[]> {
  const groups = new Map<string, Route[]>()
  const open = ({ path }: Route): number => Number(path.includes('{'))
  for (const route of routes.toSorted((a, b) => open(a) - open(b)))
    groups.set(route.path, [...(groups.get(route.path) ?? []), route])
  return groups
}

function allowedMethods(routes: readonly Route[]): string {
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

/** What Express throws for a path with a broken percent-encoding: no route has such a path. */
function isUnreadablePath(thrown: unknown): boolean {
  return thrown instanceof URIError
}

/**
 * The platform API on `deps`. Ingest requests are matched on the raw request, in front of Express, which is six
 * times cheaper for small bodies (facts §4.4); each path answers with and without `/api/v1` and `/api`.
 */
export function createApp(deps: AppDeps): App {
  const admission = createAdmission(deps.limits.max_inflight_bytes)
  const observer = createObserver(deps)
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
      const exchange = createExchange(req, res)
      observer.observe(exchange, () => handle(exchange))
    },
    inFlightBytes: admission.inFlightBytes,
    close: stopObserving,
  }
}
