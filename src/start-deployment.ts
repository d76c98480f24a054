import { randomBytes } from 'node:crypto'
import { basename, join, resolve } from 'node:path'
import { claimRuns } from './claim-stores.ts'
import { systemClock } from './base/clock.ts'
import { newUuid, parseUuid, uuidOfName } from './base/ids.ts'
import type { Logger } from './base/log.ts'
import type { Metrics } from './base/metrics.ts'
import type { Config, HostedConfig } from './config.ts'
import type { EventLog } from './events/event-log.ts'
import { type DeploymentFile, pickConfigurableHeaders, readDeploymentFile } from './graph/deployment-file.ts'
import type { GraphHosts } from './graph/host-pool.ts'
import { readStoreIndex } from './graph/store-index.ts'
import { createUserAuth, type UserAuth } from './graph/user-auth.ts'
import type { StoreChecks } from './http/store-checks.ts'
import type { Ingester } from './ingest/ingester.ts'
import { createOwnTraces, type OwnTraces } from './ingest/own-traces.ts'
import type { TraceReads } from './ingest/trace-reads.ts'
import { runsOfUser } from './runs/access/deployment-for.ts'
import type { AssistantStore } from './runs/assistant-store.ts'
import { createRuns } from './runs/create-runs.ts'
import { createStreams } from './runs/create-streams.ts'
import { createThreads } from './runs/create-threads.ts'
import { type Crons, startCrons } from './runs/crons.ts'
import type { Deployment } from './runs/deployment.ts'
import { createEarlyCancels } from './runs/early-cancels.ts'
import type { GraphHost } from './runs/graph-host.ts'
import type { KvStore } from './runs/kv-store.ts'
import type { Lists } from './runs/lists.ts'
import type { Caller, Tenant, ThreadTtl } from './runs/model.ts'
import { observeWaiting } from './runs/observe-waiting.ts'
import type { AssistantFacts } from './runs/plan-run.ts'
import type { RunStore } from './runs/run-store.ts'
import type { Runs } from './runs/runs.ts'
import type { Streams } from './runs/streams.ts'
import { systemAssistantId, systemAssistants } from './runs/system-assistants.ts'
import type { Threads } from './runs/threads.ts'
import { startThreadSweeper } from './runs/thread-sweeper.ts'
import { createWaiters } from './runs/waiters.ts'
import { createLocalWake } from './runs/wake.ts'
import { readWebhookRules } from './runs/webhook-rules.ts'
import type { WebhookStore } from './runs/webhook-store.ts'
import { startWebhooks, type WebhookOptions, type Webhooks } from './runs/webhooks.ts'
import { startWorker } from './runs/worker.ts'
import { type JsonObject, isObject } from './schema/json.ts'
import type { DecodeLimits } from './trace/decoded.ts'
import { startEventLog } from './start-event-log.ts'
import { startGraphHosts } from './start-graph-hosts.ts'
import { followFile, type Project, startProject } from './start-project.ts'
import { startLists } from './start-lists.ts'
import { recordChild } from './storage/child-processes.ts'
import type { Installation } from './storage/installation.ts'
import { keptValue } from './storage/kept-value.ts'
import { createAssistantStore } from './storage/sql/assistant-store.ts'
import { createCronStore } from './storage/sql/cron-store.ts'
import type { Database } from './storage/sql/database.ts'
import { createKvStore, type KvStoreOptions } from './storage/sql/kv-store.ts'
import { openRunDatabase } from './storage/sql/open-run-database.ts'
import { createRunStore } from './storage/sql/run-store.ts'
import { createWebhookStore } from './storage/sql/webhook-store.ts'
import { createPostgresWake } from './storage/sql/wake.ts'

