import { readFile } from 'node:fs/promises'
import type { Logger } from './base/log.ts'
import type { Config } from './config.ts'
import { type App, createApp } from './http/app.ts'
import type { AppDeps } from './http/app-deps.ts'
import { createDeploymentApp, type DeploymentApp } from './http/deployment/app.ts'
import { readCorsRules } from './http/deployment/cors.ts'
import { readHttpOptions } from './http/deployment/http-options.ts'
import { createSse } from './http/deployment/sse/sse.ts'
import { ofWorkspace } from './http/deployment/of-workspace.ts'
import { startHttpServer } from './http/http-server.ts'
import { createObserver, type Observer } from './http/observe.ts'
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

/** Opens the listeners of the platform API and of the deployment. Stopping lets requests under way finish. */
export async function startHttp({
  config,
  logger,
  deps,
  hosted,
  stops,
}: HttpParts): Promise<{ url: string; deploymentUrl: string | undefined }> {
  const { host, port } = config
  const observer = createObserver(deps)
  const deployment = hosted && (await deploymentApp(config, deps, hosted, observer))
  const app: App = createApp(deps, { observer, ...(deployment && { deployment }) })
  stops.push(() => app.close())
  const platform = await startHttpServer(app, { host, port })
  // Runs must end or be given back for those to get an answer who wait for them.
  let deploymentUrl: string | undefined
  const ends = [(): Promise<void> => platform.stop(REQUEST_GRACE_MS)]
  if (hosted !== undefined) ends.push(() => hosted.settle())
  stops.push(() => Promise.all(ends.map((end) => end())))
  if (deployment !== undefined) {
    const setting = 'DEPLOYMENT_PORT'
    const server = await startHttpServer(deployment, { host, port: config.deploymentPort, setting })
    ends.push(() => server.stop(REQUEST_GRACE_MS))
    deploymentUrl = server.url
  }
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
  return { url: platform.url, deploymentUrl }
}

async function deploymentApp(
  config: Config,
  deps: AppDeps,
  hosted: HostedDeployment,
  observer: Observer,
): Promise<DeploymentApp> {
  const { registry, metrics, logger, clock, version, limits } = deps
  const { name, tenant, runs, threads, streams, crons, assistants, items, host, http } = hosted
  const { findAssistant, headersFor, check } = hosted
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
      host,
      findAssistant,
      headersFor,
      check,
    },
    ...{ registry, metrics, logger, clock, version, limits, observer },
    authenticator: keys,
    json_bodies: { max_bytes: MAX_DEPLOYMENT_BODY_BYTES, empty: '{}' },
    cors: readCorsRules(http),
    sse: createSse({ logger }),
    tracing: config.hosted?.tracing === true,
    langgraph_version: await langgraphVersion(),
  }
  return createDeploymentApp(app, {
    http: readHttpOptions(http),
    userAuth: hosted.userAuth,
    keys: config.auth ? keys : undefined,
  })
}

async function langgraphVersion(): Promise<string> {
  const file = new URL(import.meta.resolve('@langchain/langgraph/package.json'))
  return (JSON.parse(await readFile(file, 'utf8')) as { version: string }).version
}
