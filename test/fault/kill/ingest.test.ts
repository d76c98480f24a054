import { expect, it } from 'vitest'
import { killRounds } from '../../support/faults/kill/kill-rounds.ts'

it('D-10: kill -9 under load loses no acknowledged run and stores none twice', async () => {
  // This kind also kills the server under load; the long tests use all kinds.
  const acknowledged = await killRounds(['server while it catches up'])
  console.log(`kill -9: ${acknowledged} TraceRuns acknowledged, none lost, none twice`)
  expect(acknowledged).toBeGreaterThan(10)
})
