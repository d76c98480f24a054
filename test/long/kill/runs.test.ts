import { expect, it, vi } from 'vitest'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import { runKillRound, VICTIMS } from '../../support/faults/kill/run-kill-rounds.ts'

// Each round kills a server, starts it again and waits until it has caught up.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const ROUNDS = campaign(40, 8)

it(`kill -9 at work, ${ROUNDS} rounds`, async () => {
  const slowest = { settledMs: 0, takenBackMs: 0 }
  let again = 0
  for (let round = 0; round < ROUNDS; round++) {
    const victim = VICTIMS[round % VICTIMS.length] ?? 'both'
    const { settledMs, takenBackMs, attempts } = await runKillRound(victim)
    again += attempts.filter((attempt) => attempt > 1).length
    slowest.settledMs = Math.max(slowest.settledMs, settledMs)
    slowest.takenBackMs = Math.max(slowest.takenBackMs, takenBackMs)
  }
  console.log(
    `runs taken up again: ${again}; taken back at the latest after ${slowest.takenBackMs} ms (the rule: 5,000), settled after ${slowest.settledMs} ms`,
  )
  expect(again).toBeGreaterThan(ROUNDS / 2)
}, 1_800_000)
