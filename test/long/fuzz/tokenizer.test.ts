import { it, vi } from 'vitest'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import { ENCODINGS, expectSameCounts } from '../../support/traces/same-token-counts.ts'

// Thousands of inputs.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const STRINGS = campaign(20_000)

it.each(ENCODINGS)(`counts ${STRINGS} fuzzed strings as js-tiktoken does in %s`, (encoding) => {
  expectSameCounts(encoding, STRINGS)
})
