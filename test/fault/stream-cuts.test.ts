import { expect, it } from 'vitest'
import { runCutCampaign } from '../support/stream-cuts.ts'

it('STREAM-7: broken connections cost no event and repeat none', async () => {
  const report = await runCutCampaign({
    threads: 3,
    runs: 3,
    tokens: 100,
    cuts: 60,
    sdk: { streams: 4, cuts: 1 },
    kills: 0,
  })
  console.log(`${report.cuts} and ${report.sdkCuts} cuts, ${report.events} events`)
  expect(report.cuts).toBeGreaterThan(10)
  expect(report.sdkCuts).toBe(4)
})
