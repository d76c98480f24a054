/**
 * Token counting: speed against js-tiktoken on the same texts, the worst inputs, and the cost of loading.
 * Run with `node bench/tokens.bench.ts`; CPU time, one core.
 */
import { createRequire } from 'node:module'
import { Tiktoken, type TiktokenBPE } from 'js-tiktoken/lite'
import { loadRanks, rankFileOf } from '../src/trace/tokens/bpe/ranks.ts'
import { withoutMedia } from '../src/trace/messages/media.ts'
import { createTokenizer, type Encoding } from '../src/trace/tokens/tokenizer.ts'

const MEBI = 1 << 20
const require = createRequire(import.meta.url)

function cpuMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** A linear congruential generator, so that every run reads the same texts. */
function createRandom(): (below: number) => number {
  let seed = 1
  return (below) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
}

function textOf(length: number, part: () => string): string {
  const parts: string[] = []
  for (let size = 0; size < length; ) {
    const next = part()
    parts.push(next)
    size += next.length
  }
  return parts.join('').slice(0, length)
}

const random = createRandom()
const WORDS =
  'the of and to in is that for with model answer question weather table tomorrow please could would about because'
const CJK = '今天天气很好我们去公园散步吧请问您想预订什么时候的位置需要多少人'
const words = WORDS.split(' ')
const word = () => words[random(words.length)] ?? ''

const TEXTS: Record<string, string> = {
  english: textOf(MEBI, () => `${word()}${random(12) === 0 ? '.\n' : ' '}`),
  code: textOf(
    MEBI,
    () => `  const ${word()}${random(99)} = await ${word()}.${word()}({ ${word()}: '${word()}' })\n`,
  ),
  'chat JSON': textOf(
    MEBI,
    () => `{"role":"user","content":"${word()} ${word()} ${random(1e6)}","id":"${word()}"},`,
  ),
  chinese: textOf(MEBI, () => (random(15) === 0 ? '，' : (CJK[random(CJK.length)] ?? ''))),
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const letter = () => String.fromCharCode(0x61 + random(26))
const cjk = () => String.fromCharCode(0x4e00 + random(0x51a5))
const WORST: Record<string, string> = {
  a: 'a'.repeat(MEBI),
  spaces: ' '.repeat(MEBI),
  newlines: '\n'.repeat(MEBI),
  'random letters': textOf(MEBI, letter),
  'random CJK': textOf(MEBI, cjk),
  emoji: textOf(MEBI, () => String.fromCodePoint(0x1f600 + random(80))),
  'any UTF-16': textOf(MEBI, () => String.fromCharCode(random(0x10000))),
  digits: textOf(MEBI, () => String(random(10))),
  base64: textOf(MEBI, () => BASE64[random(64)] ?? ''),
  // Each of these has the longest pieces that the tokenizer merges as a whole.
  'a, 64 Ki each': textOf(MEBI, () => `${'a'.repeat(65_535)} `),
  'newlines, 64 Ki each': textOf(MEBI, () => `${'\n'.repeat(65_536)}x`),
  'CJK, 64 Ki each': textOf(MEBI, () => `${textOf(65_000, cjk)} `),
}

function compare(encoding: Encoding): void {
  const reference = new Tiktoken(require(`js-tiktoken/ranks/${encoding}`) as TiktokenBPE)
  const tokenizer = createTokenizer({ cacheEntries: 0, maxChars: 2 * MEBI })
  tokenizer.count('warm', encoding)
  for (const [name, text] of Object.entries(TEXTS)) {
    const bytes = Buffer.byteLength(text)
    let ours = 0
    let theirs = 0
    const mine = cpuMs(() => (ours = tokenizer.count(text, encoding).tokens))
    const other = cpuMs(() => (theirs = reference.encode(text, [], []).length))
    const rate = (ms: number) => (bytes / 1000 / ms).toFixed(1)
    const same = ours === theirs ? 'same count' : `COUNTS DIFFER: ${ours}, ${theirs}`
    console.log(`${encoding}  ${name}: ${rate(mine)} MB/s, js-tiktoken ${rate(other)} MB/s, ${same}`)
  }
}

function worstCases(encoding: Encoding): void {
  for (const [name, text] of Object.entries(WORST)) {
    const tokenizer = createTokenizer({ cacheEntries: 0 })
    tokenizer.count('warm', encoding)
    let told = ''
    const ms = cpuMs(() => {
      const { text: kept, removed } = withoutMedia(text)
      const { tokens, sampled } = tokenizer.count(kept, encoding)
      told = `${tokens} tokens${sampled ? ', sampled' : ''}${removed > 0 ? `, ${removed} left out as media` : ''}`
    })
    console.log(`${encoding}  1 Mi of ${name}: ${ms.toFixed(0)} ms CPU, ${told}`)
  }
}

for (const encoding of ['o200k_base', 'cl100k_base'] as const) {
  const before = process.memoryUsage()
  const ms = cpuMs(() => loadRanks(rankFileOf(encoding)))
  const after = process.memoryUsage()
  const grown = (after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / 1e6
  console.log(`${encoding}  load: ${ms.toFixed(0)} ms CPU, ${grown.toFixed(1)} MB`)
}
for (const encoding of ['o200k_base', 'cl100k_base'] as const) {
  compare(encoding)
  worstCases(encoding)
}
