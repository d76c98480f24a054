import { hash } from 'node:crypto'
import { createTextCounter, type TextCounter, type TokenCount } from './bpe-count.ts'
import type { Encoding } from './bpe-ranks.ts'

export type { Encoding, TokenCount }

/** What may still be counted for one TraceRun. Made by `Tokenizer.budget`, spent by `Tokenizer.count`. */
export interface TokenBudget {
  /** UTF-16 units that may still be looked at. */
  left: number
  /** Units counted so far, and the tokens they made: the rate for text that nothing is left for. */
  countedUnits: number
  countedTokens: number
}

export interface Tokenizer {
  /** A fresh budget of `maxChars`: one per TraceRun, shared by all its texts. */
  budget(): TokenBudget
  /**
   * Counts the tokens of one text. Exact, or flagged `sampled` where the budget (without one: `maxChars` for
   * this text alone) or an extreme piece allowed only a sample. The same calls in the same order on a budget
   * give the same counts, whatever is in the cache. Never throws on any string.
   */
  count(text: string, encoding: Encoding, budget?: TokenBudget): TokenCount
}

export interface TokenizerOptions {
  /** Most UTF-16 units looked at per budget; the rest is extrapolated. Default 1,048,576. */
  maxChars?: number
  /** Texts whose counts are remembered, by hash. Default 8,192 (about 1.5 MB when full). */
  cacheEntries?: number
}

const DEFAULT_MAX_CHARS = 1 << 20
const DEFAULT_CACHE_ENTRIES = 8192
// Shorter texts are counted again faster than they are hashed and found.
const CACHED_FROM = 512
// A text beyond the budget is judged by this much of it, in windows spread evenly from start to end.
const SAMPLE_UNITS = 1 << 17
const SAMPLE_WINDOWS = 16
// Less than this is too little to judge a text by: it takes the rate of what was counted before.
const LEAST_SAMPLE = 1024
// English prose; used only before anything was counted.
const USUAL_TOKENS_PER_UNIT = 0.25

/** Makes a tokenizer with its own cache and, from first use on, rank tables (o200k: 50 ms, 8 MB). */
export function createTokenizer(options: TokenizerOptions = {}): Tokenizer {
  const maxChars = options.maxChars ?? DEFAULT_MAX_CHARS
  const countWhole = createCachedCounter(options.cacheEntries ?? DEFAULT_CACHE_ENTRIES)
  const newBudget = (): TokenBudget => ({ left: maxChars, countedUnits: 0, countedTokens: 0 })
  return {
    budget: newBudget,
    count(text, encoding, budget = newBudget()) {
      if (text.length > budget.left) return countSample(text, encoding, budget, countWhole)
      const count = countWhole(text, encoding)
      spend(budget, text.length, count.tokens)
      return { ...count }
    },
  }
}

function spend(budget: TokenBudget, units: number, tokens: number): void {
  budget.left -= units
  budget.countedUnits += units
  budget.countedTokens += tokens
}

function countSample(text: string, encoding: Encoding, budget: TokenBudget, count: TextCounter): TokenCount {
  const sample = Math.min(budget.left, SAMPLE_UNITS)
  if (sample < LEAST_SAMPLE) {
    const rate = budget.countedUnits > 0 ? budget.countedTokens / budget.countedUnits : USUAL_TOKENS_PER_UNIT
    return { tokens: Math.round(text.length * rate), sampled: true }
  }
  const window = Math.floor(sample / SAMPLE_WINDOWS)
  const step = (text.length - window) / (SAMPLE_WINDOWS - 1)
  let tokens = 0
  for (let i = 0; i < SAMPLE_WINDOWS; i++) {
    const start = Math.floor(i * step)
    tokens += count(text.slice(start, start + window), encoding).tokens
  }
  const units = window * SAMPLE_WINDOWS
  spend(budget, units, tokens)
  return { tokens: Math.round((tokens * text.length) / units), sampled: true }
}

// Least recently used out first: a Map keeps insertion order, and a hit is inserted anew. The key is a hash, so
// that no text is kept alive by its count.
function createCachedCounter(cacheEntries: number): TextCounter {
  const countText = createTextCounter()
  const cache = new Map<string, TokenCount>()
  return (text, encoding) => {
    if (text.length < CACHED_FROM) return countText(text, encoding)
    const key = encoding + hash('sha256', text, 'base64url')
    const known = cache.get(key)
    if (known !== undefined) {
      cache.delete(key)
      cache.set(key, known)
      return known
    }
    const count = countText(text, encoding)
    cache.set(key, count)
    if (cache.size > cacheEntries) {
      const oldest = cache.keys().next().value
      if (oldest !== undefined) cache.delete(oldest)
    }
    return count
  }
}
