import type { JsonObject } from '../../../schema/json.ts'

/** Whether the client sent a field; null counts as absent. */
export function isGiven<T>(value: T): value is NonNullable<T> {
  return value !== undefined && value !== null
}

/** A checked body without the keys that are null. */
export function withoutNulls(body: object): JsonObject {
  const given: [string, JsonObject[string]][] = Object.entries(body).filter(([, value]) => value !== null)
  return Object.fromEntries(given)
}
