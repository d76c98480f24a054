import type { AlertStore } from '../../alerts/alert.ts'
import type { Authenticator } from '../../identity/authenticator.ts'
import type { BrowserSessionStore } from '../../identity/browser-sessions.ts'
import type { ProviderSignIn } from '../../identity/oidc/sign-in.ts'
import type { InviteStore } from '../../identity/invites.ts'
import type { IdentityStore } from '../../identity/identity-store.ts'
import type { ManagedRecords } from '../../identity/managed-records.ts'
import type { ScimStore, ScimTokenStore } from '../../identity/scim/scim.ts'
import type { OauthStore } from '../../identity/oauth.ts'
import type { Clock } from '../../base/clock.ts'
import type { RecentMap } from '../../base/recent-map.ts'
import type { ControlPlane } from '../../deploy/control-plane.ts'
import type { Plan } from '../../deploy/plan.ts'
import type { Logger } from '../../base/log.ts'
import type { Metrics } from '../../base/metrics.ts'
import type { BlobStore } from '../../ingest/store/blob-store.ts'
import type { DataDisk } from '../../ingest/store/data-disk.ts'
import type { Deleter } from '../../ingest/deletion/deleter.ts'
import type { FeedbackConfigStore } from '../../ingest/feedback/config-store.ts'
import type { FeedbackRecords } from '../../ingest/feedback/records.ts'
import type { FeedbackTokenStore } from '../../ingest/feedback/token-store.ts'
import type { Ingester } from '../../ingest/ingester.ts'
import type { PriceLookup } from '../../ingest/prices/price-lookup.ts'
import type { PricePreview } from '../../ingest/prices/preview.ts'
import type { PriceStore } from '../../ingest/prices/price-store.ts'
import type { Playground } from '../../playground/playground.ts'
import type { WorkspaceSecrets } from '../../playground/secrets.ts'
import type { PricedModels } from '../../ingest/prices/priced-models.ts'
import type { ProjectStore } from '../../ingest/project-store.ts'
import type { CommentStore } from '../../ingest/comment-store.ts'
import type { ProjectViewStore } from '../../ingest/project-views.ts'
import type { RateGate } from '../../ingest/rates/rate-gate.ts'
import type { Repricer } from '../../ingest/prices/repricer.ts'
import type { ShareStore } from '../../ingest/share-store.ts'
import type { SelectedReads } from '../../query/selected-reads.ts'
import type { ThreadReads } from '../../query/threads/thread-reads.ts'
import type { TraceReads } from '../../query/trace-reads.ts'
import type { SchemaTypes } from '../../schema/types.gen.ts'
import type { BodyLimits } from '../body/body.ts'
import type { OpenCallers } from '../server/credentials.ts'
import type { AttemptLimit } from './attempt-limit.ts'
import type { LiveStreams } from './reply/live-streams.ts'
import type { EventStreams } from './reply/event-streams.ts'
import type { BrowserGates } from '../server/browser/browser-gates.ts'
import type { Registry } from '../../schema/registry.ts'
import type { DecodeLimits } from '../../trace/decode/decoded.ts'
import type { IngestLimitStore, UsageLimitStore } from '../../usage/limits.ts'
import type { ExportSetup } from '../../setup/export-setup.ts'
import type { ApplySetup } from '../../setup/apply-setup.ts'
import type { PlanSetupFile } from '../../setup/setup.ts'
import type { UsageDetailsSource } from '../../usage/report/details-source.ts'
import type { UsageRebuilds } from '../../usage/counting/rebuilds.ts'
import type { UsageRunSource } from '../../usage/report/runs.ts'
import type { UsageTraceSource } from '../../usage/report/traces.ts'
import type { DeploymentCounts, UsageCounts } from '../../usage/report/source.ts'
import type { JsonBodies } from '../server/dispatch.ts'
import type { Drain } from '../server/readiness.ts'
import type { StoreChecks } from '../../base/background/store-checks.ts'

/** Limits of requests over HTTP; `/info` lists them. */
export interface HttpLimits extends DecodeLimits, BodyLimits {
  /** Total bytes of bodies in memory at one time. */
  max_inflight_bytes: number
}

export interface UsageSources {
  counts: UsageCounts
  deployments: DeploymentCounts
  traces: UsageTraceSource
  details: UsageDetailsSource
  runs: UsageRunSource
  rebuilds: UsageRebuilds
}

