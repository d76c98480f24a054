import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { Sealer } from '../base/node/sealer.ts'
import type { DeploymentDeps } from '../http/deployment/deps.ts'
import type { Config, PortSetting } from '../config.ts'
import type { BodyAdmission } from '../http/body/admission.ts'
import { type App, createApp } from '../http/platform/app.ts'
import type { AppDeps } from '../http/platform/app-deps.ts'
import { createDeploymentAdmission, createDeploymentApp, type DeploymentApp } from '../http/deployment/app.ts'
import { createDeploymentsApp } from '../http/deployment/deployments-app.ts'
import { createBrowserGates } from '../http/server/browser/browser-gates.ts'
import {
  assertBoundedCors,
  isNamedOrigin,
  readCorsRules,
  withoutPages,
  withoutWildcard,
} from '../http/server/browser/cors.ts'
import { readHttpOptions } from '../http/deployment/http-options.ts'
import { type DeploymentMounts, isServed } from '../http/deployment/mounts.ts'
import { withoutPrefix } from '../http/server/exchange.ts'
import { createRouteTable } from '../http/deployment/route-table.ts'
import type { OtherApi } from '../http/server/other-api.ts'
import { platformRoutes } from '../http/platform/routes.ts'
import type { LargeBodies } from '../http/server/dispatch.ts'
import { createSse } from '../http/deployment/sse/sse.ts'
import { ofWorkspace } from '../http/deployment/request/of-workspace.ts'
import { createEntrance, type Entrance } from '../http/platform/entrance.ts'
import { hasOwnHost } from '../http/server/browser/own-address.ts'
import { startGrpcServer } from '../http/grpc/grpc-server.ts'
import { createOtlpCalls, type GrpcHandler } from '../http/grpc/otlp-calls.ts'
import { type HttpServer, startHttpServer } from '../http/server/http-server.ts'
import { assertFree, type ListenOptions } from '../http/server/listen.ts'
import { createObserver, type Observer } from '../http/server/observe.ts'
import { createOutflow, type Outflow } from '../http/server/outflow.ts'
import { startSocketServer } from '../http/server/socket-server.ts'
import { createWebApp, type WebApp } from '../http/web/web-app.ts'
import type { DeploymentApis } from '../hosting/revision/revision.ts'
import type { RunningDeployment } from '../hosting/revision/serving.ts'
import type { Hosting } from '../hosting/revision/create-hosting.ts'
import { openSealer } from '../hosting/secrets-key.ts'
import { startLargeBodies } from './bodies.ts'

const REQUEST_GRACE_MS = 10_000
/**
 * Maximum bytes of JSON bodies of deployments: inputs of runs and states of threads are larger than bodies of the
 * platform API.
 */
const MAX_DEPLOYMENT_BODY_BYTES = 20 * 1024 * 1024

export interface HttpParts {
  config: Config
  logger: Logger
  /** Dependencies of the platform API. */
  deps: AppDeps
  /** Name of the deployment of GRAPHS; undefined if there is none. */
  hosted: string | undefined
  startHosting(apis: DeploymentApis): Promise<Hosting>
  /** Stop functions of the parts, in order of start. */
  stops: AsyncDisposableStack
}

/** A default port that was taken, and the port used instead; undefined if there is none. */
export interface MovedPort {
  setting: PortSetting
  taken: number
  port: number | undefined
}

export interface ListenerUrls {
  url: string
  deploymentUrl: string | undefined
  /** Undefined without OTLP over gRPC. */
  otlpGrpcUrl: string | undefined
  hosting: Hosting
  movedPorts: MovedPort[]
}

/**
 * Checks configured ports, so that the start fails before anything is started if one is taken. @throws AppError
 * config_invalid
 */
export async function assertPortsFree(config: Config): Promise<void> {
  for (const setting of config.namedPorts) {
    if ((portOf(config, setting) ?? 0) !== 0) await assertFree(listenOptions(config, setting))
  }
}

