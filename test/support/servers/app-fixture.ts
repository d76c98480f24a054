import { Readable } from 'node:stream'
import { hashApiKey, shortKey } from '../../../src/identity/api-keys.ts'
import { createAuthenticator } from '../../../src/identity/authenticator.ts'
import type { IdentityStore } from '../../../src/identity/identity-store.ts'
import type { Clock } from '../../../src/base/clock.ts'
import { createLogger, type LogLevel } from '../../../src/base/log.ts'
import { createMetrics } from '../../../src/base/metrics.ts'
import type { DeploymentMounts } from '../../../src/http/deployment/mounts.ts'
import { createApp } from '../../../src/http/platform/app.ts'
import type { AppDeps, HttpLimits } from '../../../src/http/platform/app-deps.ts'
import { createEntrance } from '../../../src/http/platform/entrance.ts'
import { createOpenCallers } from '../../../src/http/server/callers/open-callers.ts'
import { createBrowserGates } from '../../../src/http/server/browser/browser-gates.ts'
import { startHttpServer } from '../../../src/http/server/http-server.ts'
import type { Deleter } from '../../../src/ingest/deletion/deleter.ts'
import type { BlobStore } from '../../../src/ingest/store/blob-store.ts'
import type { DiskState } from '../../../src/ingest/store/data-disk.ts'
import type { Accepted, IngestHealth } from '../../../src/ingest/ingester.ts'
import type { PricePreview } from '../../../src/ingest/prices/preview.ts'
import type { PriceLookup } from '../../../src/ingest/prices/price-lookup.ts'
import type { FoundPrice } from '../../../src/ingest/lane-tasks.ts'
import type { Repricer } from '../../../src/ingest/prices/repricer.ts'
import type { SelectedReads } from '../../../src/query/selected-reads.ts'
import type { ThreadReads } from '../../../src/query/threads/thread-reads.ts'
import type { TraceReads } from '../../../src/query/trace-reads.ts'
import { createRegistry } from '../../../src/schema/registry.ts'
import { eitherSessions } from '../../../src/identity/browser-sessions.ts'
import type { SignInStore } from '../../../src/identity/oidc/sign-in-store.ts'
import type { ProviderSignIn } from '../../../src/identity/oidc/sign-in.ts'
import { createManagedRecords } from '../../../src/storage/sql/identity/managed-record-store.ts'
import { createInviteStore } from '../../../src/storage/sql/identity/invite-store.ts'
import { createScimStore } from '../../../src/storage/sql/identity/scim/scim-store.ts'
import { createScimTokenStore } from '../../../src/storage/sql/identity/scim/token-store.ts'
import { createSignInStore } from '../../../src/storage/sql/identity/sign-in-store.ts'
import { createBrowserSessionStore } from '../../../src/storage/sql/identity/browser-session-store.ts'
import { createOauthStore } from '../../../src/storage/sql/identity/oauth-store.ts'
import { createIdentityStore } from '../../../src/storage/sql/identity/identity-store.ts'
import { migrate } from '../../../src/storage/sql/driver/migrate.ts'
import { createPriceStore } from '../../../src/storage/sql/prices/price-store.ts'
import { createProjectStore } from '../../../src/storage/sql/projects/store.ts'
import { createAlertStore } from '../../../src/storage/sql/alerts/alert-store.ts'
import { createProjectViewStore } from '../../../src/storage/sql/projects/view-store.ts'
import { createDeploymentFeed } from '../../../src/ingest/live/deployment-feed.ts'
import { createLiveFeed } from '../../../src/ingest/live/live-feed.ts'
import { createEventStreams } from '../../../src/http/platform/reply/event-streams.ts'
import { createLiveStreams } from '../../../src/http/platform/reply/live-streams.ts'
import { createOauth, createSignIn } from '../../../src/http/platform/sign-in.ts'
import { createCommentStore } from '../../../src/storage/sql/comments/comment-store.ts'
import { createFeedback, createSharing } from '../../../src/start/stored-traces.ts'
import { createLocalBuckets } from '../../../src/ingest/rates/buckets.ts'
import { createRateGate } from '../../../src/ingest/rates/rate-gate.ts'
import { createApplySetup } from '../../../src/setup/apply-setup.ts'
import { createExportSetup } from '../../../src/setup/export-setup.ts'
import { createSetupTransaction } from '../../../src/storage/sql/setup-stores.ts'
import { createIngestLimitStore } from '../../../src/storage/sql/identity/ingest-limit-store.ts'
import { createUsageLimitStore } from '../../../src/storage/sql/identity/usage-limit-store.ts'
import { openSqlite } from '../../../src/storage/sql/driver/sqlite.ts'
import { createMemoryFeedback } from '../stores/memory-feedback.ts'
import type { Rejected, RequestHead } from '../../../src/trace/decode/decoded.ts'
import { NOW, testClock } from '../faults/test-clock.ts'

