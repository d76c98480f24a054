import { expect, it } from 'vitest'
import { killRounds } from '../support/kill-rounds.ts'

it('kill -9 under load loses nothing acknowledged and repeats nothing', async () => {
  // The third kind of blow holds the first; all of them are dealt seven times in the long tests.
  const acknowledged = await killRounds(['server while it catches up', 'engine'])
  console.log(`kill -9: ${acknowledged} TraceRuns acknowledged, none lost, none twice`)
  expect(acknowledged).toBeGreaterThan(100)
})
