import { within } from '../../base/background/within.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import { EARLY_MS, MINUTE_MS } from '../../ingest/rates/bucket.ts'
import type { Buckets, Draw, Drawn } from '../../ingest/rates/buckets.ts'
import type { RedisConnection } from './redis.ts'

/**
 * KEYS: the buckets. ARGV: force, ms of a minute, ms that a request may be early, then limit and cost of each bucket.
 * The time is that of Redis. Returns 1 if the costs were taken, and what is used of each bucket.
 */
const TAKE = `
local force, minute, early = ARGV[1] == '1', tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local all, taken = {}, 1
for i, key in ipairs(KEYS) do
  local limit, cost = tonumber(ARGV[2 + 2 * i]), tonumber(ARGV[3 + 2 * i])
  local stored = redis.call('HMGET', key, 'used', 'at')
  local used = 0
  if stored[1] then used = math.max(0, tonumber(stored[1]) - math.max(0, now - tonumber(stored[2])) * limit / minute) end
  all[i] = used
  local missing = math.min(cost, limit) - (limit - used)
  if not force and missing * minute / limit > early then taken = 0 end
end
local answer = {taken}
for i, key in ipairs(KEYS) do
  local used = all[i]
  if taken == 1 then used = used + tonumber(ARGV[3 + 2 * i]) end
  local text = string.format('%.6f', used)
  redis.call('HSET', key, 'used', text, 'at', string.format('%.0f', now))
  redis.call('PEXPIRE', key, math.ceil(used * minute / tonumber(ARGV[2 + 2 * i])) + 1000)
  answer[i + 1] = text
end
return answer
`

/** Longer than Redis ever takes for a script, and short for a request that waits. */
const TIMEOUT_MS = 500
/** Time after a failure in which Redis is not asked. */
const REST_MS = 5_000

/** Buckets in Redis, which all servers share. While Redis does not answer, `otherwise` has them. */
export function createRedisBuckets({
  redis,
  otherwise,
  clock,
  logger,
}: {
  redis: Pick<RedisConnection, 'run'>
  otherwise: Buckets
  clock: Pick<Clock, 'steady'>
  logger: Logger
}): Buckets {
  let restsUntil = Number.NEGATIVE_INFINITY

  const ask = async (draws: readonly Draw[], force: boolean): Promise<Drawn> => {
    const keys = draws.map(({ key }) => `weir:rate:${key}`)
    const costs = draws.flatMap(({ per_minute, cost }) => [per_minute, cost])
    const answering = redis.run<[number, ...string[]]>(TAKE, keys, [
      force ? 1 : 0,
      MINUTE_MS,
      EARLY_MS,
      ...costs,
    ])
    const [taken, ...used] = await inTime(answering)
    const at = clock.steady()
    const buckets = draws.map(({ per_minute }, i) => ({ used: Number(used[i]), per_minute, at }))
    return { isTaken: taken === 1, buckets }
  }

  return {
    async take(draws, force) {
      if (clock.steady() < restsUntil) return await otherwise.take(draws, force)
      try {
        return await ask(draws, force)
      } catch (error) {
        restsUntil = clock.steady() + REST_MS
        logger.warn(
          { err: error },
          'limits of ingest: Redis does not answer, so each server counts for itself',
        )
        return await otherwise.take(draws, force)
      }
    },
  }
}

function inTime<T>(work: Promise<T>): Promise<T> {
  return within(work, TIMEOUT_MS, () => {
    throw new Error(`no answer within ${TIMEOUT_MS} ms`)
  })
}
