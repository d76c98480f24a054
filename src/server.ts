import { join, resolve } from 'node:path'
import { createAuthenticator } from './auth/authenticator.ts'
import { type Bootstrapped, bootstrapIdentity } from './auth/bootstrap.ts'
import { systemClock } from './base/clock.ts'
import { AppError } from './base/errors.ts'
import { createLogger, type Logger } from './base/log.ts'
import { createMetrics, type Metrics } from './base/metrics.ts'
import { packageVersion } from './base/package-version.ts'
import type { Config } from './config.ts'
import { prepareDataDir, toStartError } from './data-dir.ts'
import { createBrowserGates } from './http/browser-gates.ts'
import type { AppDeps, UsageSources } from './http/app-deps.ts'
import { watchStores } from './http/store-checks.ts'
import { createIngester } from './ingest/create-ingester.ts'
import { createTraceReads } from './ingest/create-trace-reads.ts'
import type { BlobStore } from './ingest/blob-store.ts'
import type { DataDisk } from './ingest/data-disk.ts'
import type { Ingester } from './ingest/ingester.ts'
import { observeIngest } from './ingest/observe-ingest.ts'
import { openIngestLog } from './ingest/ingest-log.ts'
import type { ProjectStore } from './ingest/project-store.ts'
import type { TraceStore } from './ingest/trace-store.ts'
import type { PriceStore } from './ingest/price-store.ts'
import { createPriceLookup } from './ingest/price-lookup.ts'
import { type Repricer, type RepricerDeps, startRepricer } from './ingest/repricer.ts'
import { type Lanes, startLanes } from './ingest/start-lanes.ts'
import { createTraceTally } from './ingest/trace-tally.ts'
import { createUsageGate } from './ingest/usage-gate.ts'
import type { TraceTally, UsageLimitStore } from './ingest/usage-limits.ts'
import { createStoreBatch } from './ingest/store-batch.ts'
import { STORED_COLUMNS, USAGE_COLUMNS } from './ingest/stored-columns.ts'
import { startStoreWriter } from './ingest/store-writer.ts'
import { createUsageRecorder, type UsageRecorder } from './ingest/usage-recorder.ts'
import { createRegistry } from './schema/registry.ts'
import { createFileBlobStore } from './storage/blob-store.ts'
import { openInstallation, sqlStore } from './storage/installation.ts'
import { watchDataDisk } from './storage/data-disk.ts'
import { type OpenedClickHouse, openClickHouse } from './storage/clickhouse/open.ts'
import { createTraceStore } from './storage/clickhouse/trace-store.ts'
import { createUsageRollups } from './storage/clickhouse/usage-rollups.ts'
import { createUsageStore } from './storage/clickhouse/usage-store.ts'
import { createUsageDetailsSource } from './storage/clickhouse/usage-details.ts'
import { createUsageSource } from './storage/clickhouse/usage-source.ts'
import { createIdentityStore } from './storage/sql/identity-store.ts'
import { createUsageLimitStore } from './storage/sql/usage-limit-store.ts'
import { switchUsage } from './storage/sql/usage-switches.ts'
import { openSql } from './storage/sql/open.ts'
import { createPriceStore } from './storage/sql/price-store.ts'
import { createProjectStore } from './storage/sql/project-store.ts'
import { createRepriceJobStore } from './storage/sql/reprice-job-store.ts'
import { claimClickHouse, claimFolders } from './claim-stores.ts'
import { startDeployment } from './start-deployment.ts'
import { announceServer } from './server-address.ts'
import { assertPortsFree, type MovedPort, startHttp } from './start-http.ts'
import { graphFailuresOf } from './start-graph-hosts.ts'
import { startTelemetry } from './telemetry.ts'
import type { DecodeLimits } from './trace/decoded.ts'
import { createUsageRebuilds } from './usage/usage-rebuilds.ts'
import { startUsageRoller } from './usage/usage-roller.ts'