/** Opens the listeners of the platform API and of the deployment. Stopping waits for running requests. */
export async function startHttp({
  config,
  logger,
  deps,
  hosted,
  startHosting,
  stops,
}: HttpParts): Promise<ListenerUrls> {
  const observer = createObserver(deps)
  const outflow = createOutflow()
  deps.metrics.observedGauge('weir_unsent_bytes', 'Bytes of responses that clients have not read yet.', () =>
    outflow.unsentBytes(),
  )
  const ports: { platform?: number; deployment?: number } = {}
  const web = webApp()
  const shared = { observer, outflow, platformPort: () => ports.platform, frameScript: web.frameScript }
  const { hosting, mounts } = await openApis({ config, deps, logger, hosted, startHosting, stops }, shared)
  const entrance = createEntrance(deps)
  const app: App = createApp(
    { ...deps, deploymentsPort: () => ports.deployment },
    {
      observer,
      outflow,
      entrance,
      web,
      mounts,
      deploymentPort: () => ports.deployment,
    },
  )
  stops.defer(() => app.close())
  const onHttp2 = (from: string | undefined): void =>
    entrance.refusals.noteProtocol('a connection', from, 'it speaks HTTP/2; OTLP/gRPC goes to OTLP_GRPC_PORT')
  const platform = await startHttpServer(app, { ...listenOptions(config, 'PORT'), onHttp2 })
  ports.platform = platform.port
  // Requests that wait for a run end when the worker stops, because the worker ends or releases its runs.
  const movedPorts = movedPort(config, 'PORT', platform.port)
  const ends = [(): Promise<void> => platform.stop(REQUEST_GRACE_MS)]
  ends.push(async () => deps.live.close())
  ends.push(async () => deps.playgroundStreams.close())
  ends.push(async () => deps.logStreams.close())
  ends.push(() => hosting.settle())
  stops.defer(async () => {
    await Promise.all(ends.map((end) => end()))
  })
  const deployments = createDeploymentsApp(mounts, {
    observer,
    logger,
    platform: platformApi(shared.platformPort),
  })
  const server = await startHttpServer(deployments, listenOptions(config, 'DEPLOYMENT_PORT'))
  ends.push(() => server.stop(REQUEST_GRACE_MS))
  ports.deployment = server.port
  movedPorts.push(...movedPort(config, 'DEPLOYMENT_PORT', server.port))
  const deploymentUrl = mounts.root && server.url
  const grpc = await startGrpc(config, createOtlpCalls(deps, entrance), entrance)
  if (grpc !== undefined) ends.push(() => grpc.stop(REQUEST_GRACE_MS))
  movedPorts.push(...movedPort(config, 'OTLP_GRPC_PORT', grpc?.port))
  const urls = { url: platform.url, deploymentUrl, otlpGrpcUrl: grpc?.url, movedPorts }
  logListening({ config, logger }, urls, platform.port)
  return { ...urls, hosting }
}

/**
 * The web interface. In a clone, it is `ui/dist`, which is built while the server runs; a package contains the built
 * interface.
 */
function webApp(): WebApp {
  const ui = fileURLToPath(new URL('../../ui/', import.meta.url))
  const folder = import.meta.url.endsWith('.ts') ? join(ui, 'dist') : ui
  return createWebApp({ folder, errorFile: join(ui, '.dist-error') })
}

/** Starts OTLP over gRPC; undefined if it is off or its default port is taken. */
async function startGrpc(
  config: Config,
  calls: GrpcHandler,
  { refusals }: Entrance,
): Promise<HttpServer | undefined> {
  if (config.otlpGrpcPort === undefined) return undefined
  const onOtherProtocol = (from: string | undefined): void =>
    refusals.noteProtocol(
      'a connection to OTLP/gRPC',
      from,
      'it does not speak HTTP/2; OTLP/HTTP goes to PORT',
    )
  const options = { ...listenOptions(config, 'OTLP_GRPC_PORT'), onOtherProtocol }
  return await startGrpcServer(calls, options).catch((error: unknown) => {
    const isTaken = error instanceof AppError && !config.namedPorts.includes('OTLP_GRPC_PORT')
    if (isTaken) return undefined
    throw error
  })
}

