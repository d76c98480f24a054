import { expect, it, vi } from 'vitest'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import { BLOWS, killRounds } from '../../support/faults/kill/kill-rounds.ts'

// Each round kills a server, starts it again and waits until it has caught up.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

/** Number of repetitions. Each repetition kills once in every way. */
const TIMES = campaign(7, 2)

it(`kill -9 under load loses no acknowledged run and stores none twice, ${TIMES * BLOWS.length} rounds`, async () => {
  const acknowledged = await killRounds(Array.from({ length: TIMES }, () => BLOWS).flat())
  console.log(`kill -9: ${acknowledged} TraceRuns acknowledged, none lost, none twice`)
  expect(acknowledged).toBeGreaterThan(TIMES * 150)
})
