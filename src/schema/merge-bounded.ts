import { AppError } from '../base/errors.ts'
import type { JsonObject } from './json.ts'

/** Maximum size of what is merged from many requests, as JSON. */
export const MAX_MERGED_BYTES = 1 << 20

/**
 * `merged`, which many requests together must not make larger than one may be; it may be made smaller whatever it is.
 * `what` names it, with its owner. @throws AppError metadata_too_large
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
