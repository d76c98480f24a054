import { readFile } from 'node:fs/promises'
import type { Logger } from './base/log.ts'
import type { DeploymentDeps } from './http/deployment/deployment-deps.ts'
import type { Config, PortSetting } from './config.ts'
import { type App, createApp } from './http/app.ts'
import type { AppDeps } from './http/app-deps.ts'
import { createDeploymentApp, type DeploymentApp } from './http/deployment/app.ts'
import { createBrowserGates } from './http/browser-gates.ts'
import { isNamedOrigin, readCorsRules, withoutPages, withoutWildcard } from './http/deployment/cors.ts'
import { readHttpOptions } from './http/deployment/http-options.ts'
import { createSse } from './http/deployment/sse/sse.ts'
import { ofWorkspace } from './http/deployment/of-workspace.ts'
import { assertFree, type ListenOptions, startHttpServer } from './http/http-server.ts'
import { createObserver, type Observer } from './http/observe.ts'
import { createOutflow, type Outflow } from './http/outflow.ts'
import { startSocketServer } from './http/socket-server.ts'
import type { HostedDeployment } from './start-deployment.ts'

const REQUEST_GRACE_MS = 10_000
/** Inputs of runs and states of threads are larger than what the platform API takes as JSON. */
const MAX_DEPLOYMENT_BODY_BYTES = 20 * 1024 * 1024

export interface HttpParts {
  config: Config
  logger: Logger
  /** What the platform API stands on. */
  deps: AppDeps
  /** Undefined: none is hosted here. */
  hosted: HostedDeployment | undefined
  /** What ends each part, in order of start. */
  stops: (() => Promise<unknown> | void)[]
}

/** A default port that was taken, and the one that is listened on instead. */
export interface MovedPort {
  setting: PortSetting
  taken: number
  port: number
}

/** Where both listen. */
export interface Listening {
  url: string
  deploymentUrl: string | undefined
  movedPorts: MovedPort[]
}

/**
 * Fails at once for a port that was named and is taken, before anything is started and made.
 * @throws AppError config_invalid
 */
export async function assertPortsFree(config: Config): Promise<void> {
  for (const setting of config.namedPorts) {
    const isUsed = setting === 'PORT' || config.hosted !== undefined
    if (isUsed && portOf(config, setting) !== 0) await assertFree(listenOptions(config, setting))
  }
}

/** Opens the listeners of the platform API and of the deployment. Stopping lets requests under way finish. */
export async function startHttp({ config, logger, deps, hosted, stops }: HttpParts): Promise<Listening> {
  const observer = createObserver(deps)
  const outflow = createOutflow()
  deps.metrics.observedGauge('weir_unsent_bytes', 'Answers that wait for clients to take them.', () =>
    outflow.unsentBytes(),
  )
  const deployment = hosted && (await deploymentApp(config, deps, hosted, { observer, outflow }))
  const app: App = createApp(deps, { observer, outflow, ...(deployment && { deployment }) })
  stops.push(() => app.close())
  for (const from of ['core', 'inner'] as const) {
    const socket = hosted?.project.app?.[from]
    if (socket === undefined || deployment === undefined) continue
    stops.push(await startSocketServer(socket, (req, res) => deployment.handleOfApp(req, res, from)))
  }
  const platform = await startHttpServer(app, listenOptions(config, 'PORT'))
  // Requests that wait for a run are answered when it has ended or been given back.
  let deploymentUrl: string | undefined
  const movedPorts = movedPort(config, 'PORT', platform.port)
  const ends = [(): Promise<void> => platform.stop(REQUEST_GRACE_MS)]
  if (hosted !== undefined) ends.push(() => hosted.settle())
  stops.push(() => Promise.all(ends.map((end) => end())))
  if (deployment !== undefined) {
    const server = await startHttpServer(deployment, listenOptions(config, 'DEPLOYMENT_PORT'))
    ends.push(() => server.stop(REQUEST_GRACE_MS))
    deploymentUrl = server.url
    movedPorts.push(...movedPort(config, 'DEPLOYMENT_PORT', server.port))
  }
  for (const moved of movedPorts)
    logger.warn(moved, 'a default port is taken: listening on the next free one')
  logger.info(
    {
      url: platform.url,
      port: platform.port,
      ...(deploymentUrl !== undefined && { deployment_url: deploymentUrl }),
      data_dir: config.dataDir,
      clickhouse: config.clickhouseUrl === undefined ? 'embedded' : 'server',
    },
    'listening',
  )
  return { url: platform.url, deploymentUrl, movedPorts }
}

