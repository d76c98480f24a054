import type { Authenticator } from '../auth/authenticator.ts'
import type { IdentityStore } from '../auth/identity-store.ts'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import type { BlobStore } from '../ingest/blob-store.ts'
import type { DataDisk } from '../ingest/data-disk.ts'
import type { Ingester } from '../ingest/ingester.ts'
import type { PriceLookup } from '../ingest/price-lookup.ts'
import type { PriceStore } from '../ingest/price-store.ts'
import type { ProjectStore } from '../ingest/project-store.ts'
import type { Repricer } from '../ingest/repricer.ts'
import type { TraceReads } from '../ingest/trace-reads.ts'
import type { BodyLimits } from './body.ts'
import type { BrowserGates } from './browser-gates.ts'
import type { Registry } from '../schema/registry.ts'
import type { DecodeLimits } from '../trace/decoded.ts'
import type { UsageLimitStore } from '../ingest/usage-limits.ts'
import type { UsageDetailsSource } from '../usage/usage-details-source.ts'
import type { UsageRebuilds } from '../usage/usage-rebuilds.ts'
import type { UsageSource } from '../usage/usage-source.ts'
import type { StoreChecks } from './store-checks.ts'

/** Limits of the HTTP room; `/info` tells them. */
export interface HttpLimits extends DecodeLimits, BodyLimits {
  /** Bodies held in memory at one time over all requests. */
  max_inflight_bytes: number
}

/** What usage reports are made of. */
export interface UsageSources {
  counts: UsageSource
  details: UsageDetailsSource
  rebuilds: UsageRebuilds
}

/** What the platform API stands on; the composition root hands it in. */
export interface AppDeps {
  ingester: Ingester
  reads: TraceReads
  projects: ProjectStore
  prices: PriceStore
  findPrice: PriceLookup
  repricer: Repricer
  /** Undefined when usage reporting is switched off. */
  usage: UsageSources | undefined
  usageLimits: UsageLimitStore
  identity: IdentityStore
  blobs: BlobStore
  authenticator: Authenticator
  /** With AUTH=off: what requests must pass. */
  gates: BrowserGates | undefined
  registry: Registry
  metrics: Metrics
  logger: Logger
  clock: Clock
  limits: HttpLimits
  /** Of this program, e.g. `0.1.0`. */
  version: string
  /** What `/ok?check_db=1` asks. */
  checks: StoreChecks
  /** Of DATA_DIR. */
  disk: Pick<DataDisk, 'look' | 'check'>
}
