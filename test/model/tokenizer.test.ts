import { it } from 'vitest'
import { ENCODINGS, expectSameCounts } from '../support/traces/same-token-counts.ts'
import { firstInShort } from '../support/length.ts'

it.each(firstInShort(ENCODINGS))('counts fuzzed strings as js-tiktoken does in %s', (encoding) => {
  expectSameCounts(encoding, 1000)
})
