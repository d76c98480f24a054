import { expect, it, vi } from 'vitest'
import { killRounds } from '../../support/faults/kill/kill-rounds.ts'

// Servers are killed, start again and catch up, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

it('D-10: kill -9 under load loses no acknowledged run and stores none twice', async () => {
  // The tests in test/long use all kinds of kills.
  const acknowledged = await killRounds(['server'])
  console.log(`kill -9: ${acknowledged} TraceRuns acknowledged, none lost, none twice`)
  expect(acknowledged).toBeGreaterThan(10)
})
