import { parseUuid } from '../../base/ids.ts'

/** A uuid that has passed its schema, spelled as it is stored. */
export function sameUuid(id: string): string {
  return parseUuid(id) ?? id
}
