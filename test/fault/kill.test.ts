import { expect, it } from 'vitest'
import { killRounds } from '../support/kill-rounds.ts'

it('kill -9 under load loses nothing acknowledged and repeats nothing, 3 rounds', async () => {
  const acknowledged = await killRounds(3)
  console.log(`kill -9: ${acknowledged} TraceRuns acknowledged, none lost, none twice`)
  expect(acknowledged).toBeGreaterThan(100)
})
