import { createRequire } from 'node:module'
import * as fc from 'fast-check'
import { Tiktoken, type TiktokenBPE } from 'js-tiktoken/lite'
import { expect } from 'vitest'
import { createTextCounter } from '../../../src/trace/tokens/bpe/count.ts'
import type { Encoding } from '../../../src/trace/tokens/tokenizer.ts'
import { tries } from '../properties.ts'

/** Every encoding that the tokenizer supports. */
export const ENCODINGS: readonly Encoding[] = [
  'o200k_base',
  'cl100k_base',
  'p50k_base',
  'p50k_edit',
  'r50k_base',
  'gpt2',
]

const require = createRequire(import.meta.url)
const countText = createTextCounter()

// Texts that split patterns and merges treat differently: words and contractions, whitespace, scripts and marks, signs,
// special tokens.
const WORDS = ['a', 'the ', ' World', 'ABC', 'camelCase', "'s", "'LL", "n't", 'zzqxj', 'f() {\n', '{"a":1}']
const SPACES = [
  ' ',
  '  ',
  '    ',
  '\t',
  '\n',
  '\r\n',
  '\n\n',
  ' \n ',
  '\u00a0',
  '\u2028',
  '\u3000',
  '\ufeff',
  '\0',
]
const SCRIPTS = [
  '日本',
  '漢字かな',
  '한국어',
  'ไทย',
  'हिन्दी',
  'مرحبا',
  'שלום',
  'Привет',
  'Ünï',
  'e\u0301',
  'ǅ',
  'ʰ',
]
const SYMBOLS = [
  '🙂',
  '👩‍👩‍👧',
  '🇫🇷',
  '\u{10ffff}',
  '\ud800',
  '\udc00',
  '\ufffd',
  'ⅷ',
  '²',
  '٣',
  '0',
  '42',
  '123456',
]
const SIGNS = ['3.14', '//', '/**', '!!!', '---', '====', 'https://x.y/z?q=1', '#$%&', '«»']
const SPECIALS = ['<|endoftext|>', '<|fim_prefix|>', '<|endofprompt|>', '<|im_start|>']
const fragment = fc.constantFrom(...WORDS, ...SPACES, ...SCRIPTS, ...SYMBOLS, ...SIGNS, ...SPECIALS)
const repeated = fc.tuple(fragment, fc.integer({ min: 1, max: 20 })).map(([one, times]) => one.repeat(times))
const anyUnits = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map(unitText), maxLength: 12 })
const asciiUnits = fc.string({ unit: fc.integer({ min: 0, max: 127 }).map(unitText), maxLength: 24 })
const words = fc.string({ unit: fragment, maxLength: 10 })
const texts = fc.oneof(
  words,
  asciiUnits,
  anyUnits,
  repeated,
  fc.tuple(repeated, words).map((parts) => parts.join('')),
  fc.tuple(words, anyUnits, repeated).map((parts) => parts.join('')),
)

function unitText(unit: number): string {
  return String.fromCharCode(unit)
}

/**
 * Checks that Weir and js-tiktoken count the same number of tokens in fuzzed strings, with special tokens read as plain
 * text.
 */
export function expectSameCounts(encoding: Encoding, strings: number): void {
  const reference = new Tiktoken(require(`js-tiktoken/ranks/${encoding}`) as TiktokenBPE)
  fc.assert(
    fc.property(texts, (text) => {
      const { tokens, sampled } = countText(text, encoding)
      const expected = reference.encode(text, [], []).length
      // `expect` costs more than the count, so it is only called when the counts differ.
      if (tokens !== expected || sampled)
        expect({ tokens, sampled }).toEqual({ tokens: expected, sampled: false })
    }),
    tries(strings),
  )
}