function listenOptions(config: Config, setting: PortSetting): ListenOptions {
  const { host, namedPorts } = config
  const port = portOf(config, setting) ?? 0
  if (setting === 'OTLP_GRPC_PORT') return { host, port, setting, unset: '`off` none' }
  if (namedPorts.includes(setting)) return { host, port, setting }
  // Earlier listeners must not use the ports that are configured for later ones.
  const avoid = namedPorts.filter((other) => other !== 'PORT').flatMap((other) => portOf(config, other) ?? [])
  return { host, port, setting, orNext: { avoid } }
}

function movedPort(config: Config, setting: PortSetting, port: number | undefined): MovedPort[] {
  const taken = portOf(config, setting)
  const isMoved = taken !== undefined && taken !== port && !config.namedPorts.includes(setting)
  return isMoved ? [{ setting, taken, port }] : []
}

/** The port of a setting; undefined if it is off. */
function portOf(config: Config, setting: PortSetting): number | undefined {
  const { port, deploymentPort, otlpGrpcPort } = config
  return { PORT: port, DEPLOYMENT_PORT: deploymentPort, OTLP_GRPC_PORT: otlpGrpcPort }[setting]
}

type Guard = Pick<DeploymentDeps, 'cors' | 'gates'>

/**
 * CORS rules of the deployment: with authentication, those of langgraph.json. Without it, a wildcard is replaced by the
 * pages of this machine, and pages of other origins must not call the deployment at the platform API's address.
 */
function guardsOf(
  { host, publicUrl }: Config,
  { gates }: AppDeps,
  { http, userAuth }: RunningDeployment,
): Guard & { mounted?: Guard } {
  const rules = readCorsRules(http)
  if (gates === undefined || userAuth !== undefined) return { cors: rules, gates: undefined }
  const cors = withoutWildcard(rules)
  const mayCall = (origin: string): boolean => isNamedOrigin(origin, cors)
  return {
    cors,
    gates: createBrowserGates({ host, publicUrl, mayCall }),
    mounted: { cors: withoutPages(rules), gates },
  }
}

function logListening(
  { config, logger }: Pick<HttpParts, 'config' | 'logger'>,
  { url, deploymentUrl, otlpGrpcUrl, movedPorts }: Omit<ListenerUrls, 'hosting'>,
  port: number,
): void {
  for (const moved of movedPorts)
    logger.warn(
      moved,
      moved.port === undefined
        ? 'a default port is taken: there is no OTLP over gRPC'
        : 'a default port is taken: listening on the next free one',
    )
  logger.info(
    {
      url,
      port,
      ...(deploymentUrl !== undefined && { deployment_url: deploymentUrl }),
      ...(otlpGrpcUrl !== undefined && { otlp_grpc_url: otlpGrpcUrl }),
      data_dir: config.dataDir,
      clickhouse: config.clickhouseUrl === undefined ? 'embedded' : 'server',
    },
    'listening',
  )
}

/** The part that runs deployments, and their APIs. */
async function openApis(
  { config, deps, logger, hosted: root, startHosting, stops }: HttpParts,
  shared: Pick<Parameters<typeof deploymentApp>[3], 'observer' | 'outflow' | 'platformPort' | 'frameScript'>,
): Promise<{ hosting: Hosting; mounts: DeploymentMounts }> {
  const large = startLargeBodies({ logger, stops })
  const admission = createDeploymentAdmission(deps.metrics)
  const apps = new WeakMap<RunningDeployment, DeploymentApp>()
  const open: DeploymentApis['open'] = async (running, ends) => {
    const parts = { config, deps, stops: ends }
    apps.set(running, await serveDeployment(parts, running, { ...shared, large, admission }))
  }
  const hosting = await startHosting({ assertAllowed: assertBoundedCors, open })
  const find: DeploymentMounts['find'] = (name) => {
    const found = hosting.find(name)
    return found === undefined || 'refusal' in found ? found : apps.get(found)
  }
  const found = root === undefined ? undefined : find(root)
  return { hosting, mounts: { find, root: found && isServed(found) ? found : undefined } }
}

