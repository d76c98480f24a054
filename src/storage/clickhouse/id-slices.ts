import { chunksOf } from '../../base/chunks.ts'

/**
 * Maximum number of ids in one statement. An id takes 39 bytes, so this number fits into one field of a form
 * (MAX_FIELD_BYTES).
 */
const IDS_PER_QUERY = 3_000

/** Splits the ids into lists that are short enough for one statement. */
export function idSlices(ids: readonly string[]): (readonly string[])[] {
  return chunksOf(ids, IDS_PER_QUERY)
}
