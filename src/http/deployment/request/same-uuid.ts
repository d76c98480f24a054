import { parseUuid } from '../../../base/ids.ts'

/** Converts a uuid that fits its schema to the stored spelling. */
export function sameUuid(id: string): string {
  return parseUuid(id) ?? id
}
