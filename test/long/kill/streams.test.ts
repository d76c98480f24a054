import { expect, it, vi } from 'vitest'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import { startPostgres, withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { startRedis, withoutRedis } from '../../support/stores/redis.ts'
import { runCutCampaign } from '../../support/faults/kill/stream-cuts.ts'

// Each round kills a server, starts it again and waits until it has caught up.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const RUNS = campaign(10, 3)
const CUTS = campaign(1000)
const KILLS = campaign(10, 3)
const CUTS_OF_TWO = campaign(300)
const KILLS_OF_TWO = campaign(4, 2)

it(`${CUTS} broken connections over ${20 * RUNS} runs and ${KILLS} kill -9 of the server lose no event and repeat none`, async () => {
  const report = await runCutCampaign({
    threads: 20,
    runs: RUNS,
    tokens: 300,
    cuts: CUTS,
    sdk: { streams: 0, cuts: 0 },
    kills: KILLS,
  })
  console.log(`${report.cuts} cuts, ${report.kills} kills, ${report.events} events`)
  expect(report.cuts).toBeGreaterThanOrEqual(CUTS)
  expect(report.kills).toBe(KILLS)
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
      runs: campaign(5, 2),
      tokens: 200,
      cuts: CUTS_OF_TWO,
      sdk: { streams: 4, cuts: 3 },
      kills: KILLS_OF_TWO,
      shared: { DATABASE_URL: await postgres.createDatabase(), REDIS_URL: await redis.url() },
    })
    console.log(`${report.cuts} and ${report.sdkCuts} cuts, ${report.kills} kills, ${report.events} events`)
    expect(report.cuts).toBeGreaterThanOrEqual(CUTS_OF_TWO)
    expect(report.kills).toBe(KILLS_OF_TWO)
  } finally {
    await Promise.all([postgres.stop(), redis.stop()])
  }
})
