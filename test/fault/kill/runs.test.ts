import { expect, it } from 'vitest'
import { runKillRound } from '../../support/faults/kill/run-kill-rounds.ts'

// test/long/kill/runs.test.ts also kills the server alone, hosts alone, and hosts that are starting.
it('RUN-13, D-43: kill -9 of server and graph hosts under load: every run ends, none is executed twice at a time', async () => {
  const { statuses, attempts, takenBackMs, settledMs } = await runKillRound('both')
  console.log(`taken back in ${takenBackMs} ms, settled in ${settledMs} ms, attempts ${attempts.join(' ')}`)
  expect(statuses.every((status) => status === 'success')).toBe(true)
  // A run has a higher attempt after it was recovered.
  expect(Math.max(...attempts)).toBeGreaterThan(1)
}, 300_000)
