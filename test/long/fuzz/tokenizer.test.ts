import { it } from 'vitest'
import { campaign } from '../../support/campaign.ts'
import { ENCODINGS, expectSameCounts } from '../../support/traces/same-token-counts.ts'

const STRINGS = campaign(20_000)

it.each(ENCODINGS)(`counts ${STRINGS} fuzzed strings as js-tiktoken does in %s`, (encoding) => {
  expectSameCounts(encoding, STRINGS)
})
