import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createAuthenticator } from '../identity/authenticator.ts'
import { createOpenCallers } from '../http/server/callers/open-callers.ts'
import type { Bootstrapped } from '../identity/bootstrap.ts'
import { systemClock } from '../base/clock.ts'
import { AppError } from '../base/errors.ts'
import { createLogger, type Logger } from '../base/log.ts'
import { createMetrics, type Metrics } from '../base/metrics.ts'
import { oneAtATime, type StoreChecks } from '../base/background/store-checks.ts'
import { createSweeps, type Sweeps } from '../base/background/sweeps.ts'
import { misspeltText } from '../base/text/misspelt-names.ts'
import { createDeploymentFeed, type DeploymentFeed } from '../ingest/live/deployment-feed.ts'
import type { DeploymentHosting } from '../deploy/hosting.ts'
import { packageVersion } from '../base/node/package-version.ts'
import type { Config } from '../config.ts'
import { prepareDataDir, toStartError } from './data-dir.ts'
import { PartStack } from './part-stack.ts'
import { createBrowserGates } from '../http/server/browser/browser-gates.ts'
import type { AppDeps } from '../http/platform/app-deps.ts'
import { createEventStreams } from '../http/platform/reply/event-streams.ts'
import { createLiveStreams } from '../http/platform/reply/live-streams.ts'
import { createOauth, createSignIn } from '../http/platform/sign-in.ts'
import { eitherSessions, newSecret } from '../identity/browser-sessions.ts'
import type { ProviderSignIn } from '../identity/oidc/sign-in.ts'
import { startProviderSignIn } from './identity/provider-sign-in.ts'
import { createDrain, type Drain } from '../http/server/readiness.ts'
import { downStores, noteAnswers, watchStores } from '../http/server/store-checks.ts'
import { createIngester, observeIngest } from '../ingest/create-ingester.ts'
import { createOwnTraces } from '../ingest/own-traces.ts'
import { createReads } from '../query/create-reads.ts'
import { totalsReader } from '../query/root-totals.ts'
import type { BlobStore } from '../ingest/store/blob-store.ts'
import type { DataDisk } from '../ingest/store/data-disk.ts'
import type { DeletionStore } from '../ingest/deletion/deletion-store.ts'
import { deletingLateRecords } from '../ingest/deletion/late-records.ts'
import type { Ingester } from '../ingest/ingester.ts'
import { openIngestLog } from '../ingest/log/ingest-log.ts'
import type { ProjectStore } from '../ingest/project-store.ts'
import type { ReadStore } from '../ingest/store/stats-store.ts'
import { createPricePreview, type PricePreviewDeps } from '../ingest/prices/preview.ts'
import type { PriceStore } from '../ingest/prices/price-store.ts'
import { createPriceLookup } from '../ingest/prices/price-lookup.ts'
import { type Lanes, startLanes } from '../ingest/start-lanes.ts'
import { createLiveFeed, type LiveFeed } from '../ingest/live/live-feed.ts'
import type { RateGate } from '../ingest/rates/rate-gate.ts'
import { createUsageGate } from '../ingest/usage-gate.ts'
import { createStoreBatch } from '../ingest/store/store-batch.ts'
import { startStoreWriter } from '../ingest/store/store-writer.ts'
import { createRegistry } from '../schema/registry.ts'
import { watchDataDisk } from '../storage/files/data-disk.ts'
import { claimClickHouse, claimFolders } from '../storage/own-stores.ts'
import { openBlobs } from './blobs.ts'
import { startClickHouse } from './start-clickhouse.ts'
import { startCounting, type UsageCounting } from './counting.ts'
import { readGraphsProject } from '../hosting/graphs-deployment.ts'
import { startPlayground } from './playground/start-playground.ts'
import { openDeployments } from '../hosting/open-deployments.ts'
import {
  createFeedback,
  openTraceStore,
  startDeleting,
  startRepricing,
  startUpkeep,
} from './stored-traces.ts'
import { createSetupTransaction } from '../storage/sql/setup-stores.ts'
import { createApplySetup } from '../setup/apply-setup.ts'
import { createExportSetup } from '../setup/export-setup.ts'
import { createReadSecret } from '../setup/read-secret.ts'
import { startAuditRetention } from './identity/audit-retention.ts'
import { applySetupFile, createSetupFilePlan } from './identity/setup-file.ts'
import { createServerRegistry } from '../storage/sql/server-registry.ts'
import { openSqlStores, type SqlStores } from './sql-stores.ts'
import { startRates } from './ingest-rates.ts'
import { type AsLeader, migrationLeader } from '../storage/sql/driver/postgres/migration-leader.ts'
import { announceServer, type AppLinks, createAppLinks, type MovedAddress } from './server-address.ts'
import { startAlerts } from './alerts.ts'
import { assertPortsFree, type MovedPort, startHttp } from './http.ts'
import { graphFailuresOf } from '../hosting/revision/graph-hosts.ts'
import { startTelemetry } from '../telemetry.ts'
import type { DecodeLimits } from '../trace/decode/decoded.ts'

