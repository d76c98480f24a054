/**
 * Maximum number of ids in one parameter. An id takes 41 bytes. A parameter may have 256 KB (max_query_size), and the
 * URL 1 MB in total.
 */
const IDS_PER_QUERY = 4_000

/** Splits the ids into lists that are short enough for a parameter of one query. */
export function idSlices(ids: readonly string[]): (readonly string[])[] {
  const count = Math.ceil(ids.length / IDS_PER_QUERY)
  return Array.from({ length: count }, (_, i) => ids.slice(i * IDS_PER_QUERY, (i + 1) * IDS_PER_QUERY))
}
