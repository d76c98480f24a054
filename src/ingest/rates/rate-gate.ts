import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Metrics } from '../../base/metrics.ts'
import { RecentMap } from '../../base/recent-map.ts'
import type { IngestLimit, IngestLimitStore } from '../../usage/limits.ts'
import { type Bucket, EARLY_MS, refilled, MINUTE_MS, waitFor } from './bucket.ts'
import type { Buckets } from './buckets.ts'

/** The sender of a request. */
export interface RateCaller {
  workspace_id: string
  api_key_id: string
}

/** The runs and the decompressed bytes of a request. */
export interface RateCost {
  runs: number
  bytes: number
}

/** Requests that this server has refused since its start. */
export interface Refusals {
  requests: number
  /** Epoch milliseconds; null if there was none. */
  last_at: number | null
}

/** Enforces how much workspaces and keys may send in a minute. */
export interface RateGate {
  /**
   * Refuses a request before its body is read if not even one run, or its bytes as sent, would pass.
   * @throws AppError rate_limited
   */
  assertRoom(caller: RateCaller, bytes: number | undefined): Promise<void>
  /**
   * Takes the cost of a decoded request from the limits of its caller; `force` takes it without refusing. If limits
   * cannot be read, everything passes. @throws AppError rate_limited: nothing was taken
   */
  take(caller: RateCaller, cost: RateCost, force?: boolean): Promise<void>
  refused(workspace_id: string): Refusals
  readonly total: Refusals
}

export interface RateGateDeps {
  limits: Pick<IngestLimitStore, 'snapshot'>
  buckets: Buckets
  clock: Clock
  logger: Logger
  metrics: Metrics
}

/** The state of the limit that refused a request, for the headers of the response. */
export interface RateLimitState {
  /** A minute. */
  limit: number
  remaining: number
  /** When the whole limit is available again, in epoch seconds. */
  reset: number
}

const NONE: Readonly<Refusals> = { requests: 0, last_at: null }

/** One number of one limit. */
interface Meter {
  key: string
  kind: keyof RateCost
  of: 'workspace' | 'key'
  per_minute: number
}

/** What this server knows of the bucket of a meter. */
interface Known {
  meter: Meter
  bucket: Bucket
  /** Time at which all refused requests can have come again and passed, in steady milliseconds. */
  free_at: number
}

const MAX_KNOWN = 100_000

/** A gate over the configured limits; requests of callers without a limit pass at once. */
export function createRateGate({ limits, buckets, clock, logger, metrics }: RateGateDeps): RateGate {
  const known = new RecentMap<string, Known>(MAX_KNOWN)
  const refusals = new RecentMap<string, Refusals>(MAX_KNOWN)
  const total: Refusals = { ...NONE }
  const counter = metrics.counter(
    'weir_ingest_rate_limited_total',
    'Requests refused because of a limit a minute, by limit (runs or bytes) and whose it is (workspace or key).',
  )

  const metersOf = async (caller: RateCaller): Promise<Meter[]> => {
    try {
      const reading = limits.snapshot()
      const all = reading instanceof Promise ? await reading : reading
      const own = all.get(caller.workspace_id) ?? []
      const mine = own.filter(({ api_key_id }) => api_key_id === null || api_key_id === caller.api_key_id)
      return mine.flatMap(metersOfLimit)
    } catch (error) {
      logger.warn({ err: error }, 'limits of ingest cannot be read, so the request is accepted')
      return []
    }
  }

  const note = (meter: Meter, bucket: Bucket): Known => {
    const entry = { meter, bucket, free_at: known.get(meter.key)?.free_at ?? bucket.at }
    known.set(meter.key, entry)
    return entry
  }

  const refuse = (workspace_id: string, { meter, bucket, free_at }: Known, cost: number): AppError => {
    const now = clock.now()
    const ms = waitInTurn(bucket, free_at, cost)
    note(meter, bucket).free_at = bucket.at + ms
    counter.inc({ limit: meter.kind, of: meter.of })
    const own = refusals.get(workspace_id) ?? { ...NONE }
    refusals.set(workspace_id, own)
    for (const count of [own, total]) {
      count.requests++
      count.last_at = now
    }
    return rateLimited(meter, bucket, ms, now)
  }

  return {
    async assertRoom(caller, bytes = 1) {
      const now = clock.steady()
      for (const meter of await metersOf(caller)) {
        const entry = known.get(meter.key)
        if (entry === undefined || entry.meter.per_minute !== meter.per_minute) continue
        const bucket = refilled(entry.bucket, entry.bucket.per_minute, now)
        const least = meter.kind === 'runs' ? 1 : bytes
        if (waitFor(bucket, least) > EARLY_MS) throw refuse(caller.workspace_id, note(meter, bucket), least)
      }
    },
    async take(caller, cost, force = false) {
      const meters = (await metersOf(caller)).filter(({ kind }) => cost[kind] > 0)
      if (meters.length === 0) return
      const draws = meters.map(({ key, kind, per_minute }) => ({ key, per_minute, cost: cost[kind] }))
      const { isTaken, buckets: drawn } = await buckets.take(draws, force)
      const entries = meters.map((meter, i) => note(meter, drawn[i]!))
      if (isTaken) return
      const wait = ({ meter, bucket }: Known): number => waitFor(bucket, cost[meter.kind])
      const longest = entries.reduce((a, b) => (wait(b) > wait(a) ? b : a))
      throw refuse(caller.workspace_id, longest, cost[longest.meter.kind])
    },
    refused: (workspace_id) => refusals.get(workspace_id) ?? NONE,
    total,
  }
}

function metersOfLimit(limit: IngestLimit): Meter[] {
  const { workspace_id, api_key_id, runs_per_minute: runs, bytes_per_minute: bytes } = limit
  const of = api_key_id === null ? 'workspace' : 'key'
  return Object.entries({ runs, bytes }).flatMap(([kind, per_minute]) => {
    const key = `${workspace_id}:${api_key_id ?? ''}:${kind}`
    return per_minute === null ? [] : [{ key, kind: kind as keyof RateCost, of, per_minute }]
  })
}

/**
 * Milliseconds after which a refused request passes if those refused before it come again at their times. So senders
 * that wait do not refuse each other again and again.
 */
function waitInTurn(bucket: Bucket, free_at: number, cost: number): number {
  const alone = waitFor(bucket, cost)
  const needed = Math.min(cost, bucket.per_minute)
  const inTurn = free_at <= bucket.at ? 0 : free_at - bucket.at + (needed * MINUTE_MS) / bucket.per_minute
  return Math.max(alone, Math.min(inTurn, MINUTE_MS))
}

function rateLimited({ kind, of, per_minute }: Meter, bucket: Bucket, ms: number, now: number): AppError {
  const retry_after = Math.max(1, Math.ceil(ms / 1000))
  const untilFull = (bucket.used * MINUTE_MS) / bucket.per_minute
  const rate_limit: RateLimitState = {
    limit: per_minute,
    remaining: Math.max(0, Math.floor(bucket.per_minute - bucket.used)),
    reset: Math.ceil((now + untilFull) / 1000),
  }
  const whose = of === 'workspace' ? 'workspace' : 'API key'
  const message = `The ${whose} may send ${per_minute} ${kind} a minute. Send the request again after ${retry_after} s.`
  return new AppError('rate_limited', { message, details: { retry_after, rate_limit } })
}