export interface WeirServer {
  /** URL of the platform API, e.g. `http://127.0.0.1:1984`. */
  readonly url: string
  /** URL of the deployment API; undefined if no deployment is hosted. */
  readonly deploymentUrl: string | undefined
  /** URL of OTLP over gRPC; undefined if it is off or its default port is taken. */
  readonly otlpGrpcUrl: string | undefined
  readonly hosting: DeploymentHosting
  /** Links to the web interface. */
  readonly app: AppLinks
  /** Resolves when the graphs are loaded, with one sentence for each graph that failed. */
  graphFailures(): Promise<readonly string[]>
  /** Default ports that were taken and replaced. */
  readonly movedPorts: readonly MovedPort[]
  /** Whether this is the first server that uses this data directory. */
  readonly isFirst: boolean
  /** Addresses that differ from those of the last start. */
  readonly movedAddresses: readonly MovedAddress[]
  /** The organization and workspace that the first start created, and their API key if it is known. */
  readonly identity: Bootstrapped
  /**
   * Stops the server: reports that it is not ready for DRAIN_DELAY_SECONDS, then closes the listeners, waits for
   * running requests, stores acknowledged data if the store responds (otherwise it stays in the ingest log), and ends
   * every child and thread.
   */
  stop(): Promise<void>
}

/** Parts that a caller may provide. */
export interface ServerOverrides {
  logger?: Logger
  /** Whether a store that was emptied since the last start is accepted. */
  acceptEmptyStore?: boolean
  /** Resolves when the server must stop, which ends a start that waits for a store. */
  stopping?: Promise<unknown>
}

const DRAIN_MS = 10_000
const MB = 1 << 20
const MAX_PARTS = 25_000
const MAX_PART_BYTES = 50 * MB
/** Minimum rate of a request body. */
const SENDER_LIMITS = { body_window_ms: 15_000, min_body_bytes_per_second: 4096 }
const OPEN_FRAGMENT_BYTES = 64 * MB
/** Limits of the streams of a deployment's log. */
const LOG_STREAMS = { max_unsent_bytes: 16 * MB, max_ms: 10 * 60_000 }

/**
 * Stores of runs and identity, to which parts write while they stop. Data acknowledged by ingest is already on disk.
 */
const STATE_STORES = ['sql', 'runs', 'redis']
/** Time limit for stopping all parts while one of these stores does not respond. */
const OUTAGE_STOP_MS = 4_000

/**
 * Starts all parts in dependency order. If a part fails, rejects with an AppError and leaves nothing running.
 *
 * @example A server on free ports, for the tests of an application.
 * ```ts
 * import { startServer } from 'weir'
 * import { readConfig } from 'weir/config'
 *
 * const env = { DATA_DIR: './weir-data', PORT: '0', DEPLOYMENT_PORT: '0', GRAPHS: '' }
 * const server = await startServer(readConfig(env))
 * process.env.LANGSMITH_ENDPOINT = server.url
 * // … the tests …
 * await server.stop()
 * ```
 */
