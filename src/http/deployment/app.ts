import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Authenticator } from '../../auth/authenticator.ts'
import { AppError } from '../../base/errors.ts'
import { createAdmission } from '../admission.ts'
import { dispatch } from '../dispatch.ts'
import { createExchange, type Exchange, sendBytes } from '../exchange.ts'
import { refuse } from '../ingest-handler.ts'
import { allowOrigin, preflightHeaders } from './cors.ts'
import { createIdentify, deploymentPrincipal, type Identify, type UserAuthPort } from './callers.ts'
import { credentialsOf } from '../credentials.ts'
import { createCustomApp, type CustomApp, type CustomAppPort } from './custom-app.ts'
import type { DeploymentDeps } from './deployment-deps.ts'
import { asDeploymentError, deploymentProblem } from './deployment-problem.ts'
import { type HttpOptions, NOWHERE, readHttpOptions, unmounted } from './http-options.ts'
import { createRouteTable, type RouteMatch } from './route-table.ts'
import { deploymentRoutes } from './routes.ts'

/** The API of one deployment as a request handler. */
export interface DeploymentApp {
  readonly name: string
  /** Serves the request; its URL begins with `prefix`, which is not part of the API's paths. */
  handle(req: IncomingMessage, res: ServerResponse, prefix?: string): void
  /** Serves what the deployment's own HTTP app leaves to these routes (`core`), or asks of them itself (`inner`). */
  handleOfApp(req: IncomingMessage, res: ServerResponse, from: 'core' | 'inner'): void
}

/** What a deployment says of its own API. */
export interface DeploymentAppOptions {
  /** langgraph.json, `http`. */
  http?: HttpOptions | undefined
  /** The deployment's own auth file. */
  userAuth?: UserAuthPort | undefined
  /** The deployment's own HTTP app. */
  customApp?: CustomAppPort | undefined
  /** Keys that are let in besides; none with AUTH=off, where any would be. */
  keys?: Pick<Authenticator, 'authenticate'> | undefined
  /** What holds for requests under a prefix, where that is something else. */
  mounted?: Pick<DeploymentDeps, 'cors' | 'gates'> | undefined
}

/** Prefix of routes in metrics, so that those of both APIs are told apart. */
const METRIC_PREFIX = '/deployments/{name}'
/** What a page may be allowed to send to an app whose methods are not known. */
const ANY_METHOD = 'GET, HEAD, PUT, PATCH, POST, DELETE, OPTIONS'
const MAX_INFLIGHT_BYTES = 256 * 1024 * 1024

function allowedMethods({ routes }: RouteMatch): string {
  const methods = [...routes.keys()]
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
}

/** Authenticates requests before the app gets them: if its options say so, else if the deployment has users of its own. */
function appGuard(
  deps: DeploymentDeps,
  identify: Identify | undefined,
  { custom_route_auth = identify !== undefined }: HttpOptions,
): Parameters<typeof createCustomApp>[1] {
  if (!custom_route_auth) return undefined
  return async (exchange) => {
    if (identify !== undefined) return (await identify(exchange)).user
    exchange.principal = await deps.authenticator.authenticate(credentialsOf(exchange.req.headers))
    return undefined
  }
}

function isOpen(found: RouteMatch | undefined, method: string | undefined): boolean {
  return found?.routes.get(method === 'HEAD' ? 'GET' : (method ?? ''))?.access.need === 'open'
}

/** True when the deployment's own app has answered. */
async function serveByApp(
  exchange: Exchange,
  custom: CustomApp,
  found: RouteMatch | undefined,
  { cors, gates }: DeploymentDeps,
): Promise<boolean> {
  if (exchange.path === NOWHERE) return false
  exchange.route = `${METRIC_PREFIX}/(app)`
  const isPublic = isOpen(found, exchange.req.method)
  const ours = { isOurs: found !== undefined, isOpen: isPublic }
  // A page of another site must not reach the app where no key is asked for.
  if (!isPublic && exchange.req.method !== 'OPTIONS') gates?.assertOwn(exchange.req)
  const answer = await custom.serve(exchange, ours)
  if (answer !== 'preflight' || found !== undefined) return answer === 'answered'
  sendBytes(exchange, 204, preflightHeaders(exchange, cors, ANY_METHOD), '')
  return true
}

/** Serves the routes of this API. */
function createServe(
  deps: DeploymentDeps,
  identify: Identify | undefined,
): (exchange: Exchange, found: RouteMatch | undefined, own: DeploymentDeps) => Promise<void> {
  const admission = createAdmission(MAX_INFLIGHT_BYTES)
  deps.metrics.observedGauge(
    'weir_deployment_in_flight_bytes',
    'Request bodies of the deployment API held in memory.',
    admission.inFlightBytes,
  )
  return async (exchange, found, own) => {
    const { req, res } = exchange
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
    const isKnown = route.access.need === 'open' || identify === undefined
    const reachable = isKnown ? own : await identify(exchange)
    await dispatch(exchange, route, found.params, reachable, admission)
  }
}

/** The deployment API on `deps`, at the root or under a prefix. */
export function createDeploymentApp(
  deps: DeploymentDeps,
  { http = readHttpOptions({}), userAuth, customApp, keys, mounted }: DeploymentAppOptions = {},
): DeploymentApp {
  const mountedDeps = mounted === undefined ? deps : { ...deps, ...mounted }
  const identify = userAuth && createIdentify(deps, userAuth, keys)
  const custom = customApp && createCustomApp(customApp, appGuard(deps, identify, http))
  const match = createRouteTable(deploymentRoutes(http.disabled))
  const serve = createServe(deps, identify)

  const answer = (exchange: Exchange, own: DeploymentDeps, app?: CustomApp): void => {
    const serveAll = async (): Promise<void> => {
      allowOrigin(exchange, own.cors)
      const found = match(exchange.path)
      if (app !== undefined && (await serveByApp(exchange, app, found, own))) return
      await serve(exchange, found, own)
    }
    deps.observer.observe(exchange, () => {
      serveAll().catch((thrown: unknown) =>
        refuse(exchange, asDeploymentError(thrown), deps, deploymentProblem),
      )
    })
  }

  return {
    name: deps.name,
    handle(req, res, prefix = '') {
      const pathOf = (path: string): string => unmounted(path.slice(prefix.length) || '/', http)
      answer(createExchange(req, res, pathOf, deps.outflow), prefix === '' ? deps : mountedDeps, custom)
    },
    handleOfApp(req, res, from) {
      const exchange = createExchange(req, res, (path) => path, deps.outflow)
      // Without users of its own, the deployment's own code may do what its graphs may. With them, handlers decide.
      if (from === 'inner' && identify === undefined) {
        exchange.principal = deploymentPrincipal(deps.tenant.workspace_id)
      }
      answer(exchange, deps)
    },
  }
}
