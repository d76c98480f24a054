import { systemClock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Config } from '../config.ts'
import { createLocalBuckets } from '../ingest/rates/buckets.ts'
import { createRateGate, type RateGate } from '../ingest/rates/rate-gate.ts'
import type { ServerRegistry } from '../storage/sql/server-registry.ts'
import type { IngestLimitStore } from '../usage/limits.ts'

export interface RateParts {
  config: Pick<Config, 'redisUrl'>
  logger: Logger
  metrics: Metrics
  /** Stop functions of the parts, in order of start. */
  stops: AsyncDisposableStack
}

const COUNT_SERVERS_MS = 5_000

/**
 * Starts the limits a minute. Several servers share them through Redis; without it, each has its share, and the number
 * of servers is counted again and again.
 */
export async function startRates(
  { config: { redisUrl }, logger, metrics, stops }: RateParts,
  stored: { ingestLimits: IngestLimitStore; servers: Pick<ServerRegistry, 'others'> | undefined },
): Promise<RateGate> {
  const { ingestLimits: limits, servers } = stored
  const clock = systemClock
  const local = createLocalBuckets({ clock, servers: countServers(servers, { logger, stops }) })
  if (redisUrl === undefined || servers === undefined)
    return createRateGate({ limits, buckets: local, clock, logger, metrics })
  // Loading these takes a tenth of a server's start, so they are loaded only if they are used.
  const { openRedis } = await import('../storage/redis/redis.ts')
  const { createRedisBuckets } = await import('../storage/redis/rate-buckets.ts')
  const redis = openRedis(redisUrl, logger)
  stops.defer(() => redis.close())
  const buckets = createRedisBuckets({ redis, otherwise: local, clock, logger })
  return createRateGate({ limits, buckets, clock, logger, metrics })
}

/** Returns a function that returns the number of running servers, this one included. */
function countServers(
  servers: Pick<ServerRegistry, 'others'> | undefined,
  { logger, stops }: Pick<RateParts, 'logger' | 'stops'>,
): () => number {
  let count = 1
  if (servers === undefined) return () => count
  const look = (): void => {
    servers.others().then(
      (others) => (count = others + 1),
      (error: unknown) => logger.debug({ err: error }, 'the servers could not be counted'),
    )
  }
  look()
  const timer = setInterval(look, COUNT_SERVERS_MS)
  stops.defer(() => clearInterval(timer))
  return () => count
}
