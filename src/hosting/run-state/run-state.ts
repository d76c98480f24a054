import { join, resolve } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { Metrics } from '../../base/metrics.ts'
import type { Sweeps } from '../../base/background/sweeps.ts'
import type { Config } from '../../config.ts'
import type { EventLog } from '../../events/event-log.ts'
import type { StoreChecks } from '../../base/background/store-checks.ts'
import { startStorageBroker, type StorageBroker } from '../../graph/broker/storage-broker.ts'
import type { DataDisk } from '../../ingest/store/data-disk.ts'
import type { OwnTraces } from '../../ingest/own-traces.ts'
import type { AssistantStore } from '../../runs/assistants/store.ts'
import type { Crons } from '../../runs/crons/crons.ts'
import type { CronStore } from '../../runs/crons/store.ts'
import type { RunsDeps } from '../../runs/create-runs.ts'
import { createDeploymentUse, type Deployment, type DeploymentUse } from '../../runs/deployment.ts'
import { createEarlyCancels, type EarlyCancels } from '../../runs/execute/early-cancels.ts'
import { createUnseenEnds, type UnseenEnds } from '../../runs/streams-v2/follow/unseen-ends.ts'
import { observeWaiting } from '../../runs/execute/waiting-gauges.ts'
import { createWaiters, type Waiters } from '../../runs/execute/waiters.ts'
import { createLocalWake, type Wake } from '../../runs/execute/wake.ts'
import { startWorker, type Worker } from '../../runs/execute/worker.ts'
import type { LargeItems } from '../../runs/items/large-items.ts'
import type { RunStore } from '../../runs/run-store.ts'
import { createOpenStreams, type OpenStreams } from '../../runs/streams/open-stream.ts'
import type { WebhookStore } from '../../runs/webhooks/store.ts'
import type { Webhooks } from '../../runs/webhooks/webhooks.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { Installation } from '../../storage/installation.ts'
import { type CheckpointRowStore, createSqlRowStore } from '../../storage/sql/checkpoints/row-store.ts'
import type { Database } from '../../storage/sql/driver/database.ts'
import { startDatabaseClock } from '../../storage/sql/driver/postgres/database-clock.ts'
import type { SqlPlace } from '../../storage/sql/driver/open.ts'
import { openRunDatabase } from '../../storage/sql/driver/open-run-database.ts'
import type { AsLeader } from '../../storage/sql/driver/postgres/migration-leader.ts'
import { createPostgresWake } from '../../storage/sql/driver/postgres/wake.ts'
import { createAssistantStore } from '../../storage/sql/runs/assistant-store.ts'
import { createCronStore } from '../../storage/sql/runs/cron-store.ts'
import { createRunStore } from '../../storage/sql/runs/run-store.ts'
import { createDeploymentUsage, type DeploymentUsage } from '../../storage/sql/runs/usage/deployment-usage.ts'
import { createWebhookStore } from '../../storage/sql/runs/webhook-store.ts'
import type { ServerRegistry } from '../../storage/sql/server-registry.ts'
import { connectionShares } from '../../storage/sql/driver/postgres/connection-budget.ts'
import { claimRuns } from '../../storage/own-stores.ts'
import { startEventLog } from './event-log.ts'
import { startLargeItems } from '../threads/items.ts'
import { startLargeValues } from '../threads/values.ts'
import { watchNewerRuns } from './newer-runs.ts'
import { leaseOwner } from './lease-owner.ts'

export interface DeploymentParts {
  config: Config
  logger: Logger
  metrics: Metrics
  sweeps: Sweeps
  workspace_id: string
  /** Opens what stores the traces of runs (D-45). Called once, if runs are traced. */
  openTraces(): OwnTraces
  installation: Installation
  /** Reads tokens and cost of a trace; null if there is no such trace. */
  traceTotals: RunsDeps['traceTotals']
  disk: Pick<DataDisk, 'assertRoom'>
  /** Undefined if no other server shares the stores. */
  asLeader: AsLeader | undefined
  /** The servers that share the stores; undefined if there is no other server. */
  servers: ServerRegistry | undefined
  /** Stop functions of the parts, in order of start. */
  stops: AsyncDisposableStack
}

/** A deployment whose runs this server executes, and the subscriptions that report the ends of its runs. */
export interface ServedDeployment extends Deployment {
  webhooks: Pick<Webhooks, 'ended' | 'stop'>
}

/** The stores of threads and runs, which all deployments of the server share; every row has a deployment's id. */
export interface RunState {
  place: SqlPlace
  database: Database
  /** The clock of leases and due times, which is the same on all servers of the database. */
  clock: Clock
  /** The socket through which hosts use the stores (P-25). */
  broker: StorageBroker
  /** Rows of checkpoints for hosts without access to the database. */
  checkpointRows: CheckpointRowStore
  /** Options with which hosts open run state. */
  storage: JsonObject
  events: EventLog
  store: RunStore
  assistants: AssistantStore
  cronStore: CronStore
  webhookStore: WebhookStore
  largeItems: LargeItems
  usage: DeploymentUsage
  /** Undefined if runs are not traced. */
  ownTraces: OwnTraces | undefined
  /** The revision that serves each deployment, by deployment id. One assignment switches it. */
  served: Map<string, ServedDeployment>
  /** Crons of all served revisions; they end before the worker. */
  crons: Set<Pick<Crons, 'stop'>>
  openStreams: OpenStreams
  use: DeploymentUse
  /** Checks of the stores, for `/ok?check_db=1`. */
  checks: StoreChecks
}

