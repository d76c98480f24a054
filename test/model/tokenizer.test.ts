import { it } from 'vitest'
import { ENCODINGS, expectSameCounts } from '../support/same-token-counts.ts'

it.each(ENCODINGS)('counts 3,000 fuzzed strings as js-tiktoken does in %s', (encoding) => {
  expectSameCounts(encoding, 3000)
})