/** A running Weir. */
export interface WeirServer {
  /** Where the platform API listens, e.g. `http://127.0.0.1:1984`. */
  readonly url: string
  /** Where the deployment API listens; undefined when no deployment is hosted. */
  readonly deploymentUrl: string | undefined
  /** Why graphs cannot be loaded, a sentence for each, once that is known. */
  graphFailures(): Promise<readonly string[]>
  /** Default ports that somebody else has. */
  readonly movedPorts: readonly MovedPort[]
  /** No server of this data directory has listened before. */
  readonly isFirst: boolean
  /** Who the first start created, and the key if it is known. */
  readonly identity: Bootstrapped
  /**
   * Takes no new connection, lets requests under way finish, stores what has been acknowledged as far as the store
   * answers (the rest waits in the ingest log), and ends every child and thread.
   */
  stop(): Promise<void>
}

/** Parts that a caller may bring along. */
export interface ServerOverrides {
  logger?: Logger
  /** A store that has been emptied since the last start is taken for a new one. */
  acceptEmptyStore?: boolean
}

const DRAIN_MS = 10_000
const MB = 1 << 20
const MAX_PARTS = 25_000
const MAX_PART_BYTES = 50 * MB
/** How slowly a body may be sent. */
const SENDER_LIMITS = { body_window_ms: 15_000, min_body_bytes_per_second: 4096 }
const OPEN_FRAGMENT_BYTES = 64 * MB

