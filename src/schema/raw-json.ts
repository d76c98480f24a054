import { randomUUID } from 'node:crypto'
import { parseExact } from './exact-json.ts'
import type { JsonValue } from './json.ts'

/** Texts of values with more characters are not parsed on the main thread. */
export const LARGE_JSON_CHARS = 1 << 20

/** A value as JSON text, which is stored and passed on without being parsed, since that would block the event loop. */
class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** The value itself, for callers that do not use `toJsonText`. */
  toJSON(): unknown {
    if (taking === undefined) return parseExact(this.text)
    taking.texts.push(this.text)
    return taking.token
  }
}

/** Set while `toJsonText` runs, which is synchronous. */
let taking: { token: string; texts: string[] } | undefined

/**
 * A large value as its JSON text. The value may be stored, sent and put into other values; code that needs its content
 * calls `parsedJson`. Use it only for fields whose content Weir does not inspect: `input` and `command` of runs,
 * values of items and states.
 */
export function rawJson(text: string): JsonValue {
  return new RawJson(text) as unknown as JsonValue
}

/** The value itself; text is parsed now. */
export function parsedJson<T extends JsonValue>(value: T): T {
  return value instanceof RawJson ? (parseExact(value.text) as T) : value
}

/** Length of the JSON text of a RawJson; 0 for other values, which are small. */
export function rawLength(value: JsonValue): number {
  return value instanceof RawJson ? value.text.length : 0
}

/** Like JSON.stringify, with raw values inserted as text. */
export function toJsonText(value: unknown): string {
  const mine = { token: randomUUID(), texts: [] as string[] }
  taking = mine
  let text: string
  try {
    text = JSON.stringify(value)
  } finally {
    taking = undefined
  }
  const { token, texts } = mine
  if (texts.length === 0) return text
  const [first = '', ...others] = text.split(`"${token}"`)
  return first + others.map((part, at) => (texts[at] ?? '') + part).join('')
}
