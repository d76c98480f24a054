import { AppError } from '../base/errors.ts'
import type { JsonObject } from './json.ts'

/** Maximum size of an object that many requests add to, as JSON. */
export const MAX_MERGED_BYTES = 1 << 20

/**
 * Returns `merged`, the object `before` after the changes of a request. An object above the limit is refused if
 * it has grown. `what` names the object and its owner, for the message. @throws AppError metadata_too_large
 */
export function bounded(before: JsonObject, merged: JsonObject, what: string): JsonObject {
  const bytes = bytesOf(merged)
  if (bytes <= MAX_MERGED_BYTES || bytes <= bytesOf(before)) return merged
  const message = `The ${what} would have ${bytes} bytes of JSON, and may have ${MAX_MERGED_BYTES}.`
  throw new AppError('metadata_too_large', { message })
}

function bytesOf(value: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(value))
}
