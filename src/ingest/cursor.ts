import { AppError } from '../base/errors.ts'
import { parseUuid } from '../base/ids.ts'

/** Where a page ended, as an opaque string for the caller. */
export function writeCursor(parts: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/**
 * The parts that `writeCursor` was given.
 * @throws AppError invalid_request for anything else
 */
export function readCursor(cursor: string): (string | number)[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    if (Array.isArray(parts) && parts.every(isPart)) return parts
  } catch {
    // not one of ours: said below
  }
  throw new AppError('invalid_request', {
    message: 'The cursor cannot be read; take it from an earlier answer as it is.',
  })
}

function isPart(part: unknown): part is string | number {
  return (
    Number.isSafeInteger(part) ||
    (typeof part === 'string' && (part.includes('Z') || parseUuid(part) !== undefined))
  )
}
