import { createRequire } from 'node:module'

/** An encoding of OpenAI's tiktoken family, by its public name. */
export type Encoding = 'o200k_base' | 'cl100k_base' | 'p50k_base' | 'p50k_edit' | 'r50k_base' | 'gpt2'

/** The result of `rankOf` for bytes that are not a token. Larger than every rank. */
export const NO_RANK = 0x7fffffff

/** An encoding in the form for counting: its split pattern, and its token table in typed arrays. */
export interface RankTable {
  /** Pattern that splits text into pieces; its matches cover every text without gaps. */
  readonly pattern: RegExp
  /** Length of the longest token in bytes; a longer byte string has no rank. */
  readonly maxTokenBytes: number
  /** Rank of each two-byte token, by `first << 8 | second`; NO_RANK if there is none. */
  readonly pairRanks: Int32Array
  /** The bytes of all tokens, one after the other. */
  readonly tokenBytes: Uint8Array
  /** The offset of the token of a rank in `tokenBytes`. */
  readonly tokenStarts: Uint32Array
  /** Length in bytes of the token of a rank; 0 for a rank that is not used. */
  readonly tokenLengths: Uint8Array
  /** Open addressing over token hashes: a slot contains rank + 1, or 0 if it is free. The length is a power of two. */
  readonly slots: Int32Array
}

interface RankFile {
  pat_str: string
  bpe_ranks: string
}

// gpt2 and p50k_edit differ from these only in special tokens, which are counted as plain text here.
const RANK_FILES: Readonly<Record<Encoding, string>> = {
  o200k_base: 'js-tiktoken/ranks/o200k_base',
  cl100k_base: 'js-tiktoken/ranks/cl100k_base',
  p50k_base: 'js-tiktoken/ranks/p50k_base',
  p50k_edit: 'js-tiktoken/ranks/p50k_base',
  r50k_base: 'js-tiktoken/ranks/r50k_base',
  gpt2: 'js-tiktoken/ranks/r50k_base',
}

/** The key of the table of an encoding; encodings with equal counts share a table. */
export function rankFileOf(encoding: Encoding): string {
  return RANK_FILES[encoding]
}

/**
 * Reads one rank file of js-tiktoken (a key from `rankFileOf`) and builds its table: synchronous, tens of milliseconds,
 * a few megabytes. The caller keeps the table.
 */
export function loadRanks(rankFile: string): RankTable {
  const require = createRequire(import.meta.url)
  const file = require(rankFile) as RankFile
  return buildTable(file)
}

/** Rank of the token with exactly these bytes, or NO_RANK. */
export function rankOf(table: RankTable, bytes: Uint8Array, start: number, end: number): number {
  const length = end - start
  if (length > table.maxTokenBytes) return NO_RANK
  const { slots, tokenLengths, tokenStarts, tokenBytes } = table
  const mask = slots.length - 1
  for (let slot = hashOf(bytes, start, end) & mask; ; slot = (slot + 1) & mask) {
    const rank = (slots[slot] as number) - 1
    if (rank < 0) return NO_RANK
    if (tokenLengths[rank] !== length) continue
    const from = tokenStarts[rank] as number
    let same = 0
    while (same < length && tokenBytes[from + same] === bytes[start + same]) same++
    if (same === length) return rank
  }
}

/** Rank of the token made of the two bytes at `at`, or NO_RANK. */
export function pairRankAt(table: RankTable, bytes: Uint8Array, at: number): number {
  return table.pairRanks[((bytes[at] as number) << 8) | (bytes[at + 1] as number)] as number
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return hash ^ (hash >>> 13)
}

// File format: lines of `! FIRST_RANK base64 base64 …`, ranks counting up from the first.
function buildTable(file: RankFile): RankTable {
  const lines = file.bpe_ranks
    .split('\n')
    .filter((line) => line !== '')
    .map(readHead)
  // A token takes at least five characters of a line, so the table never has more ranks than this.
  const room = Math.max(...lines.map((line) => line.firstRank + Math.ceil(line.text.length / 5))) + 1
  const tokens: TokenList = {
    bytes: new Uint8Array(Math.ceil(file.bpe_ranks.length * 0.75)),
    starts: new Uint32Array(room),
    lengths: new Uint8Array(room),
    used: 0,
    ranks: 0,
  }
  for (const line of lines) readTokens(line, tokens)
  return indexTokens(new RegExp(file.pat_str, 'gu'), tokens)
}

interface RankLine {
  text: string
  firstRank: number
  /** The offset of the first token in `text`. */
  from: number
}

function readHead(text: string): RankLine {
  const space = text.indexOf(' ', 2)
  return { text, firstRank: Number.parseInt(text.slice(2, space), 10), from: space + 1 }
}

interface TokenList {
  bytes: Uint8Array
  starts: Uint32Array
  lengths: Uint8Array
  used: number
  ranks: number
}

function readTokens({ text, firstRank, from }: RankLine, tokens: TokenList): void {
  const { bytes, starts, lengths } = tokens
  const digits = base64Digits()
  let rank = firstRank
  let start = tokens.used
  let at = start
  let bits = 0
  let held = 0
  for (let i = from; i <= text.length; i++) {
    const code = i === text.length ? SPACE : text.charCodeAt(i)
    if (code === SPACE) {
      starts[rank] = start
      lengths[rank] = at - start
      rank++
      start = at
      bits = 0
    } else if (code !== EQUALS) {
      held = ((held << 6) | (digits[code] as number)) & 0xffff
      bits += 6
      if (bits >= 8) {
        bits -= 8
        bytes[at++] = held >> bits
      }
    }
  }
  tokens.used = at
  tokens.ranks = Math.max(tokens.ranks, rank)
}

const SPACE = 0x20
const EQUALS = 0x3d

function base64Digits(): Uint8Array {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const digits = new Uint8Array(128)
  for (let i = 0; i < alphabet.length; i++) digits[alphabet.charCodeAt(i)] = i
  return digits
}

function indexTokens(pattern: RegExp, tokens: TokenList): RankTable {
  const tokenBytes = tokens.bytes.slice(0, tokens.used)
  const tokenStarts = tokens.starts.slice(0, tokens.ranks)
  const tokenLengths = tokens.lengths.slice(0, tokens.ranks)
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(tokens.ranks * 2)))
  const pairRanks = new Int32Array(0x10000).fill(NO_RANK)
  const mask = slots.length - 1
  let maxTokenBytes = 0
  for (let rank = 0; rank < tokens.ranks; rank++) {
    const length = tokenLengths[rank] as number
    if (length === 0) continue
    const start = tokenStarts[rank] as number
    if (length > maxTokenBytes) maxTokenBytes = length
    if (length === 2)
      pairRanks[((tokenBytes[start] as number) << 8) | (tokenBytes[start + 1] as number)] = rank
    let slot = hashOf(tokenBytes, start, start + length) & mask
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = rank + 1
  }
  return { pattern, maxTokenBytes, pairRanks, tokenBytes, tokenStarts, tokenLengths, slots }
}
