import { describe, expect, it } from 'vitest'
import { expectCpuBelow } from '../../../test/support/cpu-bound.ts'
import { createTokenizer } from './tokenizer.ts'
import { someInShort } from '../../../test/support/length.ts'

const tokenizer = createTokenizer()
const MILLION = 1 << 20

// A cheap generator with a fixed seed: the same characters in every run.
function randomText(length: number, from: number, kinds: number): string {
  let seed = 1
  const units = Array.from({ length }, () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return String.fromCodePoint(from + Math.floor((seed / 2 ** 32) * kinds))
  })
  return units.join('').slice(0, length)
}

describe('exact counts', () => {
  it.each([
    ['o200k_base', 'Hello, world!', 4],
    ['cl100k_base', "I'd like to book a table for two.", 10],
    ['p50k_base', '    indented', 3],
    ['r50k_base', '    indented', 5],
    ['gpt2', 'Hello', 1],
    ['p50k_edit', '<|endoftext|>', 7],
    ['o200k_base', '', 0],
  ] as const)('%s of %j', (encoding, text, tokens) => {
    expect(tokenizer.count(text, encoding)).toEqual({ tokens, sampled: false })
  })

  it('counts a lone surrogate as the replacement character', () => {
    const replaced = tokenizer.count('\ufffd', 'o200k_base')
    expect(tokenizer.count('\ud800', 'o200k_base')).toEqual(replaced)
    expect(tokenizer.count('\udc00', 'o200k_base')).toEqual(replaced)
  })

  it('gives the same count from the cache and for equal texts of another string', () => {
    const text = 'All work and no play makes Jack a dull boy. '.repeat(40)
    const first = tokenizer.count(text, 'o200k_base')
    const again = tokenizer.count(text, 'o200k_base')
    expect(again).toEqual(first)
    expect(again).not.toBe(first)
    expect(tokenizer.count(`${text}and again and again`, 'o200k_base').tokens).toBeGreaterThan(first.tokens)
    expect(tokenizer.count(text, 'r50k_base').tokens).toBeGreaterThanOrEqual(first.tokens)
  })

  it('drops the least recently used counts without changing any', () => {
    const small = createTokenizer({ cacheEntries: 2 })
    const texts = ['a b ', 'c d ', 'e f '].map((part) => part.repeat(200))
    const counts = texts.map((text) => small.count(text, 'o200k_base'))
    expect(texts.map((text) => small.count(text, 'o200k_base'))).toEqual(counts)
  })
})

describe('a million characters at most a second of CPU, exact or flagged', () => {
  it.each(
    someInShort(
      [
        ['a', 'a'.repeat(MILLION), 131_072],
        ['spaces', ' '.repeat(MILLION), 8_192],
        ['newlines', '\n'.repeat(MILLION), 65_536],
        ['an emoji', '🙂'.repeat(MILLION / 2), 524_288],
        ['random CJK', randomText(MILLION, 0x4e00, 0x51a5), 2_011_000],
        ['random letters', randomText(MILLION, 0x61, 26), 544_000],
        ['long words', `${'a'.repeat(65_535)} `.repeat(16), 131_104],
      ] as const,
      6,
    ),
  )('%s', (_, text, tokens) => {
    const fresh = createTokenizer({ cacheEntries: 0 })
    fresh.count('warm', 'o200k_base')
    expectCpuBelow(1, () => {
      const count = fresh.count(text, 'o200k_base')
      expect(Math.abs(count.tokens / tokens - 1)).toBeLessThan(0.01)
    })
  })

  it('flags only pieces that are too long to merge whole', () => {
    expect(tokenizer.count('a'.repeat(65_536), 'o200k_base')).toEqual({ tokens: 8_192, sampled: false })
    expect(tokenizer.count('a'.repeat(65_544), 'o200k_base')).toEqual({ tokens: 8_193, sampled: true })
  })
})

describe('a budget', () => {
  const words = 'the quick brown fox jumps over the lazy dog '

  it('counts exactly until it is used up, over all texts together', () => {
    const budget = tokenizer.budget()
    const text = words.repeat(1000)
    const each = tokenizer.count(text, 'o200k_base')
    const fits = Math.floor(MILLION / text.length)
    for (let i = 0; i < fits; i++) expect(tokenizer.count(text, 'o200k_base', budget)).toEqual(each)
    const beyond = tokenizer.count(text, 'o200k_base', budget)
    expect(beyond.sampled).toBe(true)
    expect(Math.abs(beyond.tokens / each.tokens - 1)).toBeLessThan(0.02)
  })

  it('samples a text that exceeds it from start to end', () => {
    const half = words.repeat(20_000)
    const text = half + '漢字'.repeat(half.length / 2)
    const whole = createTokenizer({ maxChars: 1e9 })
    const exact =
      whole.count(half, 'o200k_base').tokens + whole.count(text.slice(half.length), 'o200k_base').tokens
    const sample = tokenizer.count(text, 'o200k_base')
    expect(sample.sampled).toBe(true)
    expect(Math.abs(sample.tokens / exact - 1)).toBeLessThan(0.02)
  })

  it('does not depend on the content of the cache', () => {
    const text = words.repeat(2000)
    const run = (one: typeof tokenizer) => {
      const budget = one.budget()
      return [text, text, `${text}.`, text].map((said) => one.count(said, 'o200k_base', budget))
    }
    const warm = createTokenizer({ maxChars: 200_000 })
    run(warm)
    expect(run(warm)).toEqual(run(createTokenizer({ maxChars: 200_000, cacheEntries: 0 })))
  })

  it('still estimates in proportion when it is used up', () => {
    const one = createTokenizer({ maxChars: 0 })
    expect(one.count('', 'o200k_base')).toEqual({ tokens: 0, sampled: false })
    expect(one.count('x'.repeat(400), 'o200k_base')).toEqual({ tokens: 100, sampled: true })
  })
})
