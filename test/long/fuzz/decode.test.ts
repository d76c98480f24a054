import { expect, it, vi } from 'vitest'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import { fuzzDecode } from '../../support/fuzz/decode.ts'
import { propertySettings } from '../../support/properties.ts'

// Thousands of inputs.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const ROUNDS = campaign(100_000)

it(`${ROUNDS} mutated bodies throw only AppErrors and take less than a second of CPU each`, () => {
  const { seed } = propertySettings()
  const report = fuzzDecode(seed, ROUNDS)
  expect(report, `seed ${seed}`).toMatchObject({ rounds: ROUNDS })
  expect(report.slowest_ms, `seed ${seed}`).toBeLessThan(1000)
})