function listenOptions(config: Config, setting: PortSetting): ListenOptions {
  const { host, namedPorts, hosted } = config
  const port = portOf(config, setting)
  if (namedPorts.includes(setting)) return { host, port, setting }
  // The platform API listens first, and must leave the deployment the port that was named for it.
  const reserved = setting === 'PORT' && hosted !== undefined && namedPorts.includes('DEPLOYMENT_PORT')
  return { host, port, setting, orNext: { avoid: reserved ? config.deploymentPort : undefined } }
}

function movedPort(config: Config, setting: PortSetting, port: number): MovedPort[] {
  const taken = portOf(config, setting)
  return config.namedPorts.includes(setting) || port === taken ? [] : [{ setting, taken, port }]
}

function portOf(config: Config, setting: PortSetting): number {
  return setting === 'PORT' ? config.port : config.deploymentPort
}

type Guard = Pick<DeploymentDeps, 'cors' | 'gates'>

/**
 * Which pages may call the deployment: as langgraph.json says, where every request needs a key or a user. Else only those
 * that it names and, in the place of all, those of this machine; under the platform API's address not even these.
 */
function guardsOf(
  { publicUrl }: Config,
  { gates }: AppDeps,
  { http, userAuth }: HostedDeployment,
): Guard & { mounted?: Guard } {
  const rules = readCorsRules(http)
  if (gates === undefined || userAuth !== undefined) return { cors: rules, gates: undefined }
  const cors = withoutWildcard(rules)
  const mayCall = (origin: string): boolean => isNamedOrigin(origin, cors)
  return {
    cors,
    gates: createBrowserGates({ publicUrl, mayCall }),
    mounted: { cors: withoutPages(rules), gates },
  }
}

async function deploymentApp(
  config: Config,
  deps: AppDeps,
  hosted: HostedDeployment,
  { observer, outflow }: { observer: Observer; outflow: Outflow },
): Promise<DeploymentApp> {
  const { registry, metrics, logger, clock, version, limits } = deps
  const { name, tenant, runs, threads, streams, crons, assistants, items, lists, host, http } = hosted
  const { findAssistant, headersFor, project } = hosted
  const { mounted, ...guard } = guardsOf(config, deps, hosted)
  const keys = ofWorkspace(deps.authenticator, tenant.workspace_id)
  const app = {
    ...{
      name,
      tenant,
      runs,
      threads,
      streams,
      crons,
      assistants,
      items,
      lists,
      host,
      findAssistant,
      headersFor,
      ui: project.ui,
    },
    checks: { ...hosted.checks, disk: () => deps.disk.check() },
    ...{ registry, metrics, logger, clock, version, limits, observer, outflow },
    authenticator: keys,
    json_bodies: { max_bytes: MAX_DEPLOYMENT_BODY_BYTES, empty: '{}' },
    ...guard,
    sse: createSse({ logger, outflow, limits: config.streams }),
    tracing: config.hosted?.tracing === true,
    langgraph_version: await langgraphVersion(),
  }
  return createDeploymentApp(app, {
    http: readHttpOptions(http),
    userAuth: hosted.userAuth,
    customApp: hosted.project.app,
    keys: config.auth ? keys : undefined,
    mounted,
  })
}

async function langgraphVersion(): Promise<string> {
  const file = new URL(import.meta.resolve('@langchain/langgraph/package.json'))
  return (JSON.parse(await readFile(file, 'utf8')) as { version: string }).version
}
