import { unlessAborted } from '../../base/pause.ts'
import { resolve } from 'node:path'
import { AppError, toAppError } from '../../base/errors.ts'
import type {
  ActivationOptions,
  ActivationReport,
  HostedDeployment,
  HostedRevision,
} from '../../deploy/hosting.ts'
import { type Isolation, sandboxIn } from '../../deploy/isolation/isolation.ts'
import type { GraphHosts } from '../../graph/pool/pool.ts'
import { pickConfigurableHeaders } from '../../graph/project/configurable-headers.ts'
import { readDeploymentFile } from '../../graph/project/deployment-file.ts'
import { readStoreTtl } from '../../graph/project/store-ttl.ts'
import { readWebhookRules } from '../../runs/webhooks/rules.ts'
import type { JsonObject } from '../../schema/json.ts'
import { startProcesses } from './start-processes.ts'
import type { DeploymentParts, RunState, ServedDeployment } from '../run-state/run-state.ts'
import {
  type OpenDeployment,
  openUseCases,
  type RunningDeployment,
  openWebhooks,
  type UseCaseParts,
} from './serving.ts'
import type { SharedRuns } from '../run-state/shared-runs.ts'

export interface DeploymentApis {
  /** @throws AppError config_invalid for settings in `http` of langgraph.json that deployed code may not have (D-64) */
  assertAllowed(http: JsonObject): void
  /** Opens the API of a running deployment; its listeners stop with `stops`. */
  open(running: RunningDeployment, stops: AsyncDisposableStack): Promise<void>
}

export interface RevisionParts extends DeploymentParts {
  shared: SharedRuns
  isolation: Isolation
}

/** A revision with running processes, which is ready to serve. */
export interface OpenRevision {
  revision: Pick<HostedRevision, 'id' | 'number'>
  /** What executes its runs once it is in `RunState.served`. */
  served: ServedDeployment
  running: RunningDeployment
  /** Whether its auth file authenticates requests of Studio. */
  refuses_studio: boolean
  /** Number of runs that it executes. */
  runs(): number
  /** Ends crons and webhooks; requests and runs continue. */
  retire(): Promise<void>
  /** Ends all parts of the revision. */
  close(): Promise<void>
}

/**
 * Starts the processes of a revision and checks them (P-32). After this, hosts with every graph are open, the
 * auth file and the HTTP app are loaded, and the schemas of every graph are known. Nothing is stored.
 * @throws AppError deployment_failed, after which no process of the revision is left
 */
export async function openRevision(
  parts: RevisionParts,
  { deployment, revision, isFirst }: WantedRevision,
  { log, printed, noted, mask = (text) => text, signal }: ActivationOptions,
  apis: DeploymentApis,
): Promise<OpenRevision & Pick<ActivationReport, 'started_ms' | 'checked_ms'>> {
  const stops = new AsyncDisposableStack()
  const own = { ...parts, printed, noted, mask, stops }
  try {
    const begun = performance.now()
    const elapsed = (): number => Math.round(performance.now() - begun)
    const open = await start(own, deployment, revision, apis)
    await unlessAborted(loaded(open.host), signal)
    const started_ms = elapsed()
    log(`started in ${started_ms} ms`)
    await unlessAborted(check(open), signal)
    const checked_ms = elapsed()
    log(`checked: ${open.file.graphs.map(({ graph_id }) => graph_id).join(', ')}`)
    const served = openServed(own, parts.shared.state, open, { revision_id: revision.id, isFirst })
    const ready = beginServing(own, parts.shared, { served, open, revision })
    await apis.open(ready.running, stops)
    signal.throwIfAborted()
    return { ...ready, started_ms, checked_ms }
  } catch (error) {
    await stops.disposeAsync()
    throw shown(failureOf(error, signal), revision.dir, mask)
  }
}

export interface WantedRevision {
  deployment: HostedDeployment
  revision: HostedRevision
  /** Whether no revision of the deployment has served since the server started. */
  isFirst: boolean
}

async function start(
  parts: RevisionParts & Pick<ActivationOptions, 'printed' | 'noted' | 'mask'>,
  { id, name, workspace_id, limits }: HostedDeployment,
  { dir, config_path, env }: HostedRevision,
  apis: DeploymentApis,
): Promise<OpenDeployment> {
  const { isolation, shared } = parts
  const heap = Math.floor((limits.memory_bytes * HEAP_SHARE) / (1 << 20))
  const NODE_OPTIONS = `--max-old-space-size=${heap}`
  const file = await readDeploymentFile(resolve(dir, config_path), {}, { ...env, NODE_OPTIONS })
  // Invalid settings must fail before the switch. Deployed code chooses the prefix of the variables and the receiver, so
  // it gets no variable of the server (D-64).
  const webhookRules = readWebhookRules(file, [file.env])
  apis.assertAllowed(file.http)
  const confine = await sandboxIn(isolation)?.hosts(dir, { id, limits })
  return await startProcesses(
    { ...parts, confine, state: shared.state },
    {
      tenant: { workspace_id, deployment_id: id },
      name,
      file,
      webhookRules,
      minHosts: limits.warm,
      maxHosts: limits.hosts,
      maxBytes: limits.memory_bytes,
      maxProcessors: limits.cpus,
    },
  )
}

