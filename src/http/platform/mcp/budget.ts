import { isExactInteger } from '../../../schema/exact-json.ts'
import type { JsonValue } from '../../../schema/json.ts'
import { createTextCounter } from '../../../trace/tokens/bpe/count.ts'

/** Counts the tokens of a text in o200k_base. */
export type CountTokens = (text: string) => number

export const DEFAULT_TOKENS = 4000
export const MAX_TOKENS = 20_000

/** The specification of the argument `max_tokens`. */
export const TOKENS_ARGUMENT = {
  type: 'integer',
  description: 'Budget of the answer.',
  minimum: 200,
  maximum: MAX_TOKENS,
  otherwise: DEFAULT_TOKENS,
} as const

/** A counter that reads its table when it is first used. */
export function createTokenCounter(): CountTokens {
  const count = createTextCounter()
  return (text) => count(text, 'o200k_base').tokens
}

/** The text up to `length` characters, followed by how many are left out. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text
  const end = isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length
  return `${text.slice(0, end)}… (+${text.length - end} chars)`
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}

/** Limits of one rendering of a value: the longest text, and the longest list. */
interface Cut {
  chars: number
  items: number
}

/** From roomy to tight. The last one fits any budget for values of few keys. */
const CUTS: readonly Cut[] = [
  { chars: Number.POSITIVE_INFINITY, items: Number.POSITIVE_INFINITY },
  { chars: 4000, items: 200 },
  { chars: 1000, items: 100 },
  { chars: 400, items: 50 },
  { chars: 200, items: 20 },
  { chars: 100, items: 10 },
  { chars: 40, items: 5 },
  { chars: 20, items: 2 },
]
const MAX_DEPTH = 60

/**
 * The value as indented JSON within a budget. Long texts and lists are cut; a mark with the length and the JSON Pointer
 * says where the rest is. `at` is the pointer of the value itself; of a list, the items from `offset` on are shown.
 */
export function fitJson(
  value: JsonValue,
  { at, offset = 0 }: { at: string; offset?: number },
  max_tokens: number,
  count: CountTokens,
): string {
  for (const cut of CUTS) {
    const shown = Array.isArray(value)
      ? cutList(value, { at, offset, cut, depth: 0 })
      : cutValue(value, at, cut, 0)
    const text = JSON.stringify(shown, null, 1)
    // Counting is slow: what has more than 16 characters a token is cut without it.
    if (text.length <= max_tokens * 16 && count(text) <= max_tokens) return text
  }
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : []
  return cutText(`Too large for ${max_tokens} tokens. Read parts by path: ${keys.join(', ')}`, max_tokens * 2)
}

function cutValue(value: JsonValue, at: string, cut: Cut, depth: number): JsonValue {
  if (typeof value === 'string') {
    if (value.length <= cut.chars) return value
    return `${cutText(value, cut.chars)} at ${at || '/'}`
  }
  if (typeof value !== 'object' || value === null || isExactInteger(value)) return value
  if (depth > MAX_DEPTH) return `… deeper at ${at}`
  if (Array.isArray(value)) return cutList(value, { at, offset: 0, cut, depth })
  const entries = Object.entries(value)
  const shown = entries.slice(0, cut.items * 4)
  const object = Object.fromEntries(
    shown.map(([key, part]) => [
      key,
      part === undefined ? null : cutValue(part, `${at}/${escapeKey(key)}`, cut, depth + 1),
    ]),
  )
  const left = entries.length - shown.length
  return left === 0 ? object : { ...object, '…': `+${left} keys at ${at || '/'}` }
}

function cutList(
  list: readonly JsonValue[],
  { at, offset, cut, depth }: { at: string; offset: number; cut: Cut; depth: number },
): JsonValue[] {
  const end = Math.min(list.length, offset + cut.items)
  const shown = list
    .slice(offset, end)
    .map((item, i) => cutValue(item, `${at}/${offset + i}`, cut, depth + 1))
  return end >= list.length ? shown : [...shown, `… (+${list.length - end} items, from ${at}/${end})`]
}

/** A key as a token of a JSON Pointer. */
export function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The value at a JSON Pointer; undefined if there is none. */
export function atPointer(value: JsonValue, pointer: string): JsonValue | undefined {
  let at: JsonValue | undefined = value
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = Array.isArray(at) ? at[Number(key)] : at[key]
  }
  return at
}

/** The lines within a budget; a last line says how many are left out. */
export function fitAnswer(lines: readonly string[], max_tokens: number, count: CountTokens): string {
  const { text, shown } = fitLines(lines, max_tokens - 20, count)
  const left = lines.length - shown
  return left === 0 ? text : `${text}\n… (+${left} lines; a larger max_tokens shows more)`
}

/** Room for the rest of an answer whose items are bounded. */
const FRAME_TOKENS = 100

/** The first items of an answer of JSON whose texts are within the usual budget. */
export function fitItems<T>(items: readonly T[], count: CountTokens): T[] {
  let tokens = FRAME_TOKENS
  const end = items.findIndex((item) => (tokens += count(JSON.stringify(item)) + 1) > DEFAULT_TOKENS)
  return end === -1 ? [...items] : items.slice(0, end)
}

/** Lines until the budget is used up, and how many these are. */
export function fitLines(
  lines: Iterable<string>,
  max_tokens: number,
  count: CountTokens,
): { text: string; shown: number } {
  const kept: string[] = []
  let tokens = 0
  for (const line of lines) {
    tokens += count(line) + 1
    if (tokens > max_tokens) return { text: kept.join('\n'), shown: kept.length }
    kept.push(line)
  }
  return { text: kept.join('\n'), shown: kept.length }
}
