import { parseUuid } from '../base/ids.ts'
import { invalidCursor } from '../base/text/page-cursor.ts'

/** The end of a page, as an opaque string for the caller. */
export function writeCursor(parts: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/** The parts of a cursor that `writeCursor` made. @throws AppError invalid_request for anything else */
export function readCursor(cursor: string): (string | number)[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    if (Array.isArray(parts) && parts.every(isPart)) return parts
  } catch {
    // The text is not a cursor of Weir; the error is thrown below.
  }
  throw invalidCursor()
}

function isPart(part: unknown): part is string | number {
  return (
    Number.isSafeInteger(part) ||
    (typeof part === 'string' && (part.includes('Z') || parseUuid(part) !== undefined))
  )
}
