import { AppError } from '../../../base/errors.ts'
import { parseUuid } from '../../../base/ids.ts'
import { parseTime } from '../../../trace/derive/time.ts'
import { bodyFault } from '../../body/json.ts'

/**
 * Reads a field with an ISO 8601 time as epoch microseconds; undefined if it is absent.
 * @throws AppError invalid_request
 */
export function bodyTime<B extends object>(body: B, name: keyof B & string): number | undefined {
  const value = body[name] ?? undefined
  const time = parseTime(value)
  if (value !== undefined && time === undefined) {
    throw bodyFault([{ code: 'bad_format', path: name, message: 'must be an ISO 8601 time' }])
  }
  return time
}

/** Converts ids to the same spelling. */
export function uuidsOf(values: readonly string[] | null | undefined): string[] | undefined {
  return values?.flatMap((value) => parseUuid(value) ?? [])
}

/** The same object without undefined and null fields. */
export function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined | null> } {
  const sent = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(sent) as { [K in keyof T]?: Exclude<T[K], undefined | null> }
}

/** @throws AppError not_found that names the missing record */
export function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new AppError('not_found', { message: `${what} not found` })
  return value
}
