import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Authenticator } from '../../auth/authenticator.ts'
import { AppError } from '../../base/errors.ts'
import { createAdmission } from '../admission.ts'
import { dispatch } from '../dispatch.ts'
import { createExchange, type Exchange, sendBytes } from '../exchange.ts'
import { refuse } from '../ingest-handler.ts'
import { allowOrigin, preflightHeaders } from './cors.ts'
import { createIdentify, type UserAuthPort } from './callers.ts'
import type { DeploymentDeps } from './deployment-deps.ts'
import { asDeploymentError, deploymentProblem } from './deployment-problem.ts'
import { type HttpOptions, readHttpOptions, unmounted } from './http-options.ts'
import { createRouteTable, type RouteMatch } from './route-table.ts'
import { deploymentRoutes } from './routes.ts'

/** The API of one deployment as a request handler. */
export interface DeploymentApp {
  readonly name: string
  /** Serves the request; its URL begins with `prefix`, which is not part of the API's paths. */
  handle(req: IncomingMessage, res: ServerResponse, prefix?: string): void
}

/** What a deployment says of its own API. */
export interface DeploymentAppOptions {
  /** langgraph.json, `http`. */
  http?: HttpOptions | undefined
  /** The deployment's own auth file. */
  userAuth?: UserAuthPort | undefined
  /** Keys that are let in besides; none with AUTH=off, where any would be. */
  keys?: Pick<Authenticator, 'authenticate'> | undefined
  /** What holds for requests under a prefix, where that is something else. */
  mounted?: Pick<DeploymentDeps, 'cors' | 'gates'> | undefined
}

/** Prefix of routes in metrics, so that those of both APIs are told apart. */
const METRIC_PREFIX = '/deployments/{name}'
const MAX_INFLIGHT_BYTES = 256 * 1024 * 1024

function allowedMethods({ routes }: RouteMatch): string {
  const methods = [...routes.keys()]
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
}

/** The deployment API on `deps`, at the root or under a prefix. */
export function createDeploymentApp(
  deps: DeploymentDeps,
  { http = readHttpOptions({}), userAuth, keys, mounted }: DeploymentAppOptions = {},
): DeploymentApp {
  const mountedDeps = mounted === undefined ? deps : { ...deps, ...mounted }
  const identify = userAuth && createIdentify(deps, userAuth, keys)
  const admission = createAdmission(MAX_INFLIGHT_BYTES)
  deps.metrics.observedGauge(
    'weir_deployment_in_flight_bytes',
    'Request bodies of the deployment API held in memory.',
    admission.inFlightBytes,
  )
  const match = createRouteTable(deploymentRoutes(http.disabled))

  const serve = async (exchange: Exchange, own: DeploymentDeps): Promise<void> => {
    const { req, res, path } = exchange
    allowOrigin(exchange, own.cors)
    const found = match(path)
    if (found === undefined) throw new AppError('not_found', { message: 'Not Found' })
    exchange.route = METRIC_PREFIX + found.path
    if (req.method === 'OPTIONS') {
      sendBytes(exchange, 204, preflightHeaders(exchange, own.cors, allowedMethods(found)), '')
      return
    }
    const route = found.routes.get(req.method === 'HEAD' ? 'GET' : (req.method ?? ''))
    if (route === undefined) {
      res.setHeader('allow', allowedMethods(found))
      throw new AppError('method_not_allowed')
    }
    const isOpen = route.access.need === 'open'
    const reachable = isOpen || identify === undefined ? own : await identify(exchange)
    await dispatch(exchange, route, found.params, reachable, admission)
  }

  return {
    name: deps.name,
    handle(req, res, prefix = '') {
      const pathOf = (path: string): string => unmounted(path.slice(prefix.length) || '/', http)
      const exchange = createExchange(req, res, pathOf, deps.outflow)
      deps.observer.observe(exchange, () => {
        serve(exchange, prefix === '' ? deps : mountedDeps).catch((thrown: unknown) =>
          refuse(exchange, asDeploymentError(thrown), deps, deploymentProblem),
        )
      })
    },
  }
}
