import { createHash } from 'node:crypto'
import { AppError } from '../errors.ts'
import { parseUuid } from '../ids.ts'

/** Characters of the digest that binds a cursor to its request. */
const DIGEST_LENGTH = 12

/**
 * Writes the end of a page as an opaque string that is valid only with the same `request`, which is the client's query
 * without cursor and page size. `parts` are the values that the next page needs: texts, safe integers or null.
 */
export function writePageCursor(request: unknown, parts: readonly CursorPart[]): string {
  return Buffer.from(JSON.stringify([digestOf(request), ...parts])).toString('base64url')
}

export type CursorPart = string | number | null

/**
 * Reads the parts of a cursor of `writePageCursor`; the function at the same place in `is` checks each part. @throws
 * AppError invalid_request for an invalid cursor, or one of another request
 */
export function readPageCursor<const T extends readonly PartCheck<CursorPart>[]>(
  cursor: string,
  request: unknown,
  is: T,
): { -readonly [K in keyof T]: T[K] extends PartCheck<infer P> ? P : never } {
  const [digest, ...parts] = partsOf(cursor)
  const fits = parts.length === is.length && is.every((check, i) => check(parts[i]))
  if (!fits) throw invalidCursor()
  if (digest !== digestOf(request)) {
    const message =
      'The cursor belongs to a request with other parameters; repeat the request and add only the cursor.'
    throw new AppError('invalid_request', { message })
  }
  return parts as { -readonly [K in keyof T]: T[K] extends PartCheck<infer P> ? P : never }
}

/** Whether a value is valid at its place in a cursor. */
export type PartCheck<P extends CursorPart> = (part: unknown) => part is P

/** A whole number, such as a time in microseconds. */
export const isWhole: PartCheck<number> = (part): part is number => Number.isSafeInteger(part)
/** A uuid in lower case with dashes. */
export const isUuid: PartCheck<string> = (part): part is string => parseUuid(part) === part

/** The error for a text that is not a cursor of the endpoint. */
export function invalidCursor(): AppError {
  const message = 'The cursor cannot be read: send the one of an earlier response unchanged.'
  return new AppError('invalid_request', { message })
}

function partsOf(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    if (Array.isArray(parts)) return parts
  } catch {
    // The text is not a cursor of Weir; the error is thrown below.
  }
  return []
}

function digestOf(request: unknown): string {
  return createHash('sha256').update(canonical(request)).digest('base64url').slice(0, DIGEST_LENGTH)
}

/** A text that is equal for equal values, in any order of keys; undefined counts as absent. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )
}