export async function startServer(config: Config, overrides: ServerOverrides = {}): Promise<WeirServer> {
  const logger = overrides.logger ?? createLogger({ level: config.logLevel })
  const stops = new PartStack(logger)
  const stopping = new AbortController()
  let storesDown = async (): Promise<string[]> => []
  void overrides.stopping?.then(() => stopping.abort())
  const stop = async (): Promise<void> => {
    stopping.abort()
    const down = await storesDown()
    if (down.length > 0) {
      logger.warn({ down }, 'stop: stores do not answer; the server stops without waiting for them')
      stops.limitTo(OUTAGE_STOP_MS)
    }
    await stops.disposeAsync()
  }
  try {
    const { acceptEmptyStore = false } = overrides
    const metrics = createMetrics()
    const drain = createDrain(metrics)
    const url = config.databaseUrl
    const asLeader =
      url === undefined ? undefined : migrationLeader({ url, logger, stopping: stopping.signal })
    const sweeps = createSweeps({ logger, metrics })
    const base = { config, logger, metrics, sweeps, drain, stops, stopping: stopping.signal, asLeader }
    const { checks, ...parts } = await startParts({ ...base, acceptEmptyStore })
    storesDown = () => downStores(checks, STATE_STORES)
    let stopped: Promise<void> | undefined
    const stopOnce = (): Promise<void> => {
      if (stopped === undefined) logger.info('stopping')
      drain.begin()
      return (stopped ??= delay(config.drainDelayMs)
        .then(stop)
        .then(() => logger.info('stopped')))
    }
    return { ...parts, stop: stopOnce }
  } catch (error) {
    await stop()
    throw explained(error, config, logger)
  }
}

/** The error of a failed start, with a message and a code; the stack of an unexpected one is logged. */
function explained(thrown: unknown, { dataDir }: Config, logger: Logger): unknown {
  const error = toStartError(thrown, dataDir)
  if (error instanceof AppError) return error
  logger.fatal({ err: error }, 'the start failed')
  const reason = error instanceof Error ? error.message : String(error)
  return new AppError('internal', { message: `The start failed: ${reason}`, cause: error })
}

interface Base {
  config: Config
  logger: Logger
  metrics: Metrics
  sweeps: Sweeps
  drain: Drain
  stops: AsyncDisposableStack
  stopping: AbortSignal
  acceptEmptyStore: boolean
  /** Undefined if no other server shares the stores. */
  asLeader: AsLeader | undefined
}

async function startParts(base: Base): Promise<Omit<WeirServer, 'stop'> & { checks: StoreChecks }> {
  const { config, logger, metrics, stops } = base
  await prepare(base)
  const disk = await startDisk(base)
  const opening = startClickHouse(base)
  const sql = await openSqlStores(base)
  const { identity, projects, prices, repriceJobs, sharing, installation } = sql
  const servers = config.databaseUrl === undefined ? undefined : createServerRegistry(sql.database)
  const { blobs, checks: blobChecks } = await openBlobs(base, { ...sql, servers })
  const clickhouse = await claimClickHouse(base, await opening, installation)
  const checkFolders = await claimFolders(config, installation)
  const store = openTraceStore(base, clickhouse.connection, sql.deletions)
  startUpkeep(base, clickhouse)
  const limits = decodeLimits(config)
  const lanes = await startTraceLanes(base)
  const usage = startCounting({ ...base, ...sql, clickhouse })
  const stored = { store, ready: clickhouse.ready, projects, prices }
  const feeds = startLive(base, sql)
  const rates = await startRates(base, { ...sql, servers })
  const ingestParts = { ...stored, ...feeds, lanes, blobs, usage, rates, disk, deletions: sql.deletions }
  const ingester = await startIngest(base, ingestParts)
  const repricer = startRepricing(base, ingester, { ...stored, lane: lanes.read, jobs: repriceJobs })
  const reading = { prices, limits, links: sharing, clock: systemClock }
  const read = createReads({ store, readLane: lanes.read }, reading)
  const openTraces = () => createOwnTraces({ ...base, ingester, limits, clock: systemClock })
  const tracing = { openTraces, traceTotals: totalsReader(read.reads) }
  const parts = { ...base, ...tracing, disk, workspace_id: identity.workspace.id, installation, servers }
  startAuditRetention(base, sql.database)
  const deployments = await openDeployments({
    ...parts,
    ...feeds,
    database: sql.database,
    blobs,
    created_at: identity.workspace.created_at,
  })
  const hosted = deployments.graphs?.open.running
  const own = oneAtATime({
    clickhouse: () => clickhouse.check().then(() => ingester.checkStoring()),
    sql: sql.check,
    disk: () => disk.check().then(checkFolders),
  })
  const allChecks = { ...own, ...blobChecks, ...deployments.checks }
  const { checks, answered } = noteAnswers(allChecks, () => performance.now())
  const [people, localSecret] = [startProviderSignIn(base, sql), newSecret()]
  const deps: AppDeps = {
    ingester,
    ...read,
    feedback: createFeedback(sql.database, { store, ingester }),
    repricer,
    ...readPrices({ store, lane: lanes.read, prices }),
    deleter: startDeleting(base, { ...sql, ingester, blobs, clickhouse }),
    usage: usage.sources && { ...usage.sources, deployments: deployments.usage },
    rates,
    ...(await startSetup(base, sql)),
    ...(await startAlerts({ ...base, database: sql.database, reads: read.reads, ingester })),
    ...sqlDeps(sql),
    blobs,
    ...authDeps(base, sql, people),
    controlPlane: deployments.controlPlane,
    logStreams: createEventStreams({ ...config.streams, ...LOG_STREAMS }),
    signIn: createSignIn(sql.sessions, hosted?.name, { people, localSecret }),
    oauth: createOauth(sql.oauth),
    ...(await startPlayground({ ...base, ...stored, ingester, limits, database: sql.database, lanes })),
    live: createLiveStreams({ ...feeds, health: () => ingester.health(), limits: config.streams }),
    ...baseDeps(base),
    disk,
    answered,
    checks: { ...checks, sweeps: async () => base.sweeps.assertWorking() },
    clickHouseKind: config.clickhouseLayout.kind,
    limits: { ...limits, ...SENDER_LIMITS, max_inflight_bytes: config.ingestMaxInflightBytes },
  }
  stops.defer(watchStores({ checks, metrics }))
  const listening = await startHttp({ config, logger, deps, hosted: hosted?.name, stops, ...deployments })
  await deployments.restore()
  const { withdraw, ...news } = await announceServer(config.dataDir, listening, localSecret)
  stops.defer(withdraw)
  const app = createAppLinks(config, listening.url, sql)
  return { checks, identity, ...news, app, ...listening, graphFailures: () => graphFailuresOf(hosted?.host) }
}

