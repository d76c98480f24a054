import { expect, it, vi } from 'vitest'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import { runProtocolCampaign } from '../../support/faults/kill/protocol-cuts.ts'
import { startPostgres, withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { startRedis, withoutRedis } from '../../support/stores/redis.ts'

// Each round kills a server, starts it again and waits until it has caught up.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const RUNS = campaign(10, 3)
const CUTS = campaign(1000)
const KILLS = campaign(10, 3)
const CUTS_OF_TWO = campaign(300)
const KILLS_OF_TWO = campaign(4, 2)

it(`protocol v2: ${CUTS} cuts over ${20 * RUNS} runs and ${KILLS} kill -9 lose no event and repeat none (V-14, V-15, V-30, V-43)`, async () => {
  const report = await runProtocolCampaign({
    threads: 20,
    runs: RUNS,
    tokens: 300,
    cuts: CUTS,
    kills: KILLS,
  })
  console.log(`${report.cuts} cuts, ${report.kills} kills, ${report.events} events`)
  expect(report.cuts).toBeGreaterThanOrEqual(CUTS)
  expect(report.kills).toBe(KILLS)
})

const missing = withoutPostgres() + withoutRedis()

it.skipIf(missing !== '')(
  `protocol v2: the same of two servers on Postgres and Redis, from one to the other${missing}`,
  async () => {
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
    try {
      const shared = { DATABASE_URL: await postgres.createDatabase(), REDIS_URL: await redis.url() }
      const report = await runProtocolCampaign({
        threads: 10,
        runs: campaign(5, 2),
        tokens: 200,
        cuts: CUTS_OF_TWO,
        kills: KILLS_OF_TWO,
        shared,
      })
      console.log(`${report.cuts} cuts, ${report.kills} kills, ${report.events} events`)
      expect(report.cuts).toBeGreaterThanOrEqual(CUTS_OF_TWO)
      expect(report.kills).toBe(KILLS_OF_TWO)
    } finally {
      await Promise.all([postgres.stop(), redis.stop()])
    }
  },
)