/** A deployment that is hosted here: what its API stands on. */
export interface HostedDeployment {
  name: string
  tenant: Tenant
  runs: Runs
  threads: Threads
  streams: Streams
  crons: Crons
  assistants: AssistantStore
  items: KvStore
  lists: Lists
  events: EventLog
  host: GraphHosts
  /** By id or by name of its graph. */
  findAssistant(tenant: Tenant, id_or_graph: string): Promise<AssistantFacts | undefined>
  /** The deployment's own auth file, if it has one. */
  userAuth: UserAuth | undefined
  /** HTTP app and UI components. */
  project: Project
  /** What langgraph.json says under `http`. */
  http: JsonObject
  /** The headers of a request that graphs may read (run-api 1.1). */
  headersFor(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string>
  /** Its own stores, for `/ok?check_db=1`: run state, and Redis where there is one. */
  checks: StoreChecks
  /**
   * Takes no more runs, lets those under way end for a while and gives the others back, then lets go of all who wait.
   * Requests may still be under way meanwhile.
   */
  settle(): Promise<void>
}

export interface DeploymentParts {
  config: Config
  hosted: HostedConfig
  logger: Logger
  metrics: Metrics
  workspace_id: string
  /** Takes the traces of runs (D-45). */
  ingester: Ingester
  limits: DecodeLimits
  installation: Installation
  reads: Pick<TraceReads, 'query'>
  /** What ends each part, in order of start. */
  stops: (() => Promise<unknown> | void)[]
}

const LEASE_MS = 10_000
const RUN_GRACE_MS = 10_000
const MAX_ATTEMPTS = 3
const RETRY_MS = 500
const SWEEP_MS = 60_000
const SWEEP_ITEMS = 10_000

/** Starts what hosts the deployment; its runs of earlier processes go on. */
export async function startDeployment(parts: DeploymentParts): Promise<HostedDeployment> {
  const { config, hosted, stops } = parts
  const file = await readDeploymentFile(resolve(hosted.graphs), hosted.environment)
  const name = hosted.name ?? basename(file.folder)
  const tenant = { workspace_id: parts.workspace_id, deployment_id: uuidOfName(name, parts.workspace_id) }
  const place = {
    url: config.databaseUrl,
    file: join(resolve(config.dataDir), 'runs.db'),
    synchronous: config.sqliteSynchronous,
  }
  const database = await openRunDatabase(place)
  stops.push(() => database.close())
  const checkMark = await claimRuns(parts.installation, place, database)
  const storage = { ...place, url: place.url ?? null }
  const { host, watch } = await startGraphHosts(parts, { file, storage, name })
  const deployment: Deployment = { ...tenant, name, host, concurrency: hosted.concurrency }
  const { events, runEvents, checks, stop } = startEventLog({ ...parts, database })
  stops.push(stop)
  const store = createRunStore(database, systemClock, runEvents)
  const assistants = createAssistantStore(database, systemClock)
  await assistants.ensure(tenant, systemAssistants(host.graphs()))
  const findAssistant = assistantFinder(assistants, host)
  const itemOptions = storeOptions(file, host)
  const items = createKvStore(database, systemClock, itemOptions)
  const lists = startLists({ ...parts, ...itemOptions, place, items })
  const userAuth = startUserAuth(parts, file)
  const project = await startProject(parts, file, watch && ((files) => watch.add(files)))
  const serving = await startServing(parts, {
    database,
    deployment,
    store,
    events,
    findAssistant,
    file,
    userAuth,
    project,
  })
  startSweeping(parts, { ...serving, store, items, file })
  const headerRule = followFile(watch, { file, host, project, userAuth }, () =>
    assistants.ensure(tenant, systemAssistants(host.graphs())),
  )
  return {
    ...serving,
    name,
    tenant,
    assistants,
    items,
    lists,
    host,
    findAssistant,
    userAuth,
    project,
    http: file.http,
    headersFor: (headers) => pickConfigurableHeaders(headerRule(), headers),
    checks: { runs: () => store.nextDue().then(checkMark), ...checks },
  }
}

/** As the graphs have it, whose code a host runs. */
function storeOptions({ store_ttl, store_index }: DeploymentFile, host: GraphHosts): KvStoreOptions {
  const ttl = store_ttl?.['default_ttl']
  const index = readStoreIndex(store_index)
  return {
    default_ttl: typeof ttl === 'number' ? ttl : null,
    refresh_on_read: store_ttl?.['refresh_on_read'] !== false,
    index: index && { fields: index.fields, embed: (texts) => host.embed(texts) },
  }
}

function startUserAuth(
  { config, hosted, logger, stops }: DeploymentParts,
  file: DeploymentFile,
): UserAuth | undefined {
  const { auth } = file
  if (auth === null) return undefined
  const { environment } = hosted
  const record = (name: string, pid: number) => recordChild(resolve(config.dataDir), name, pid)
  const userAuth = createUserAuth({ file: { ...file, auth }, environment, logger, record })
  stops.push(() => userAuth.stop())
  return userAuth
}

interface ServingParts {
  database: Database
  deployment: Deployment
  store: RunStore
  events: EventLog
  findAssistant: HostedDeployment['findAssistant']
  file: DeploymentFile
  userAuth: UserAuth | undefined
  project: Pick<Project, 'app'>
}

/** Worker, use cases, crons and webhooks. */
async function startServing(parts: DeploymentParts, serving: ServingParts) {
  const { logger, stops } = parts
  const { database, deployment, store, events, findAssistant, file, userAuth, project } = serving
  const clock = systemClock
  const ownTraces = parts.hosted.tracing ? createOwnTraces({ ...parts, clock }) : undefined
  const deployments = [deployment.deployment_id]
  const rules = readWebhookRules(file, [file.env, parts.hosted.environment])
  const webhookStore = createWebhookStore(database, clock)
  const webhooks = await openWebhooks(parts, { store: webhookStore, deployments, rules, app: project.app })
  const working = await startWorking(parts, { database, deployment, store, events, webhooks, ownTraces })
  const { worker, waiters } = working
  const settle = once(async () => {
    await crons.stop()
    await worker.stop(RUN_GRACE_MS)
    waiters.close()
    streams.close()
    await ownTraces?.flushed()
  })
  stops.push(settle)
  const traceTotals = totalsReader(parts.reads)
  const shared = { store, clock, defaultTtl: defaultTtl(file) }
  const runs = createRuns({ ...working, ...shared, findAssistant, traceTotals, webhooks: rules, logger })
  const cronStore = createCronStore(database, clock)
  const hostOf = (): GraphHost => deployment.host
  const threads = createThreads({ ...shared, runs, events, crons: cronStore, hostOf, findAssistant })
  const streams = createStreams({ runs, threads, events, clock, logger })
  const runsOf = ({ user }: Caller): Runs =>
    user === undefined || userAuth === undefined
      ? runs
      : runsOfUser({ runs, threads, findAssistant }, userAuth, user)
  const crons = startCrons({
    ...{ store: cronStore, runsOf, threads, findAssistant, deployments, webhooks: rules },
    ...{ clock, logger },
  })
  return { runs, threads, streams, crons, events, webhookStore, settle }
}

async function openWebhooks(
  { config, hosted, logger, metrics, stops }: DeploymentParts,
  { app, ...told }: Pick<WebhookOptions, 'store' | 'deployments' | 'rules'> & Pick<Project, 'app'>,
): Promise<Webhooks> {
  const secret =
    hosted.webhookSecret ?? (await keptValue(resolve(config.dataDir), 'webhook-secret', newWebhookSecret))
  const allowPrivate = hosted.webhooksToPrivateAddresses
  const owner = await keptValue(resolve(config.dataDir), 'instance-id', newUuid)
  const webhooks = startWebhooks({
    ...told,
    appSocket: app && (async () => (await app.open()).socket),
    owner,
    secret,
    allowPrivate,
    clock: systemClock,
    logger,
    metrics,
  })
  stops.push(() => webhooks.stop())
  return webhooks
}

interface WorkingParts {
  database: Database
  deployment: Deployment
  store: RunStore
  events: EventLog
  webhooks: Webhooks
  ownTraces: OwnTraces | undefined
}

/** What executes runs, here and together with other processes. */
async function startWorking(parts: DeploymentParts, working: WorkingParts) {
  const { config, hosted, logger, metrics, stops } = parts
  const { database, deployment, store, events, webhooks, ownTraces } = working
  const clock = systemClock
  const url = config.databaseUrl
  const wake = url === undefined ? createLocalWake() : createPostgresWake({ url, database, logger })
  stops.push(() => wake.close())
  stops.push(observeWaiting({ store, deployments: [deployment.deployment_id], clock, metrics }))
  const waiters = createWaiters()
  const earlyCancels = createEarlyCancels(clock)
  const owner = await keptValue(resolve(config.dataDir), 'instance-id', newUuid)
  const worker = await startWorker({
    store,
    events,
    wake,
    waiters,
    earlyCancels,
    deployments: new Map([[deployment.deployment_id, deployment]]),
    claimer: { owner, lease_ms: LEASE_MS, traced: ownTraces !== undefined },
    rules: { timeout_ms: hosted.runTimeoutMs, max_attempts: MAX_ATTEMPTS, retry_ms: RETRY_MS },
    record: ({ workspace_id, run }, body) => ownTraces?.record({ workspace_id, ...run.caller }, body),
    ended: (_tenant, run) => webhooks.ended(run),
    clock,
    logger,
    metrics,
  })
  return { worker, waiters, earlyCancels, wake }
}

interface SweepingParts {
  store: RunStore
  events: EventLog
  items: KvStore
  webhookStore: WebhookStore
  file: DeploymentFile
}

function startSweeping(
  { logger, stops }: DeploymentParts,
  { store, events, items, webhookStore, file }: SweepingParts,
): void {
  const minutes = file.checkpointer_ttl?.['sweep_interval_minutes']
  const everyMs = typeof minutes === 'number' && minutes > 0 ? minutes * 60_000 : SWEEP_MS
  const also = async (): Promise<number> => (await items.sweep(SWEEP_ITEMS)) + (await webhookStore.sweep())
  const sweeper = startThreadSweeper({ store, events, everyMs, logger, also })
  stops.push(() => sweeper.stop())
}

function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

function once(work: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined
  return () => (result ??= work())
}

/** By id, or by name of a graph: then the assistant that stands for it. */
function assistantFinder(assistants: AssistantStore, host: GraphHosts): HostedDeployment['findAssistant'] {
  return async (tenant, asked) => {
    const id = parseUuid(asked)
    if (id !== undefined) return assistants.get(tenant, id)
    const isGraph = host.graphs().some(({ graph_id }) => graph_id === asked)
    return isGraph ? assistants.get(tenant, systemAssistantId(asked)) : undefined
  }
}

/** langgraph.json, `checkpointer.ttl`. */
function defaultTtl({ checkpointer_ttl }: DeploymentFile): ThreadTtl | null {
  const minutes = checkpointer_ttl?.['default_ttl']
  if (typeof minutes !== 'number') return null
  const strategy = checkpointer_ttl?.['strategy'] === 'keep_latest' ? 'keep_latest' : 'delete'
  return { strategy, ttl_minutes: minutes }
}

const TOTALS = [
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'prompt_cost',
  'completion_cost',
  'total_cost',
]

/** Tokens and cost of a trace: those of its root, which has the trace's id. */
function totalsReader(reads: Pick<TraceReads, 'query'>) {
  return async ({ workspace_id }: Tenant, trace_id: string): Promise<JsonObject | null> => {
    const query = { trace: trace_id, id: [trace_id], select: TOTALS, limit: 1, order: 'desc' } as const
    const answer: unknown = JSON.parse(
      new TextDecoder().decode(await reads.query(workspace_id, { ...query, id: [trace_id] })),
    )
    const found = isObject(answer) && Array.isArray(answer['runs']) ? answer['runs'][0] : undefined
    if (!isObject(found)) return null
    return Object.fromEntries(TOTALS.map((field) => [field, found[field] ?? null]))
  }
}
