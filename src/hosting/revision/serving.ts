import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { systemClock } from '../../base/clock.ts'
import type { EventLog } from '../../events/event-log.ts'
import type { HeaderRule } from '../../graph/project/configurable-headers.ts'
import type { DeploymentFile } from '../../graph/project/deployment-file.ts'
import type { GraphHosts } from '../../graph/pool/pool.ts'
import { readStoreIndex } from '../../graph/project/store-index.ts'
import { readStoreTtl } from '../../graph/project/store-ttl.ts'
import { createUserAuth, type UserAuth } from '../../graph/user-auth/user-auth.ts'
import type { StoreChecks } from '../../base/background/store-checks.ts'
import { type Reachable, runsOfUser } from '../../runs/access/deployment-for.ts'
import { assistantFinder } from '../../runs/assistants/find-assistant.ts'
import { systemAssistants } from '../../runs/assistants/system.ts'
import { createRuns } from '../../runs/create-runs.ts'
import { startCrons } from '../../runs/crons/crons.ts'
import type { GraphHost } from '../../runs/execute/graph-host.ts'
import type { Caller, Tenant } from '../../runs/model.ts'
import type { Runs } from '../../runs/runs.ts'
import { sharesContext } from '../../runs/shared-context.ts'
import { createStreams } from '../../runs/streams/create-streams.ts'
import { createThreads } from '../../runs/threads/create-threads.ts'
import { defaultTtl } from '../../runs/threads/default-ttl.ts'
import type { WebhookRules } from '../../runs/webhooks/rules.ts'
import { startWebhooks, type Webhooks } from '../../runs/webhooks/webhooks.ts'
import type { JsonObject } from '../../schema/json.ts'
import { recordChild } from '../../storage/child-processes.ts'
import { createKvStore, type KvStoreOptions } from '../../storage/sql/items/kv-store.ts'
import type { KvStore } from '../../runs/items/kv-store.ts'
import { keptValue } from '../../storage/files/kept-value.ts'
import type { ProcessParts, ProjectProcesses } from './project.ts'
import { leaseOwner } from '../run-state/lease-owner.ts'
import {
  type DeploymentParts,
  type RunState,
  type ServedDeployment,
  type Working,
} from '../run-state/run-state.ts'

/** One revision of a deployment, before it is served. */
export interface OpenDeployment {
  tenant: Tenant
  name: string
  file: DeploymentFile
  host: GraphHosts
  items: KvStore
  /** Undefined without an auth file. */
  userAuth: UserAuth | undefined
  project: ProjectProcesses
  ownApi: string
  webhookRules: WebhookRules
  webhookSecret: string
  owner: string
  /** The headers of requests that graphs may read, by the current langgraph.json. */
  headerRule(): HeaderRule
}

/** A hosted deployment: the parts that its API uses. */
export interface RunningDeployment extends Reachable {
  name: string
  tenant: Tenant
  items: KvStore
  events: EventLog
  host: GraphHosts
  /** The deployment's own auth file, if it has one. */
  userAuth: UserAuth | undefined
  /** Custom HTTP app and UI components. */
  project: ProjectProcesses
  /** Path of the socket at which its graphs call its API. */
  ownApi: string
  /** `http` of langgraph.json. */
  http: JsonObject
  /** The headers of a request that graphs may read. */
  headersFor(headers: Readonly<Record<string, string | string[] | undefined>>): JsonObject
  /** Stores of the deployment, for `/ok?check_db=1`: run state, and Redis if it is configured. */
  checks: StoreChecks
}

/** Stores the default assistants of the graphs (P-32), and the deployment's name for reports of usage. */
export async function ensureAssistants(
  { assistants, usage }: Pick<RunState, 'assistants' | 'usage'>,
  { name, tenant, host }: Pick<OpenDeployment, 'name' | 'tenant' | 'host'>,
): Promise<void> {
  await usage.keepName({ ...tenant, name })
  await assistants.ensure(tenant, systemAssistants(host.graphs()))
}

/** The long-term memory of a deployment, with the settings of its file; a host computes embeddings. */
export function itemsOf(
  { config }: Pick<DeploymentParts, 'config'>,
  { database, largeItems }: Pick<RunState, 'database' | 'largeItems'>,
  { file, host }: { file: DeploymentFile; host: Pick<GraphHosts, 'embed'> },
): KvStore {
  const index = readStoreIndex(file.store_index)
  const options: KvStoreOptions = {
    ...readStoreTtl(file.store_ttl),
    index: index && { fields: index.fields, embed: (texts) => host.embed(texts), large: largeItems },
  }
  return createKvStore(database, systemClock, { ...options, quotas: config.quotas })
}

