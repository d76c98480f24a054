import { expect, it } from 'vitest'
import { BLOWS, killRounds } from '../../support/faults/kill/kill-rounds.ts'

it('kill -9 under load loses no acknowledged run and stores none twice, 21 rounds', async () => {
  const acknowledged = await killRounds(Array.from({ length: 7 }, () => BLOWS).flat())
  console.log(`kill -9: ${acknowledged} TraceRuns acknowledged, none lost, none twice`)
  expect(acknowledged).toBeGreaterThan(1000)
})
