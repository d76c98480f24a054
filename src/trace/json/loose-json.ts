import type { JsonValue } from '../../schema/json.ts'
import { parseJson } from './json-text.ts'

/** Bytes read as JSON; bytes that are not JSON are kept as text. */
export interface LooseJson {
  value: JsonValue
  /** Whether the bytes are JSON; otherwise `value` is their text. */
  ok: boolean
  /** Whether bare NaN or Infinity, from Python's fallback serialiser, were read as null. */
  repaired: boolean
}

/**
 * Parses JSON in the forms that clients send: bare NaN and Infinity become null, and text that is not JSON (`[unable to
 * serialize, …]`) is kept as a string. Never throws.
 */
export function parseLooseJson(bytes: Uint8Array): LooseJson {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  const parsed = parseJson(text)
  if (parsed === undefined) return { value: text, ok: false, repaired: false }
  return { value: parsed.value, ok: true, repaired: parsed.text !== text && !text.endsWith(parsed.text) }
}

/** Maximum length of a text that counts as empty. */
export const LONGEST_EMPTY_JSON = 16

/**
 * Whether a value is `{}`, `[]`, `null` or `""`, with or without white space; such a value must not override another
 * one.
 */
export function isEmptyJson(bytes: Uint8Array): boolean {
  if (bytes.length > LONGEST_EMPTY_JSON) return false
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('latin1')
    .replace(/\s+/g, '')
  return text === '' || text === '{}' || text === '[]' || text === 'null' || text === '""'
}