/** The process of the deployment's auth file, if it has one. */
export function startUserAuth(
  { config, logger, stops, confine, printed, mask }: ProcessParts,
  file: DeploymentFile,
): UserAuth | undefined {
  const { auth } = file
  if (auth === null) return undefined
  const { environment } = config.runs
  const record = (name: string, pid: number) => recordChild(resolve(config.dataDir), name, pid)
  const options = { environment, logger, printed, mask, record, confine }
  const userAuth = createUserAuth({ file: { ...file, auth }, ...options })
  stops.defer(() => userAuth.stop())
  return userAuth
}

/** Reads the secret and the lease owner of webhooks; creates a secret if none is set. */
export async function webhookSender({
  config,
}: Pick<DeploymentParts, 'config'>): Promise<Pick<OpenDeployment, 'webhookSecret' | 'owner'>> {
  const webhookSecret =
    config.runs.webhookSecret ??
    (await keptValue(resolve(config.dataDir), 'webhook-secret', newWebhookSecret))
  return { webhookSecret, owner: await leaseOwner(config) }
}

/** Delivers the webhooks of the deployment by its own rules. */
export function openWebhooks(
  { config, logger, metrics, stops }: Pick<DeploymentParts, 'config' | 'logger' | 'metrics' | 'stops'>,
  { webhookStore: store, clock }: Pick<RunState, 'webhookStore' | 'clock'>,
  {
    tenant,
    project,
    webhookRules: rules,
    webhookSecret,
    owner,
    isFirst,
  }: OpenDeployment & { isFirst: boolean },
): Webhooks {
  const { app } = project
  const webhooks = startWebhooks({
    store,
    deployments: [tenant.deployment_id],
    rules,
    appSocket: app && (async () => (await app.open()).socket),
    owner,
    recovers: isFirst,
    secret: webhookSecret,
    allowPrivate: config.runs.webhooksToPrivateAddresses,
    clock,
    logger,
    metrics,
  })
  stops.defer(() => webhooks.stop())
  return webhooks
}

export interface UseCaseParts {
  served: ServedDeployment
  open: OpenDeployment
  /** Whether a server of the deployment has the graph; undefined if there is only this server. */
  hasGraph?: ((graph_id: string) => Promise<boolean>) | undefined
}

/** Opens the services of a deployment whose runs `working` executes; its crons create runs from now on. */
export function openUseCases(
  parts: Pick<DeploymentParts, 'logger' | 'traceTotals' | 'disk'>,
  { state, working }: { state: RunState; working: Working },
  { served, open, hasGraph }: UseCaseParts,
) {
  const { logger, traceTotals } = parts
  const { store, events, cronStore } = state
  const { file, host, userAuth, webhookRules: webhooks } = open
  const { clock } = state
  const findAssistant = assistantFinder(state.assistants, host, hasGraph)
  const assertRoom = (): Promise<void> => parts.disk.assertRoom()
  const shared = { store, clock, defaultTtl: defaultTtl(file.checkpointer_ttl), assertRoom }
  const runs = createRuns({
    ...working,
    ...shared,
    findAssistant,
    sharesContext: (id) => sharesContext(host.graphs(), id),
    traceTotals,
    webhooks,
    logger,
  })
  const hostOf = ({ deployment_id }: Tenant): GraphHost =>
    state.served.get(deployment_id)?.host ?? served.host
  const threads = createThreads({ ...shared, runs, events, hostOf, findAssistant })
  const streams = createStreams({
    runs,
    threads,
    events,
    clock,
    logger,
    open: state.openStreams,
    unseenEnds: working.unseenEnds,
  })
  const runsOf = ({ user }: Caller): Runs =>
    user === undefined || userAuth === undefined
      ? runs
      : runsOfUser({ runs, threads, findAssistant }, userAuth, user)
  const crons = startCrons({
    store: cronStore,
    runsOf,
    threads,
    findAssistant,
    webhooks,
    assertRoom,
    clock,
    logger,
    deployments: [served.deployment_id],
  })
  state.crons.add(crons)
  return { runs, threads, streams, crons, findAssistant, largeItems: state.largeItems }
}

function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}
