import { expect, it } from 'vitest'
import { fuzzDecode } from '../../support/fuzz/decode.ts'
import { propertySettings } from '../../support/properties.ts'

it('100,000 mutated bodies throw only AppErrors and take less than a second of CPU each', () => {
  const { seed } = propertySettings()
  const report = fuzzDecode(seed, 100_000)
  expect(report, `seed ${seed}`).toMatchObject({ rounds: 100_000 })
  expect(report.slowest_ms, `seed ${seed}`).toBeLessThan(1000)
})