/** P-24: the share of a host's memory that its JavaScript heap may take. */
const HEAP_SHARE = 0.75

/** Resolves when a host has loaded every graph. @throws AppError deployment_failed with the graph and the place */
async function loaded(host: GraphHosts): Promise<void> {
  const unopened = await host.ready().then(
    () => undefined,
    (error: unknown) => toAppError(error),
  )
  const [failure] = host.failures()
  if (failure !== undefined) {
    const { graph_id, file, line, message } = failure
    throw new AppError('deployment_failed', { message, details: { graph: graph_id, file, line } })
  }
  if (unopened !== undefined) throw unopened
}

async function check({ tenant, file, host, userAuth, project }: OpenDeployment): Promise<void> {
  await userAuth?.ready()
  await project.app?.open()
  // The compiler needs seconds for schemas from TypeScript types. They are made at the first request for them.
  const known = { name: 'schemas', config: {}, types: '{}' } as const
  for (const { graph_id } of file.graphs) await host.call(tenant, { ...known, graph_id })
}

/**
 * The error with paths relative to the project, and without values of secrets, which errors of a module may contain
 * (P-16).
 */
function shown(error: unknown, dir: string, mask: (text: string) => string): unknown {
  if (!(error instanceof AppError)) return error
  const inside = (text: string): string => mask(text.replaceAll(`${dir}/`, ''))
  const { file, ...rest } = Object(error.details) as { file?: unknown }
  const details = typeof file === 'string' ? { ...rest, file: inside(file) } : error.details
  return new AppError(error.code, { message: inside(error.message), details })
}

/** The reason why a revision is not served; after an abort by the caller, the caller's reason. */
function failureOf(error: unknown, signal: AbortSignal): unknown {
  const isTimeout = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
  if (signal.aborted && !isTimeout) return signal.reason
  if (error instanceof AppError && error.code === 'deployment_failed') return error
  const message = isTimeout
    ? 'The revision was not ready within DEPLOY_START_SECONDS.'
    : toAppError(error).message
  return new AppError('deployment_failed', { message, cause: error })
}

/** What executes the runs of a deployment from the time when it is in `RunState.served`. */
export function openServed(
  parts: DeploymentParts,
  state: RunState,
  open: OpenDeployment,
  {
    revision_id,
    isFirst,
    graphs,
  }: Pick<WantedRevision, 'isFirst'> & {
    revision_id: string | null
    /** See `Deployment.graphs`. */
    graphs?: ServedDeployment['graphs'] | undefined
  },
): ServedDeployment {
  const { tenant, name, host } = open
  const served: ServedDeployment = {
    ...tenant,
    name,
    webhooks: openWebhooks(parts, state, { ...open, isFirst }),
    host: {
      ...host,
      async call(of, call) {
        const leave = state.use.enter(served)
        return host.call(of, call).finally(leave)
      },
    },
    revision_id,
    concurrency: parts.config.runs.concurrency,
    ...(graphs && { graphs }),
  }
  return served
}

/** Opens the services of a revision whose processes are open; its crons create runs from now on. */
export function beginServing(
  parts: DeploymentParts,
  { state, working, listsOf, checks }: SharedRuns,
  { served, open, revision, hasGraph }: UseCaseParts & Pick<OpenRevision, 'revision'>,
): OpenRevision {
  const { tenant, name, file, items, userAuth, project, ownApi } = open
  const host: GraphHosts = { ...open.host, call: served.host.call }
  const useCases = openUseCases(parts, { state, working }, { served, open, hasGraph })
  const running: RunningDeployment = {
    ...useCases,
    name,
    tenant,
    items,
    host,
    assistants: state.assistants,
    events: state.events,
    userAuth,
    project,
    ownApi,
    http: file.http,
    checks,
    lists: listsOf({ items, ...readStoreTtl(file.store_ttl) }),
    headersFor: (headers) => pickConfigurableHeaders(open.headerRule(), headers),
  }
  const retire = async (): Promise<void> => {
    state.crons.delete(useCases.crons)
    await Promise.all([useCases.crons.stop(), served.webhooks.stop()])
  }
  parts.stops.defer(retire)
  return {
    revision,
    served,
    running,
    refuses_studio: userAuth?.studio === false,
    runs: () => working.worker.running(served),
    retire,
    close: () => parts.stops.disposeAsync(),
  }
}
