import { createPieceCounter } from './merge.ts'
import { type Encoding, loadRanks, rankFileOf } from './ranks.ts'

/** A number of tokens, and whether part of the text was only extrapolated. */
export interface TokenCount {
  tokens: number
  /** Whether `tokens` is extrapolated, because some characters were not counted. */
  sampled: boolean
}

/**
 * Counts the tokens of a text in an encoding like js-tiktoken's `encode(text, [], [])`: special tokens count as plain
 * text, a lone surrogate as U+FFFD. Exact unless a single piece (a run of letters, of spaces, …) is longer than 65,536
 * UTF-16 units: the count of such a piece is extrapolated from its beginning.
 */
export type TextCounter = (text: string, encoding: Encoding) => TokenCount

// Limits the memory of a merge, so that it fits into the processor's cache.
const LONGEST_PIECE = 1 << 16

/** Creates a counter, which reads and keeps the rank table of an encoding when it is first used. */
export function createTextCounter(): TextCounter {
  const counters = new Map<string, (text: string) => TokenCount>()
  return (text, encoding) => {
    const rankFile = rankFileOf(encoding)
    let counter = counters.get(rankFile)
    if (counter === undefined) {
      counter = createTableCounter(rankFile)
      counters.set(rankFile, counter)
    }
    return counter(text)
  }
}

function createTableCounter(rankFile: string): (text: string) => TokenCount {
  const table = loadRanks(rankFile)
  const countPiece = createPieceCounter(table)
  const { pattern } = table
  const bytes = new Uint8Array(3 * LONGEST_PIECE)
  return (text) => {
    let tokens = 0
    let sampled = false
    let start = 0
    // `test` only moves lastIndex and creates no strings; pieces follow each other without gaps.
    pattern.lastIndex = 0
    while (pattern.test(text)) {
      const end = pattern.lastIndex
      const units = end - start
      if (units <= LONGEST_PIECE) {
        tokens += countPiece(bytes, writeUtf8(text, start, end, bytes))
      } else {
        const counted = countPiece(bytes, writeUtf8(text, start, start + LONGEST_PIECE, bytes))
        tokens += Math.round((counted * units) / LONGEST_PIECE)
        sampled = true
      }
      start = end
    }
    return { tokens, sampled }
  }
}

/** Writes `text[start, end)` as UTF-8 (lone surrogates as U+FFFD) and returns the number of bytes. */
function writeUtf8(text: string, start: number, end: number, bytes: Uint8Array): number {
  let at = 0
  for (let i = start; i < end; i++) {
    let code = text.charCodeAt(i)
    if (code < 0x80) {
      bytes[at++] = code
      continue
    }
    if (code < 0x800) {
      bytes[at++] = 0xc0 | (code >> 6)
      bytes[at++] = 0x80 | (code & 0x3f)
      continue
    }
    if ((code & 0xf800) === 0xd800) {
      const low = i + 1 < end ? text.charCodeAt(i + 1) : 0
      if (code < 0xdc00 && (low & 0xfc00) === 0xdc00) {
        const point = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff)
        bytes[at++] = 0xf0 | (point >> 18)
        bytes[at++] = 0x80 | ((point >> 12) & 0x3f)
        bytes[at++] = 0x80 | ((point >> 6) & 0x3f)
        bytes[at++] = 0x80 | (point & 0x3f)
        i++
        continue
      }
      code = 0xfffd
    }
    bytes[at++] = 0xe0 | (code >> 12)
    bytes[at++] = 0x80 | ((code >> 6) & 0x3f)
    bytes[at++] = 0x80 | (code & 0x3f)
  }
  return at
}