/** Feedback on runs, its configs and tokens. */
export interface Feedback {
  records: FeedbackRecords
  configs: FeedbackConfigStore
  tokens: FeedbackTokenStore
  /** Limit of the calls with each token, by the token's id. */
  tokenLimit: AttemptLimit
}

export interface SignIn {
  sessions: BrowserSessionStore
  /** Limit of failed attempts by address. */
  failures: AttemptLimit
  /** Limit of sign-ins that begin at a provider, by address. */
  beginnings: AttemptLimit
  /** Sign-in at a provider; undefined if the settings name none. */
  people: ProviderSignIn | undefined
  /** What only commands on the server's machine know, from DATA_DIR. */
  localSecret: string | undefined
  /** Name of the hosted deployment; undefined if there is none. */
  deployment: string | undefined
}

/** The shares, which need no key to read, and their limits. */
export interface Sharing {
  shares: ShareStore
  /** Limit of the reads with each token, and of each TraceRun's attachments. */
  limit: AttemptLimit
  /** Limit of unknown tokens by address, and the newest of them with their addresses. */
  guesses: AttemptLimit
  tried: RecentMap<string, true>
  attachmentKey(): Promise<string>
}

/** Dependencies of the platform API, passed in by the composition root. */
export interface AppDeps {
  ingester: Ingester
  reads: TraceReads
  feedback: Feedback
  sharing: Sharing
  comments: CommentStore
  /** Reads of API v2. */
  selectedReads: SelectedReads
  threadReads: ThreadReads
  deleter: Deleter
  projects: ProjectStore
  projectViews: ProjectViewStore
  alerts: AlertStore
  /** Evaluates the alerts that are due, soon. */
  evaluateAlerts(): void
  prices: PriceStore
  findPrice: PriceLookup
  previewPrices: PricePreview
  repricer: Repricer
  /** Undefined when usage reporting is switched off. */
  usage: UsageSources | undefined
  usageLimits: UsageLimitStore
  ingestLimits: IngestLimitStore
  rates: RateGate
  applySetup: ApplySetup
  exportSetup: ExportSetup
  planSetupFile: PlanSetupFile
  identity: IdentityStore
  managed: Pick<ManagedRecords, 'ids'>
  scim: { tokens: ScimTokenStore; store: ScimStore }
  invites: InviteStore
  blobs: BlobStore
  authenticator: Authenticator
  /** Checks of every request with AUTH=off. */
  gates: BrowserGates | undefined
  /** The callers of open streams; absent in tests that open none. */
  openCallers?: OpenCallers | undefined
  /** Checks of requests with a session cookie; undefined with AUTH=off, where cookies do not count. */
  sessionGates: BrowserGates | undefined
  signIn: SignIn
  /** The authorization server for clients of MCP; `registrations` limits those of an address. */
  oauth: { store: OauthStore; registrations: AttemptLimit }
  /** The workspace of a deployment that accepts tokens of OAuth, by its name; absent: no deployment is served. */
  consentsIn?(deployment: string): string | undefined
  live: LiveStreams
  secrets: WorkspaceSecrets
  playground: Playground
  playgroundStreams: EventStreams
  pricedModels: PricedModels
  /** Options of reading prompts of more than a megabyte. */
  json_bodies?: JsonBodies
  registry: Registry
  metrics: Metrics
  logger: Logger
  clock: Clock
  limits: HttpLimits
  /** URL of this server for clients, if it is configured. */
  publicUrl: string | undefined
  deploymentsOrigin?: string | undefined
  /** The port of the listener for deployments, once it is known. */
  deploymentsPort?: () => number | undefined
  /** Version of this program, e.g. `0.1.0`. */
  version: string
  clickHouseKind?: SchemaTypes['info']['weir']['clickhouse_kind']
  /** Plan of the organization (P-12); absent: `enterprise`. */
  plan?: Plan
  /** Checks of `/ok?check_db=1`. */
  checks: StoreChecks
  drain: Pick<Drain, 'isDraining'>
  /** Whether a store has answered one of `checks` lately. */
  answered(store: string): boolean
  logStreams: EventStreams
  /** The control plane of deployments, which the first call opens. */
  controlPlane(): Promise<ControlPlane>
  /** The disk of DATA_DIR. */
  disk: Pick<DataDisk, 'look' | 'check'>
}
