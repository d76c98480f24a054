import { it } from 'vitest'
import { ENCODINGS, expectSameCounts } from '../support/traces/same-token-counts.ts'
import { firstInShort } from '../support/length.ts'

it.each(firstInShort(ENCODINGS, 2))('counts 1,000 fuzzed strings as js-tiktoken does in %s', (encoding) => {
  expectSameCounts(encoding, 1000)
})
