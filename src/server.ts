import { mkdir, readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { createAuthenticator } from './auth/authenticator.ts'
import { type Bootstrapped, bootstrapIdentity } from './auth/bootstrap.ts'
import { systemClock } from './base/clock.ts'
import { createLogger, type Logger } from './base/log.ts'
import { createMetrics, type Metrics } from './base/metrics.ts'
import type { Config } from './config.ts'
import { createApp } from './http/app.ts'
import { startHttpServer } from './http/http-server.ts'
import { createIngester } from './ingest/create-ingester.ts'
import { createTraceReads } from './ingest/create-trace-reads.ts'
import type { BlobStore } from './ingest/blob-store.ts'
import type { Ingester } from './ingest/ingester.ts'
import { openIngestLog } from './ingest/ingest-log.ts'
import type { ProjectStore } from './ingest/project-store.ts'
import type { TraceStore } from './ingest/trace-store.ts'
import type { LaneData } from './ingest/lanes.ts'
import { loadProcessors } from './ingest/processors.ts'
import type { PriceStore } from './ingest/price-store.ts'
import { createPriceLookup } from './ingest/price-lookup.ts'
import { type Repricer, type RepricerDeps, startRepricer } from './ingest/repricer.ts'
import { createStoreBatch } from './ingest/store-batch.ts'
import { STORED_COLUMNS } from './ingest/stored-columns.ts'
import { startStoreWriter } from './ingest/store-writer.ts'
import { createWorkerPool, type WorkerPool, workerEntry } from './ingest/worker-pool.ts'
import { createRegistry } from './schema/registry.ts'
import { createFileBlobStore } from './storage/blob-store.ts'
import { openClickHouse } from './storage/clickhouse/open.ts'
import { createTraceStore } from './storage/clickhouse/trace-store.ts'
import { createIdentityStore } from './storage/sql/identity-store.ts'
import { migrate as migrateSql } from './storage/sql/migrate.ts'
import { createPriceStore } from './storage/sql/price-store.ts'
import { createProjectStore } from './storage/sql/project-store.ts'
import { createRepriceJobStore } from './storage/sql/reprice-job-store.ts'
import { openSqlite } from './storage/sql/sqlite.ts'
import { startTelemetry } from './telemetry.ts'

/** A running Weir. */
export interface WeirServer {
  /** Where the platform API listens, e.g. `http://127.0.0.1:1984`. */
  readonly url: string
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
}

const REQUEST_GRACE_MS = 10_000
const DRAIN_MS = 10_000
const MB = 1 << 20
const MAX_PARTS = 25_000
const MAX_PART_BYTES = 50 * MB
const BODY_IDLE_MS = 30_000
const OPEN_FRAGMENT_BYTES = 64 * MB
const READ_TIMEOUT_MS = 60_000
/** Parsed payloads live for one batch: a young generation that holds them is collected without copying. */
const YOUNG_GENERATION_MB = 96
/** Deriving and reading give way to acknowledging, as the embedded engine does. */
const BACKGROUND_NICENESS = 10
/** For lanes without a state between tasks: threads that start again when there is work cost an idle server nothing. */
const IDLE_LANE_MS = 20_000

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
    const { url, identity } = await startParts({ config, logger, metrics: createMetrics(), stops })
    let stopped: Promise<void> | undefined
    return { url, identity, stop: () => (stopped ??= stop()) }
  } catch (error) {
    await stop()
    throw error
  }
}

/** What ends each part, in order of start; they run in reverse. */
type Stops = (() => Promise<unknown> | void)[]

/** What every part is given. */
interface Base {
  config: Config
  logger: Logger
  metrics: Metrics
  stops: Stops
}

async function startParts(base: Base): Promise<{ url: string; identity: Bootstrapped }> {
  const { config, logger, metrics, stops } = base
  await mkdir(resolve(config.dataDir), { recursive: true, mode: 0o700 })
  const telemetry = await startTelemetry({ endpoint: config.otlpEndpoint, metrics, logger })
  stops.push(() => telemetry.stop())
  const opening = openClickHouse({ url: config.clickhouseUrl, dataDir: resolve(config.dataDir), logger })
  stops.push(() =>
    opening.then(
      (clickhouse) => clickhouse.stop(),
      () => undefined,
    ),
  )
  const { identity, identityStore, projects, prices, repriceJobs } = await openSql(base)
  const clickhouse = await opening
  const store = createTraceStore(clickhouse.connection, STORED_COLUMNS)
  const limits = {
    max_body_bytes: config.ingestMaxBodyBytes,
    max_parts: MAX_PARTS,
    max_part_bytes: MAX_PART_BYTES,
  }
  const blobs = createFileBlobStore(join(config.dataDir, 'blobs'))
  const lanes = await startLanes(base)
  const ready = clickhouse.ready
  const ingester = await startIngest(base, { store, ready, lanes, projects, prices, blobs })
  const lane = lanes.read
  const repricer = startRepricing(base, ingester, { store, lane, prices, projects, jobs: repriceJobs, ready })
  const openGrant = config.auth ? {} : { openGrant: identity.grant }
  const app = createApp({
    ingester,
    reads: createTraceReads({ store, readLane: lanes.read, limits }),
    projects,
    prices,
    findPrice: createPriceLookup(lanes.read, prices),
    repricer,
    identity: identityStore,
    blobs,
    authenticator: createAuthenticator({ store: identityStore, clock: systemClock, ...openGrant }),
    registry: createRegistry(),
    metrics,
    logger,
    clock: systemClock,
    limits: { ...limits, max_inflight_bytes: config.ingestMaxInflightBytes, body_idle_ms: BODY_IDLE_MS },
    version: await readVersion(),
    checks: { clickhouse: () => store.ping(), sql: () => identityStore.firstOrganization() },
  })
  stops.push(() => app.close())
  const http = await startHttpServer(app, { host: config.host, port: config.port })
  stops.push(() => http.stop(REQUEST_GRACE_MS))
  const clickhouseKind = config.clickhouseUrl === undefined ? 'embedded' : 'server'
  logger.info(
    { url: http.url, port: http.port, data_dir: config.dataDir, clickhouse: clickhouseKind },
    'listening',
  )
  return { url: http.url, identity }
}