export const KEY = 'lsv2_pt_0123456789abcdef0123456789abcdef_0123456789'
export const WORKSPACE = '11111111-1111-4111-8111-111111111111'
export const ORGANIZATION = '22222222-2222-4222-8222-222222222222'

/** A span that was not stored, as the ingester reports it. */
export const REJECTED_SPAN: Rejected = {
  run_id: null,
  code: 'invalid_run_id',
  field: 'span_id',
  reason: 'span_id is not 8 bytes, or all zero.',
  error: 'Unprocessable entity',
  status: 422,
}

/** One call of the fake ingester. */
export interface Ingested {
  head: RequestHead
  body: Buffer
}

export function accepted(outcome: Partial<Accepted> = {}): Accepted {
  return { accepted: 1, feedback: 0, rejected: [], truncated: false, warnings: [], ...outcome }
}

const DISK: DiskState = { free_bytes: 5000, size_bytes: 9000, min_free_bytes: 10, problem: null }

const HEALTH: IngestHealth = {
  status: 'ok',
  accepted: 3,
  stored: 2,
  derived: 2,
  rejected: { invalid_run_id: 1 },
  truncated_requests: 0,
  rate_limited: { requests: 0, last_at: null },
  waiting: 1,
  oldest_waiting_at: new Date(NOW).toISOString(),
  log: { bytes: 100, max_bytes: 1000, segments: 1, last_recovery: null },
  store: { up: true, last_error: null, last_confirmed_at: null },
  disk: DISK,
  lanes: { decode: { queued: 0 } },
}

/** Reads of an empty store; tests override those that they need. */
export function emptyReads(overrides: Partial<TraceReads> = {}): TraceReads {
  return {
    traceRun: async () => undefined,
    media: async () => undefined,
    trace: async () => undefined,
    outline: async () => undefined,
    query: async () => Buffer.from('{"runs":[],"cursors":{"next":null,"prev":null}}'),
    filePart: async () => ({ bytes: Buffer.from(''), next: null }),
    attachment: async () => undefined,
    stats: async () => ({ is_exact: true, figures: [], feedback: {} }),
    facets: async () => ({ values: [], has_more: false, is_whole: true }),
    differences: async () => ({ selected_count: 0, rest_count: 0, is_whole: true, differences: [] }),
    matches: async () => Buffer.from('{"cursors":{"next":null,"prev":null}}\n'),
    feedback: async () => ({ body: Buffer.from('[]'), shown: 0, more: false }),
    projectCounts: async () => new Map(),
    projectStats: async () => new Map(),
    validate: async () => Buffer.from('{}'),
    ...overrides,
  }
}

const NO_BLOBS: BlobStore = {
  put: async () => undefined,
  read: async () => undefined,
  remove: async () => true,
}

/** A blob store that holds `bytes` under any name. */
export function blobsOf(bytes: Uint8Array): BlobStore {
  return { ...NO_BLOBS, read: async () => ({ size: bytes.length, bytes: Readable.from([bytes]) }) }
}

const NO_PRICE: FoundPrice = {
  price: undefined,
  default_prices: { package: 'none', version: '0', newest_price: '' },
}

const NO_REPRICER: Repricer = {
  submit: async () => {
    throw new Error('no repricer')
  },
  get: async () => undefined,
  stop: async () => undefined,
}

const NO_PREVIEW: PricePreview = async () => {
  throw new Error('no preview of prices')
}

const NO_DELETER: Deleter = {
  submit: async () => undefined,
  get: async () => undefined,
  stop: async () => undefined,
}

const SETTLED = { settled: async () => undefined, settledSoon: async () => undefined }