/** Starts everything in dependency order. Rejects with an AppError and leaves nothing running when a part fails. */
export async function startServer(config: Config, overrides: ServerOverrides = {}): Promise<WeirServer> {
  const logger = overrides.logger ?? createLogger({ level: config.logLevel })
  const stops: Stops = []
  const stop = async (): Promise<void> => {
    for (let end = stops.pop(); end; end = stops.pop()) {
      await Promise.resolve(end()).catch((error: unknown) =>
        logger.error({ err: error }, 'stop: a part did not end well'),
      )
    }
  }
  try {
    const { acceptEmptyStore = false } = overrides
    const parts = await startParts({ config, logger, metrics: createMetrics(), stops, acceptEmptyStore })
    let stopped: Promise<void> | undefined
    const stopOnce = (): Promise<void> => {
      if (stopped === undefined) logger.info('stopping')
      return (stopped ??= stop().then(() => logger.info('stopped')))
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

/** What ends each part, in order of start; they run in reverse. */
type Stops = (() => Promise<unknown> | void)[]

/** What every part is given. */
interface Base {
  config: Config
  logger: Logger
  metrics: Metrics
  stops: Stops
  acceptEmptyStore: boolean
}

async function startParts(base: Base): Promise<Omit<WeirServer, 'stop'>> {
  const { config, logger, metrics, stops } = base
  await prepare(base)
  const telemetry = await startTelemetry({ endpoint: config.otlpEndpoint, metrics, logger })
  stops.push(() => telemetry.stop())
  const disk = await startDisk(base)
  const opening = startClickHouse(base)
  const sql = await startSql(base)
  const { identity, identityStore, projects, prices, repriceJobs, usageLimits, installation } = sql
  const clickhouse = await claimClickHouse(base, await opening, installation)
  const checkFolders = await claimFolders(config, installation)
  const store = createTraceStore(clickhouse.connection, STORED_COLUMNS)
  const limits = decodeLimits(config)
  const blobs = createFileBlobStore(join(config.dataDir, 'blobs'))
  const lanes = await startLanes({
    processors: config.processors.map((path) => resolve(path)),
    open_fragment_bytes: config.clickhouseUrl === undefined ? OPEN_FRAGMENT_BYTES : 0,
    logger,
    stops,
  })
  const usage = startCounting(base, clickhouse, sql)
  const stored = { store, ready: clickhouse.ready, projects, prices }
  const ingester = await startIngest(base, { ...stored, lanes, blobs, usage, disk })
  const repricing = { ...stored, lane: lanes.read, jobs: repriceJobs }
  const repricer = startRepricing(base, ingester, repricing)
  const reads = createTraceReads({ store, readLane: lanes.read, prices, limits })
  const parts = { ...base, workspace_id: identity.workspace.id, ingester, limits, reads, installation }
  const hosted = config.hosted && (await startDeployment({ ...parts, hosted: config.hosted }))
  const checks = {
    clickhouse: () => store.ping().then(clickhouse.check),
    sql: sql.check,
    disk: () => disk.check().then(checkFolders),
  }
  const deps: AppDeps = {
    ingester,
    reads,
    projects,
    prices,
    findPrice: createPriceLookup(lanes.read, prices),
    repricer,
    usage: usage.sources,
    usageLimits,
    identity: identityStore,
    blobs,
    ...doorOf(config, sql),
    registry: createRegistry(),
    metrics,
    logger,
    clock: systemClock,
    limits: { ...limits, ...SENDER_LIMITS, max_inflight_bytes: config.ingestMaxInflightBytes },
    version: packageVersion(),
    ...{ checks, disk },
  }
  stops.push(watchStores({ checks: { ...checks, ...hosted?.checks }, metrics }))
  const listening = await startHttp({ config, logger, deps, hosted, stops })
  const { isFirst, withdraw } = await announceServer(config.dataDir, listening)
  stops.push(withdraw)
  return { identity, isFirst, ...listening, graphFailures: () => graphFailuresOf(hosted?.host) }
}

async function prepare({ config, logger }: Base): Promise<void> {
  for (const { name, meant } of config.misspelt)
    logger.warn({ name, meant }, `${name} is not a setting and is not read; ${meant} is one`)
  await assertPortsFree(config)
  await prepareDataDir(config.dataDir)
}

/** Who is let in: the holders of keys, or with AUTH=off everyone who passes the gates. */
function doorOf(
  { auth, publicUrl }: Config,
  { identityStore: store, identity }: Awaited<ReturnType<typeof startSql>>,
): Pick<AppDeps, 'authenticator' | 'gates'> {
  if (auth) return { authenticator: createAuthenticator({ store, clock: systemClock }), gates: undefined }
  return {
    authenticator: createAuthenticator({ store, clock: systemClock, openGrant: identity.grant }),
    gates: createBrowserGates({ publicUrl }),
  }
}

async function startDisk({ config, logger, metrics, stops }: Base): Promise<DataDisk> {
  const dir = resolve(config.dataDir)
  const disk = await watchDataDisk({ dir, minFreeBytes: config.diskMinFreeBytes, logger, metrics })
  stops.push(() => disk.stop())
  return disk
}

function decodeLimits({ ingestMaxBodyBytes }: Config): DecodeLimits {
  return { max_body_bytes: ingestMaxBodyBytes, max_parts: MAX_PARTS, max_part_bytes: MAX_PART_BYTES }
}

/** Opens while other parts start; a ClickHouse that could not be opened has nothing to end. */
function startClickHouse({ config, logger, stops }: Base): Promise<OpenedClickHouse> {
  const opening = openClickHouse({
    url: config.clickhouseUrl,
    cluster: config.clickhouseCluster,
    dataDir: resolve(config.dataDir),
    logger,
  })
  stops.push(() =>
    opening.then(
      (clickhouse) => clickhouse.stop(),
      () => undefined,
    ),
  )
  return opening
}

/** The SQL store: organization, workspaces, keys, projects, own prices. */
async function startSql({ config, logger, stops, acceptEmptyStore }: Base) {
  const dataDir = resolve(config.dataDir)
  const file = join(dataDir, 'weir.db')
  const database = await openSql({ url: config.databaseUrl, file, synchronous: config.sqliteSynchronous })
  stops.push(() => database.close())
  const place = config.databaseUrl === undefined ? file : 'The database of DATABASE_URL'
  const installation = await openInstallation({ database, place, dataDir, acceptEmpty: acceptEmptyStore })
  const identityStore = createIdentityStore(database)
  const options = { dataDir, bootstrapKey: config.bootstrapApiKey, clock: systemClock }
  const identity = await bootstrapIdentity(identityStore, options)
  if (identity.ignoredBootstrapKey) {
    logger.warn('BOOTSTRAP_API_KEY is not a key of this data directory and was not taken')
  }
  if (identity.replaced) {
    logger.warn({ file: join(dataDir, 'api-key') }, 'no admin key stood any more: a new one was made')
  }
  return {
    identity,
    identityStore,
    installation,
    check: await installation.claim(sqlStore('sql', place, database)),
    projects: createProjectStore(database, systemClock),
    prices: createPriceStore(database, systemClock),
    repriceJobs: createRepriceJobStore(database),
    usageLimits: createUsageLimitStore(database, systemClock),
    usagePeriods: await switchUsage(database, config.granularUsage, systemClock.now()),
  }
}

/** Counting traces, and what is read of it: `undefined` where reporting is switched off. */
interface Usage {
  recorder: UsageRecorder
  sources: UsageSources | undefined
  limits: UsageLimitStore
  tally: TraceTally | undefined
}

/** Counts traces and keeps the counts ready; with the switches off it only finishes what was received before. */
function startCounting(
  { config, logger, stops }: Base,
  clickhouse: OpenedClickHouse,
  { identityStore, usageLimits, usagePeriods }: Awaited<ReturnType<typeof startSql>>,
): Usage {
  const { connection, ready } = clickhouse
  const store = createUsageStore(connection, USAGE_COLUMNS)
  const recorder = createUsageRecorder({
    store,
    exclusive: config.clickhouseUrl === undefined,
    periods: usagePeriods,
  })
  const rollups = createUsageRollups(connection)
  const roller = startUsageRoller({ rollups, recorded: () => recorder.recorded, ready, logger })
  stops.push(() => roller.stop())
  if (!config.granularUsage) return { recorder, sources: undefined, limits: usageLimits, tally: undefined }
  const counts = createUsageSource(connection)
  const rebuilds = createUsageRebuilds({ rollups, clock: systemClock, logger })
  stops.push(() => rebuilds.stop())
  const workspaces = async (organization_id: string): Promise<string[]> => [
    ...(await identityStore.names(organization_id)).workspaces.keys(),
  ]
  return {
    recorder,
    sources: { counts, details: createUsageDetailsSource(connection), rebuilds },
    limits: usageLimits,
    tally: createTraceTally({ source: counts, store, workspaces }),
  }
}

interface IngestParts {
  store: TraceStore
  ready: Promise<void>
  lanes: Lanes
  projects: ProjectStore
  prices: PriceStore
  blobs: BlobStore
  usage: Usage
  disk: DataDisk
}

/** Log, writer and ingester: stopping stores what the log holds, as far as the store answers. */
async function startIngest(
  base: Base,
  { store, ready, lanes, projects, prices, blobs, usage, disk }: IngestParts,
): Promise<Ingester> {
  const { config, logger, metrics, stops } = base
  const dir = join(config.dataDir, 'ingest-log')
  const log = await openIngestLog({ dir, maxBytes: config.ingestLogMaxBytes, logger })
  stops.push(() => log.close())
  const exclusive = config.clickhouseUrl === undefined
  const storeBatch = createStoreBatch({
    store,
    deriveLane: lanes.derive,
    prices,
    usage: usage.recorder,
    exclusive,
    logger,
    metrics,
  })
  const writer = startStoreWriter({ log, storeBatch, ready, logger, metrics })
  stops.push(() => writer.stop(DRAIN_MS))
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
    ack: config.ingestAck,
    metrics,
    clock: systemClock,
    lanes: { ...lanes },
  })
  observeIngest(metrics, ingester)
  return ingester
}

function startRepricing(
  base: Base,
  ingester: Ingester,
  parts: Omit<RepricerDeps, 'isStored' | 'clock' | 'logger'>,
): Repricer {
  const repricer = startRepricer({
    ...parts,
    isStored: (time) => isStored(ingester, time),
    clock: systemClock,
    logger: base.logger,
  })
  base.stops.push(() => repricer.stop())
  return repricer
}

/** True when nothing that was received before `time` waits for the store. */
function isStored(ingester: Ingester, time: number): boolean {
  const { oldest_waiting_at } = ingester.health()
  return oldest_waiting_at === null || Date.parse(oldest_waiting_at) > time
}
