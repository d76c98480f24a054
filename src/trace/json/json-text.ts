import type { JsonValue } from '../../schema/json.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const BYTE_ORDER_MARK = 0xfeff
/** Maximum depth. JSON.parse has no limit, but JSON.stringify and clients have one. */
const MAX_DEPTH = 2000

/** A parsed JSON text. `text` is the given text, or the corrected one when it is `repaired`. */
export interface ParsedJson {
  value: JsonValue
  text: string
  repaired: boolean
}

/**
 * Parses JSON; if that fails, tries once more with the bare tokens NaN and Infinity as null (Python's json module
 * writes them). A byte order mark is skipped. Undefined if the text is still not JSON, or nested more than 2,000 deep.
 */
export function parseJson(text: string): ParsedJson | undefined {
  const plain = text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
  const value = tryParse(plain)
  if (isTooDeep(plain, value)) return undefined
  if (value !== undefined) return { value, text: plain, repaired: plain !== text }
  const finite = withoutBareNumbers(plain)
  if (finite === plain) return undefined
  const second = tryParse(finite)
  if (second === undefined || isTooDeep(finite, second)) return undefined
  return { value: second, text: finite, repaired: true }
}

/** Whether the value of `text` is nested too deep; cheap for short texts. */
export function isTooDeep(text: string, value: JsonValue | undefined): boolean {
  return text.length > 2 * MAX_DEPTH && isDeeper(value, MAX_DEPTH)
}

function isDeeper(value: JsonValue | undefined, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) return value.some((item) => isDeeper(item, levels - 1))
  for (const name in value) if (isDeeper(value[name], levels - 1)) return true
  return false
}

function tryParse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

/**
 * Replaces the bare tokens NaN, Infinity and -Infinity outside of strings by null; Python's json module writes them.
 * Returns the same text if there are none.
 */
function withoutBareNumbers(text: string): string {
  let out = ''
  let copied = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) {
      at = endOfText(text, at)
      continue
    }
    const token = char === 0x4e ? 'NaN' : char === 0x49 ? 'Infinity' : undefined
    if (token === undefined || !text.startsWith(token, at)) continue
    const from = text.charCodeAt(at - 1) === 0x2d ? at - 1 : at
    out += `${text.slice(copied, from)}null`
    at += token.length - 1
    copied = at + 1
  }
  return copied === 0 ? text : out + text.slice(copied)
}

/** Position of the closing quote of the string that begins at `from`; the end of the text if there is none. */
function endOfText(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === BACKSLASH) at++
    else if (char === QUOTE) return at
  }
  return text.length
}