/** What routes use of the process. */
function baseDeps({ config: { publicUrl, deploymentsOrigin, deploy }, metrics, logger, drain }: Base) {
  const process = { metrics, logger, drain, clock: systemClock, version: packageVersion() }
  return { ...process, registry: createRegistry(), publicUrl, deploymentsOrigin, plan: deploy.plan }
}

/** The stores that routes use as they are. */
function sqlDeps(stores: SqlStores) {
  const { sharing, comments, projects, projectViews, prices, usageLimits, ingestLimits } = stores
  const { identityStore, managed, scim } = stores
  return {
    sharing,
    comments,
    projects,
    projectViews,
    prices,
    usageLimits,
    ingestLimits,
    identity: identityStore,
    managed,
    scim,
  }
}

/** Applies SETUP_FILE, and returns what applies further set-ups and writes them. */
async function startSetup(
  base: Base,
  { database, identity }: SqlStores,
): Promise<Pick<AppDeps, 'applySetup' | 'exportSetup' | 'planSetupFile'>> {
  const { config, logger } = base
  const inOneTransaction = createSetupTransaction(database, systemClock)
  const apply = createApplySetup({
    inOneTransaction,
    registry: createRegistry(),
    clock: systemClock,
  })
  const file = { apply, readSecret: createReadSecret(config.runs.environment) }
  await applySetupFile(config.setupFile, { ...file, organization_id: identity.organization.id, logger })
  return {
    applySetup: apply,
    exportSetup: createExportSetup(inOneTransaction),
    planSetupFile: createSetupFilePlan(config.setupFile, file),
  }
}

function readPrices(deps: PricePreviewDeps): Pick<AppDeps, 'findPrice' | 'previewPrices'> {
  return { findPrice: createPriceLookup(deps.lane, deps.prices), previewPrices: createPricePreview(deps) }
}

/** Starts the feeds of changes, which end after all parts that publish to them. */
function startLive(
  { stops }: Base,
  { livePeers }: SqlStores,
): { feed: LiveFeed; deploymentFeed: DeploymentFeed } {
  const feed = createLiveFeed(livePeers)
  stops.defer(() => feed.close())
  return { feed, deploymentFeed: createDeploymentFeed() }
}