/** The API of a deployment, also on the Unix sockets through which its graphs and its custom HTTP app call it. */
async function serveDeployment(
  { config, deps, stops }: Pick<HttpParts, 'config' | 'deps' | 'stops'>,
  running: RunningDeployment,
  shared: Parameters<typeof deploymentApp>[3],
): Promise<DeploymentApp> {
  const app = await deploymentApp(config, deps, running, shared)
  const listen = async (socket: string, from: 'core' | 'inner') =>
    stops.defer(await startSocketServer(socket, (req, res) => app.handleOfApp(req, res, from)))
  await listen(running.ownApi, 'inner')
  const { app: custom } = running.project
  if (custom !== undefined) for (const from of ['core', 'inner'] as const) await listen(custom[from], from)
  return app
}

/** The platform API, for requests sent to the deployment's listener. */
function platformApi(port: () => number | undefined): OtherApi {
  const find = createRouteTable(platformRoutes())
  return {
    name: 'the platform API (traces, projects, usage, keys)',
    serves: (method, path) => find(withoutPrefix(path))?.routes.has(method) === true,
    port,
  }
}

async function deploymentApp(
  config: Config,
  deps: AppDeps,
  hosted: RunningDeployment,
  {
    observer,
    outflow,
    platformPort,
    frameScript,
    large,
    admission,
  }: {
    observer: Observer
    outflow: Outflow
    platformPort(): number | undefined
    frameScript: WebApp['frameScript']
    large: LargeBodies
    admission: BodyAdmission
  },
): Promise<DeploymentApp> {
  const { registry, metrics, logger, clock, version, limits, openCallers } = deps
  const { name, tenant, runs, threads, streams, crons, assistants, items, lists, host, http } = hosted
  const { findAssistant, headersFor, project } = hosted
  const { mounted, ...guard } = guardsOf(config, deps, hosted)
  const keys = ofWorkspace(deps.authenticator, tenant.workspace_id)
  let sealer: Promise<Sealer> | undefined
  const app = {
    name,
    tenant,
    runs,
    threads,
    streams,
    crons,
    assistants,
    items,
    lists,
    largeItems: hosted.largeItems,
    host,
    findAssistant,
    headersFor,
    ui: project.ui,
    frameScript,
    checks: { ...hosted.checks, disk: () => deps.disk.check() },
    registry,
    metrics,
    logger,
    clock,
    version,
    limits,
    observer,
    outflow,
    openCallers,
    authenticator: keys,
    json_bodies: { max_bytes: MAX_DEPLOYMENT_BODY_BYTES, empty: '{}', large },
    ...guard,
    public_url: config.deploymentsOrigin,
    sse: createSse({ logger, outflow, limits: config.streams }),
    sealer: () => (sealer ??= openSealer(config)),
    tracing: config.runs.tracing,
    langgraph_version: await langgraphVersion(),
  }
  return createDeploymentApp(app, {
    http: readHttpOptions(http),
    userAuth: hosted.userAuth,
    customApp: hosted.project.app,
    keys: config.auth ? keys : undefined,
    mounted: {
      cors: guard.cors,
      gates: guard.gates,
      ...mounted,
      public_url: config.publicUrl,
      ...(hosted.userAuth === undefined && { authorizes: { publicUrl: config.publicUrl } }),
    },
    sessionGates: deps.sessionGates,
    platform: platformApi(platformPort),
    ownHost: hasOwnHost(config),
    admission,
  })
}

async function langgraphVersion(): Promise<string> {
  const file = new URL(import.meta.resolve('@langchain/langgraph/package.json'))
  return (JSON.parse(await readFile(file, 'utf8')) as { version: string }).version
}
