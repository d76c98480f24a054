import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { createLogger } from '../../../src/base/log.ts'
import { createLocalBuckets, type Buckets } from '../../../src/ingest/rates/buckets.ts'
import { createRedisBuckets } from '../../../src/storage/redis/rate-buckets.ts'
import { openRedis, type RedisConnection } from '../../../src/storage/redis/redis.ts'
import { type RedisServer, startRedis, withoutRedis } from '../../support/stores/redis.ts'

const LOGGER = createLogger({ level: 'silent' })
const REASON = withoutRedis()

/** Limits so large that what is added during a test is less than 1, and a limit of one token a second. */
const SLOW = { per_minute: 60, cost: 1 }

function bucketTests(open: () => Buckets): void {
  it('takes all costs or none, also more than there is if a bucket is full', async () => {
    const buckets = open()
    const [runs, bytes] = [randomUUID(), randomUUID()]
    const take = async (cost: number, size: number, force = false) => {
      const draws = [
        { key: runs, per_minute: 60, cost },
        { key: bytes, per_minute: 60, cost: size },
      ]
      const { isTaken, buckets: left } = await buckets.take(draws, force)
      return [isTaken, ...left.map(({ used, per_minute }) => Math.floor(per_minute - used))]
    }
    expect(await take(40, 10)).toEqual([true, 20, 50])
    expect(await take(40, 10)).toEqual([false, 20, 50])
    expect(await take(1, 70)).toEqual([false, 20, 50])
    expect(await take(40, 10, true)).toEqual([true, -20, 40])
    const large = [{ key: randomUUID(), per_minute: 60, cost: 600 }]
    expect((await buckets.take(large, false)).isTaken).toBe(true)
    expect((await buckets.take(large, false)).isTaken).toBe(false)
  })

  it('never takes more than the limit from many requests at the same time', async () => {
    const buckets = open()
    const draws = [{ key: randomUUID(), ...SLOW }]
    const all = await Promise.all(Array.from({ length: 200 }, async () => await buckets.take(draws, false)))
    expect(all.filter(({ isTaken }) => isTaken).length).toBeGreaterThanOrEqual(60)
    expect(all.filter(({ isTaken }) => isTaken).length).toBeLessThan(65)
  })
}

describe('buckets in memory', () => {
  bucketTests(() => createLocalBuckets({ clock: systemClock, servers: () => 1 }))
})

describe.skipIf(REASON !== '')(`buckets in Redis${REASON}`, () => {
  let server: RedisServer
  const open: RedisConnection[] = []
  beforeAll(async () => {
    server = await startRedis()
    const url = await server.url()
    open.push(openRedis(url, LOGGER), openRedis(url, LOGGER))
  })
  afterAll(async () => {
    for (const redis of open) await redis.close()
    await server.stop()
  })

  /** The buckets of one server; a Redis that fails leaves it a tenth of each limit. */
  const bucketsOf = (redis: RedisConnection): Buckets =>
    createRedisBuckets({
      redis,
      otherwise: createLocalBuckets({ clock: systemClock, servers: () => 10 }),
      clock: systemClock,
      logger: LOGGER,
    })

  bucketTests(() => bucketsOf(open[0]!))

  it('are shared by all servers, and expire when they are full again', async () => {
    const draws = [{ key: randomUUID(), per_minute: 60, cost: 30 }]
    const [one, other] = open.map(bucketsOf)
    expect((await one!.take(draws, false)).isTaken).toBe(true)
    expect((await other!.take(draws, false)).isTaken).toBe(true)
    expect((await one!.take(draws, false)).isTaken).toBe(false)
    const ttl = Number(await open[0]!.command('PTTL', `weir:rate:${draws[0]!.key}`))
    expect([ttl > 55_000, ttl <= 61_000]).toEqual([true, true])
  })

  it('are those of each server while Redis does not answer', async () => {
    const redis = openRedis(await server.url(false), LOGGER)
    try {
      const buckets = bucketsOf(redis)
      const draws = [{ key: randomUUID(), per_minute: 60, cost: 1 }]
      expect((await buckets.take(draws, false)).buckets[0]!.per_minute).toBe(60)
      await server.freeze()
      const started = performance.now()
      expect((await buckets.take(draws, false)).buckets[0]!.per_minute).toBe(6)
      expect((await buckets.take(draws, false)).buckets[0]!.per_minute).toBe(6)
      expect(performance.now() - started).toBeLessThan(5_000)
    } finally {
      await redis.close()
      await server.kill()
      await server.start()
    }
  })
})
