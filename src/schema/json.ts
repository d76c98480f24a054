export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject

/** A JSON object; absent keys read as `undefined`. */
export interface JsonObject {
  [key: string]: JsonValue | undefined
}

/** True for objects, false for arrays, null and scalars. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value if it is a non-empty string, else undefined. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** An id of a user's own: text, or an integer as text. */
export function idText(value: unknown): string | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : text(value)
}

/** Text without the white space around it; undefined if nothing else is in it. */
export function word(value: unknown): string | undefined {
  return text(value)?.trim() || undefined
}

/** The value of JSON text; undefined for any other text. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