function startTraceLanes({ config, logger, stops }: Base): Promise<Lanes> {
  return startLanes({
    processors: config.processors.map((path) => resolve(path)),
    open_fragment_bytes: config.clickhouseUrl === undefined ? OPEN_FRAGMENT_BYTES : 0,
    logger,
    stops,
  })
}

async function prepare({ config, logger, metrics, stops }: Base): Promise<void> {
  for (const misspelt of config.misspelt) logger.warn(misspeltText(misspelt))
  await assertPortsFree(config)
  // A missing file must fail the start before anything is created or opened.
  await readGraphsProject(config)
  await prepareDataDir(config.dataDir)
  const telemetry = await startTelemetry({ endpoint: config.otlpEndpoint, metrics, logger })
  stops.defer(() => telemetry.stop())
}

/** Authenticates by key or session; with AUTH=off, accepts every request that the browser gates accept. */
function authDeps(
  { config: { auth, host, publicUrl, identityOutageMs: outageMs }, stops }: Base,
  { identityStore: store, sessions: keyed, oauth: tokens, identity, invites }: SqlStores,
  people: ProviderSignIn | undefined,
): Pick<AppDeps, 'authenticator' | 'gates' | 'invites' | 'openCallers' | 'sessionGates'> {
  const gates = createBrowserGates({ host, publicUrl })
  const sessions = people === undefined ? keyed : eitherSessions(keyed, people.sessions)
  const stored = { store, sessions, tokens, clock: systemClock, outageMs }
  const authenticator = createAuthenticator(auth ? stored : { ...stored, openGrant: identity.grant })
  const openCallers = createOpenCallers(authenticator)
  stops.defer(() => openCallers.close())
  return {
    authenticator,
    invites,
    openCallers,
    ...(auth ? { gates: undefined, sessionGates: gates } : { gates, sessionGates: undefined }),
  }
}

async function startDisk({ config, logger, metrics, stops }: Base): Promise<DataDisk> {
  const dir = resolve(config.dataDir)
  const disk = await watchDataDisk({ dir, minFreeBytes: config.diskMinFreeBytes, logger, metrics })
  stops.defer(() => disk.stop())
  return disk
}

function decodeLimits({ ingestMaxBodyBytes }: Config): DecodeLimits {
  return { max_body_bytes: ingestMaxBodyBytes, max_parts: MAX_PARTS, max_part_bytes: MAX_PART_BYTES }
}

interface IngestParts {
  store: ReadStore
  ready: Promise<void>
  lanes: Lanes
  projects: ProjectStore
  prices: PriceStore
  blobs: BlobStore
  deletions: DeletionStore
  usage: UsageCounting
  rates: RateGate
  disk: DataDisk
  feed: LiveFeed
}

/** Starts log, writer and ingester. The stop stores the content of the log, if the store responds. */
async function startIngest(
  base: Base,
  { store, ready, lanes, projects, prices, blobs, usage, rates, disk, deletions, feed }: IngestParts,
): Promise<Ingester> {
  const { config, logger, metrics, stops } = base
  const dir = join(config.dataDir, 'ingest-log')
  const log = await openIngestLog({ dir, maxBytes: config.ingestLogMaxBytes, logger })
  stops.defer(() => log.close())
  const exclusive = config.clickhouseUrl === undefined
  const storing = createStoreBatch({
    store,
    deriveLanes: lanes.derive,
    prices,
    usage: usage.recorder,
    live: feed,
    exclusive,
    logger,
    metrics,
  })
  const storeBatch = deletingLateRecords(storing, { deletions, clock: systemClock, logger })
  const writer = startStoreWriter({ log, storeBatch, ready, logger, metrics })
  stops.defer(() => writer.stop(DRAIN_MS))
  const ingester = createIngester({
    decodeLane: lanes.decode,
    usage: usage.recorder,
    projects,
    blobs,
    log,
    writer,
    disk,
    gate:
      usage.tally &&
      createUsageGate({
        limits: usage.limits,
        tally: usage.tally,
        stored: () => log.committed,
        reached: (position) => writer.reached(position),
        clock: systemClock,
        logger,
      }),
    rates,
    ack: config.ingestAck,
    deleted: deletions,
    logger,
    metrics,
    clock: systemClock,
    lanes: { decode: [lanes.decode], derive: lanes.derive.pools, read: [lanes.read] },
  })
  observeIngest(metrics, ingester)
  return ingester
}
