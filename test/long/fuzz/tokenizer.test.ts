import { it } from 'vitest'
import { ENCODINGS, expectSameCounts } from '../../support/traces/same-token-counts.ts'

it.each(ENCODINGS)('counts 20,000 fuzzed strings as js-tiktoken does in %s', (encoding) => {
  expectSameCounts(encoding, 20000)
})
