import { expect, it } from 'vitest'
import { runProtocolCampaign } from '../../support/faults/kill/protocol-cuts.ts'
import { startPostgres, withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { startRedis, withoutRedis } from '../../support/stores/redis.ts'

it('protocol v2: 1,000 cuts over 200 runs and 10 kill -9 lose no event and repeat none (V-14, V-15, V-30, V-43)', async () => {
  const report = await runProtocolCampaign({ threads: 20, runs: 10, tokens: 300, cuts: 1000, kills: 10 })
  console.log(`${report.cuts} cuts, ${report.kills} kills, ${report.events} events`)
  expect(report.cuts).toBeGreaterThanOrEqual(1000)
  expect(report.kills).toBe(10)
})

const missing = withoutPostgres() + withoutRedis()

it.skipIf(missing !== '')(
  `protocol v2: the same of two servers on Postgres and Redis, from one to the other${missing}`,
  async () => {
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
    try {
      const shared = { DATABASE_URL: await postgres.createDatabase(), REDIS_URL: await redis.url() }
      const report = await runProtocolCampaign({
        ...{ threads: 10, runs: 5, tokens: 200, cuts: 300, kills: 4 },
        shared,
      })
      console.log(`${report.cuts} cuts, ${report.kills} kills, ${report.events} events`)
      expect(report.cuts).toBeGreaterThanOrEqual(300)
      expect(report.kills).toBe(4)
    } finally {
      await Promise.all([postgres.stop(), redis.stop()])
    }
  },
)
