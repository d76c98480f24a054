import { expect, it } from 'vitest'
import { startPostgres, withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { startRedis, withoutRedis } from '../../support/stores/redis.ts'
import { runCutCampaign } from '../../support/faults/kill/stream-cuts.ts'

it('1,000 broken connections over 200 runs and 10 kill -9 of the server lose no event and repeat none', async () => {
  const report = await runCutCampaign({
    threads: 20,
    runs: 10,
    tokens: 300,
    cuts: 1000,
    sdk: { streams: 0, cuts: 0 },
    kills: 10,
  })
  console.log(`${report.cuts} cuts, ${report.kills} kills, ${report.events} events`)
  expect(report.cuts).toBeGreaterThanOrEqual(1000)
  expect(report.kills).toBe(10)
})

it('five broken connections of a stream are as many as the SDK retries', async () => {
  const report = await runCutCampaign({
    threads: 0,
    runs: 0,
    tokens: 300,
    cuts: 0,
    sdk: { streams: 20, cuts: 5 },
    kills: 0,
  })
  console.log(`${report.sdkCuts} cuts, ${report.events} events`)
  expect(report.sdkCuts).toBeGreaterThan(60)
})

const missing = withoutPostgres() + withoutRedis()

it.skipIf(missing !== '')(`the same of two servers on Redis, from one to the other${missing}`, async () => {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
  try {
    const report = await runCutCampaign({
      threads: 10,
      runs: 5,
      tokens: 200,
      cuts: 300,
      sdk: { streams: 4, cuts: 3 },
      kills: 4,
      shared: { DATABASE_URL: await postgres.createDatabase(), REDIS_URL: await redis.url() },
    })
    console.log(`${report.cuts} and ${report.sdkCuts} cuts, ${report.kills} kills, ${report.events} events`)
    expect(report.cuts).toBeGreaterThanOrEqual(300)
    expect(report.kills).toBe(4)
  } finally {
    await Promise.all([postgres.stop(), redis.stop()])
  }
})
