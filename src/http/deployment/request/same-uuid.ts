import { parseUuid } from '../../../base/ids.ts'

/** A uuid that has passed its schema, in the spelling in which it is stored. */
export function sameUuid(id: string): string {
  return parseUuid(id) ?? id
}
