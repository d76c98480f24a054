import { expect, it } from 'vitest'
import { runKillRound, VICTIMS } from '../support/run-kill-rounds.ts'

it('kill -9 at work, 30 rounds', async () => {
  const slowest = { settledMs: 0, victim: '' }
  let again = 0
  for (let round = 0; round < 30; round++) {
    const victim = VICTIMS[round % VICTIMS.length] ?? 'both'
    const { settledMs, attempts } = await runKillRound(victim)
    again += attempts.filter((attempt) => attempt > 1).length
    if (settledMs > slowest.settledMs) Object.assign(slowest, { settledMs, victim })
  }
  console.log(
    `runs taken up again: ${again}; slowest round ${slowest.settledMs} ms, killed ${slowest.victim}`,
  )
  expect(again).toBeGreaterThan(30)
}, 600_000)