const LIMITS: HttpLimits = {
  max_body_bytes: 1_000_000,
  max_parts: 25_000,
  max_part_bytes: 500_000,
  max_inflight_bytes: 2_000_000,
  body_window_ms: 2000,
  min_body_bytes_per_second: 1000,
}

/** The reads of runs of a store without runs. */
const NO_SELECTED_READS: SelectedReads = {
  page: async () => Buffer.from('{"items":[],"next_cursor":null}'),
  one: async () => undefined,
  ofTraces: async () => undefined,
  place: async () => undefined,
  has: async () => false,
}

/** Limits of event streams. */
const STREAMS = { at_once: 10, at_once_per_key: 3 }
const NO_THREAD_READS: ThreadReads = {
  page: async () => ({ items: [], next_cursor: null }),
  groups: async () => ({ items: [], total: 0 }),
  turns: async () => undefined,
  stats: async () => undefined,
  figures: () => Promise.reject(new Error('there are no figures')),
}

export interface FixtureOptions {
  ingest?: (head: RequestHead, body: Uint8Array) => Promise<Accepted>
  reads?: Partial<TraceReads>
  selectedReads?: Partial<SelectedReads>
  blobs?: BlobStore
  limits?: Partial<HttpLimits>
  logLevel?: LogLevel
  openAccess?: boolean
  mounts?: DeploymentMounts
  checks?: AppDeps['checks']
  identity?: (store: IdentityStore) => IdentityStore
  clock?: Clock
  findPrice?: PriceLookup
  previewPrices?: PricePreview
  repricer?: Repricer
  usage?: AppDeps['usage']
  publicUrl?: string
  /** Time between two checks of the callers of open streams. */
  checkCallersMs?: number
  /** The sign-in at providers, over the sign-ins of this database. */
  people?(store: SignInStore, organization_id: string): ProviderSignIn
  localSecret?: string
  /** Default: any free port. */
  port?: number
}

const NO_PLAYGROUND: Pick<AppDeps, 'secrets' | 'playground' | 'playgroundStreams' | 'pricedModels'> = {
  secrets: {
    list: async () => [],
    write: () => Promise.reject(new Error('there are no secrets')),
    valueFor: () => Promise.reject(new Error('there are no secrets')),
  },
  playground: { prepare: () => Promise.reject(new Error('there is no playground')) },
  playgroundStreams: createEventStreams({ ...STREAMS, max_unsent_bytes: 1 << 20 }),
  pricedModels: async () => ({}),
}

async function firstIdentity(store: IdentityStore): Promise<void> {
  await store.createFirst({
    organization: { id: ORGANIZATION, display_name: 'Default organization', created_at: NOW },
    workspace: { id: WORKSPACE, organization_id: ORGANIZATION, display_name: 'Default', created_at: NOW },
    user: { id: '33333333-3333-4333-8333-333333333333', email: 'admin@localhost', full_name: 'Admin' },
    key: {
      id: '44444444-4444-4444-8444-444444444444',
      key_hash: hashApiKey(KEY),
      short_key: shortKey(KEY),
      description: 'test',
    },
  })
}