/** The parts that execute the runs of all deployments. */
export interface Working {
  worker: Worker
  waiters: Waiters
  earlyCancels: EarlyCancels
  unseenEnds: UnseenEnds
  wake: Wake
  /**
   * Stops claiming runs, waits a while for running ones, returns the others to the store, and then rejects all waiting
   * requests. Other requests may be running meanwhile.
   */
  settle(): Promise<void>
}

const LEASE_MS = 10_000
const RUN_GRACE_MS = 10_000
const MAX_ATTEMPTS = 3
const RETRY_MS = 500

/** Opens the run database and the event log. */
export async function openRunState(parts: DeploymentParts): Promise<RunState> {
  const { config, logger, stops } = parts
  const broker = await startStorageBroker(logger)
  stops.defer(() => broker.close())
  const shares = connectionShares(config.databaseConnections)
  const place = {
    url: config.databaseUrl,
    connections: shares.runs,
    file: join(resolve(config.dataDir), 'runs.db'),
    synchronous: config.sqliteSynchronous,
  }
  const database = await openRunDatabase(place, startLargeValues({ ...parts, place }), parts.asLeader)
  stops.defer(() => database.close())
  const clock = await startDatabaseClock(database, parts)
  const checkMark = await claimRuns(parts.installation, place, database)
  const { events, runEvents, checks, stop } = await startEventLog({ ...parts, database, clock })
  stops.defer(stop)
  const store = createRunStore(database, clock, runEvents, config.quotas, config.granularUsage)
  return {
    place,
    database,
    clock,
    broker,
    checkpointRows: createSqlRowStore(database),
    storage: {
      ...place,
      url: place.url ?? null,
      connections: shares.perHost,
      max_store_bytes: config.quotas.store_bytes,
    },
    events,
    store,
    assistants: createAssistantStore(database, clock, config.quotas),
    cronStore: createCronStore(database, clock, config.quotas),
    webhookStore: createWebhookStore(database, clock),
    largeItems: startLargeItems(parts),
    usage: createDeploymentUsage(database),
    ownTraces: config.runs.tracing ? parts.openTraces() : undefined,
    served: new Map(),
    crons: new Set(),
    openStreams: createOpenStreams(events),
    use: createDeploymentUse(),
    checks: { runs: () => store.nextDue().then(checkMark), ...checks },
  }
}

/** Starts the worker for the deployments that are served now and later; runs of earlier processes continue. */
export async function startWorking(parts: DeploymentParts, state: RunState): Promise<Working> {
  const { config, logger, metrics, stops } = parts
  const { database, clock, store, events, served, ownTraces, use } = state
  const url = config.databaseUrl
  const wake = url === undefined ? createLocalWake() : createPostgresWake({ url, database, logger })
  stops.defer(() => wake.close())
  stops.defer(observeWaiting({ store, deployments: () => [...served.keys()], clock, metrics }))
  const waiters = createWaiters()
  const earlyCancels = createEarlyCancels(clock)
  const unseenEnds = createUnseenEnds((message) => wake.send(message))
  const owner = await leaseOwner(config)
  const abandonedAbove = watchNewerRuns({ ...parts, store, clock, changed: () => worker.look() })
  const worker = await startWorker({
    store,
    events,
    wake,
    waiters,
    earlyCancels,
    unseenEnds,
    use,
    clock,
    logger,
    metrics,
    deployments: served,
    claimer: { owner, lease_ms: LEASE_MS, traced: ownTraces !== undefined },
    abandonedAbove,
    rules: {
      timeout_ms: config.runs.runTimeoutMs,
      unlogged_ms: config.redisOutageMs,
      max_attempts: MAX_ATTEMPTS,
      retry_ms: RETRY_MS,
    },
    record: ({ workspace_id, deployment_id, run }, body) =>
      ownTraces?.record({ workspace_id, ...run.caller }, body, { deployment_id, run_id: run.run_id }),
    ended: ({ deployment_id }, run) => served.get(deployment_id)?.webhooks.ended(run),
  })
  const settle = once(async () => {
    await Promise.all([...state.crons].map((crons) => crons.stop()))
    await worker.stop(RUN_GRACE_MS)
    waiters.close()
    state.openStreams.close()
    await ownTraces?.flushed()
  })
  stops.defer(settle)
  return { worker, waiters, earlyCancels, unseenEnds, wake, settle }
}

function once(work: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined
  return () => (result ??= work())
}