/** The SQL store: organization, workspaces, keys, projects, own prices. */
async function openSql({ config, logger, stops }: Base) {
  const dataDir = resolve(config.dataDir)
  const database = openSqlite(join(dataDir, 'weir.db'), { synchronous: config.sqliteSynchronous })
  stops.push(() => database.close())
  await migrateSql(database)
  const identityStore = createIdentityStore(database)
  const options = { dataDir, bootstrapKey: config.bootstrapApiKey, clock: systemClock }
  const identity = await bootstrapIdentity(identityStore, options)
  if (identity.ignoredBootstrapKey) {
    logger.warn('BOOTSTRAP_API_KEY is not a key of this data directory and was not taken')
  }
  return {
    identity,
    identityStore,
    projects: createProjectStore(database, systemClock),
    prices: createPriceStore(database, systemClock),
    repriceJobs: createRepriceJobStore(database),
  }
}

interface IngestParts {
  store: TraceStore
  ready: Promise<void>
  lanes: Lanes
  projects: ProjectStore
  prices: PriceStore
  blobs: BlobStore
}

/** Log, writer and ingester: stopping stores what the log holds, as far as the store answers. */
async function startIngest(
  base: Base,
  { store, ready, lanes, projects, prices, blobs }: IngestParts,
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
    exclusive,
    logger,
    metrics,
  })
  const writer = startStoreWriter({ log, storeBatch, ready, logger, metrics })
  stops.push(() => writer.stop(DRAIN_MS))
  const ingester = createIngester({
    decodeLane: lanes.decode,
    projects,
    blobs,
    log,
    writer,
    ack: config.ingestAck,
    metrics,
    clock: systemClock,
    lanes: { ...lanes },
  })
  observeIngest(metrics, ingester)
  return ingester
}

/** The threads that parse payloads, by what they do. */
interface Lanes {
  decode: WorkerPool
  derive: WorkerPool
  read: WorkerPool
}

/** One thread derives (a batch is derived in steps); decoding scales with the machine; reads stay out of both's way. */
async function startLanes({ config, logger, stops }: Base): Promise<Lanes> {
  const processor_modules = config.processors.map((path) => resolve(path))
  await loadProcessors(processor_modules) // a bad module must fail the start, not every batch
  const open_fragment_bytes = config.clickhouseUrl === undefined ? OPEN_FRAGMENT_BYTES : 0
  const lane = (
    name: string,
    options: { size: number; niceness: number; taskTimeoutMs?: number; idleMs?: number },
  ): WorkerPool => {
    const { niceness, ...rest } = options
    const pool = createWorkerPool({
      entry: workerEntry(import.meta.url, './ingest/pipeline-worker'),
      name,
      workerData: {
        processor_modules,
        open_fragment_bytes,
        has_prices: name !== 'decode',
        niceness,
      } satisfies LaneData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      logger,
      ...rest,
    })
    stops.push(() => pool.close())
    return pool
  }
  const background = { size: 1, niceness: BACKGROUND_NICENESS }
  const lanes: Lanes = {
    decode: lane('decode', { size: Math.max(1, Math.min(4, availableParallelism() - 1)), niceness: 0 }),
    derive: lane('derive', background),
    read: lane('read', { ...background, taskTimeoutMs: READ_TIMEOUT_MS, idleMs: IDLE_LANE_MS }),
  }
  await lanes.decode.warm()
  return lanes
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

function observeIngest(metrics: Metrics, ingester: Ingester): void {
  metrics.observedGauge(
    'weir_ingest_waiting',
    'Items acknowledged and not yet confirmed by the store.',
    () => ingester.health().waiting,
  )
  metrics.observedGauge(
    'weir_ingest_log_bytes',
    'Bytes of the ingest log that wait for the store.',
    () => ingester.health().log.bytes,
  )
}

/** From package.json, which lies one folder above the sources and two above the build. */
async function readVersion(): Promise<string> {
  for (const place of ['../package.json', '../../package.json']) {
    const text = await readFile(new URL(place, import.meta.url), 'utf8').catch(() => undefined)
    if (text !== undefined) return (JSON.parse(text) as { version: string }).version
  }
  return '0.0.0'
}