/** The platform API on a free port: real HTTP, auth and SQLite, fake ingester and reads. */
export async function startApp(options: FixtureOptions = {}) {
  const database = openSqlite(':memory:')
  await migrate(database)
  const sqlIdentity = createIdentityStore(database)
  await firstIdentity(sqlIdentity)
  const identity = options.identity?.(sqlIdentity) ?? sqlIdentity
  const clock = options.clock ?? testClock()
  const feed = createLiveFeed(undefined)
  const deploymentFeed = createDeploymentFeed()
  const sessions = createBrowserSessionStore(database)
  const tokens = createOauthStore(database)
  const gates = createBrowserGates({ publicUrl: options.publicUrl })
  const ingested: Ingested[] = []
  const lines: string[] = []
  const openGrant = options.openAccess === true ? await identity.adminGrant(ORGANIZATION) : undefined
  const people = options.people?.(createSignInStore(database), ORGANIZATION)
  const authenticator = createAuthenticator({
    store: identity,
    sessions: people === undefined ? sessions : eitherSessions(sessions, people.sessions),
    tokens,
    clock,
    ...(openGrant && { openGrant }),
  })
  const openCallers = createOpenCallers(authenticator, options.checkCallersMs)
  const metrics = createMetrics()
  const logger = createLogger({
    level: options.logLevel ?? 'trace',
    destination: { write: (line: string) => void lines.push(line) },
  })
  const ingestLimits = createIngestLimitStore(database, clock)
  const buckets = createLocalBuckets({ clock, servers: () => 1 })
  const deps: AppDeps = {
    ingester: {
      async ingest(head, body) {
        ingested.push({ head, body: Buffer.from(body) })
        return options.ingest === undefined ? accepted() : await options.ingest(head, body)
      },
      ...SETTLED,
      checkStoring: () => undefined,
      health: () => HEALTH,
    },
    reads: emptyReads(options.reads),
    feedback: createFeedback(database, { store: createMemoryFeedback(), ingester: SETTLED }, clock),
    selectedReads: { ...NO_SELECTED_READS, ...options.selectedReads },
    sharing: createSharing(database, clock),
    comments: createCommentStore(database, clock),
    threadReads: NO_THREAD_READS,
    projects: createProjectStore(database, clock),
    projectViews: createProjectViewStore(database, clock),
    alerts: createAlertStore(database, clock),
    evaluateAlerts: () => undefined,
    deleter: NO_DELETER,
    prices: createPriceStore(database, clock),
    findPrice: options.findPrice ?? (async () => NO_PRICE),
    previewPrices: options.previewPrices ?? NO_PREVIEW,
    repricer: options.repricer ?? NO_REPRICER,
    usage: options.usage,
    usageLimits: createUsageLimitStore(database, clock),
    ingestLimits,
    applySetup: createApplySetup({
      inOneTransaction: createSetupTransaction(database, clock),
      registry: createRegistry(),
      clock,
    }),
    exportSetup: createExportSetup(createSetupTransaction(database, clock)),
    planSetupFile: async () => ({ has_file: false, error: null, kept: 0, steps: [] }),
    rates: createRateGate({ limits: ingestLimits, buckets, clock, logger, metrics }),
    identity,
    invites: createInviteStore(database),
    managed: createManagedRecords(database),
    scim: { tokens: createScimTokenStore(database), store: createScimStore(database) },
    blobs: options.blobs ?? NO_BLOBS,
    authenticator,
    openCallers,
    gates: openGrant && gates,
    sessionGates: openGrant === undefined ? gates : undefined,
    signIn: createSignIn(sessions, undefined, { clock, people, localSecret: options.localSecret }),
    oauth: createOauth(tokens, clock),
    ...NO_PLAYGROUND,
    logStreams: createEventStreams({ ...STREAMS, max_unsent_bytes: 1 << 20 }),
    live: createLiveStreams({ feed, deploymentFeed, health: () => HEALTH, limits: STREAMS }),
    registry: createRegistry(),
    metrics,
    logger,
    clock,
    limits: { ...LIMITS, ...options.limits },
    publicUrl: options.publicUrl,
    version: '0.1.0',
    controlPlane: () => Promise.reject(new Error('there is no control plane')),
    checks: options.checks ?? {},
    drain: { isDraining: () => false },
    answered: () => false,
    disk: { look: async () => DISK, check: async () => undefined },
  }
  const entrance = createEntrance(deps)
  const app = createApp(deps, { entrance, ...(options.mounts && { mounts: options.mounts }) })
  const server = await startHttpServer(app, { host: '127.0.0.1', port: options.port ?? 0 })
  type Init = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }
  const request = (path: string, init: Init = {}): Promise<Response> =>
    fetch(server.url + path, { ...init, headers: { 'x-api-key': KEY, ...init.headers } })
  return {
    app,
    deps,
    entrance,
    feed,
    deploymentFeed,
    database,
    url: server.url,
    port: server.port,
    ingested,
    lines,
    request,
    postJson: (path: string, body: unknown, method = 'POST'): Promise<Response> =>
      request(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    /** Stops the app; running requests may take `drainMs` to end. */
    async stop(drainMs = 1000) {
      deps.live.close()
      openCallers.close()
      await server.stop(drainMs)
      app.close()
      await database.close()
    },
  }
}

export type AppFixture = Awaited<ReturnType<typeof startApp>>
