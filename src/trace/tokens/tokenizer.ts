import { RecentMap } from '../../base/recent-map.ts'
import { hash } from 'node:crypto'
import { createTextCounter, type TextCounter, type TokenCount } from './bpe/count.ts'
import type { Encoding } from './bpe/ranks.ts'

export type { Encoding, TokenCount }

/** The remaining work for counting one TraceRun; created by `Tokenizer.budget`, used up by `Tokenizer.count`. */
export interface TokenBudget {
  /** Remaining number of UTF-16 units to read. */
  left: number
  /** Units counted so far, and their tokens; their ratio is the rate for text beyond the budget. */
  countedUnits: number
  countedTokens: number
}

export interface Tokenizer {
  /** Creates a budget of `maxChars`, which all texts of one TraceRun share. */
  budget(): TokenBudget
  /**
   * Counts the tokens of one text. Exact, or marked `sampled` if the budget (without one: `maxChars` for this text
   * alone) or an extremely long piece allowed only a sample. The same calls in the same order with a budget return the
   * same counts, independently of the cache. Never throws on any string.
   */
  count(text: string, encoding: Encoding, budget?: TokenBudget): TokenCount
}

export interface TokenizerOptions {
  /** Maximum number of UTF-16 units that are read per budget; the rest is extrapolated. Default 1,048,576. */
  maxChars?: number
  /** Number of texts whose counts are cached, by hash. Default 8,192 (about 1.5 MB when full). */
  cacheEntries?: number
}

const DEFAULT_MAX_CHARS = 1 << 20
const DEFAULT_CACHE_ENTRIES = 8192
// Minimum length of a cached text, because counting a shorter one again is faster than hashing it.
const CACHED_FROM = 512
// Number of UTF-16 units that are counted in a text beyond the budget, in windows spread evenly from start to end.
const SAMPLE_UNITS = 1 << 17
const SAMPLE_WINDOWS = 16
// Minimum size of a reliable sample; with fewer units, a text gets the rate of earlier texts.
const LEAST_SAMPLE = 1024
// The rate of English prose; used only before anything was counted.
const USUAL_TOKENS_PER_UNIT = 0.25

/** Creates a tokenizer with its own cache; rank tables are loaded at the first use (o200k: 50 ms, 8 MB). */
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

// The key is a hash, so that the cache does not keep texts in memory.
function createCachedCounter(cacheEntries: number): TextCounter {
  const countText = createTextCounter()
  const cache = new RecentMap<string, TokenCount>(cacheEntries)
  return (text, encoding) => {
    if (text.length < CACHED_FROM) return countText(text, encoding)
    const key = encoding + hash('sha256', text, 'base64url')
    const known = cache.touch(key)
    if (known !== undefined) return known
    const count = countText(text, encoding)
    cache.set(key, count)
    return count
  }
}
