type Sortable = string | number | null

function compare(a: Sortable, b: Sortable): number {
  if (a === b) return 0
  // Null comes before every other value.
  if (a === null || b === null) return a === null ? -1 : 1
  return a < b ? -1 : 1
}

/**
 * Sorts all records of a list and returns one page. SQL cannot sort them, because engines order text differently. Ties
 * are ordered by `id`.
 */
export function pageOf<Field extends string, T extends Record<Field, Sortable>>(
  records: readonly T[],
  page: { sort_by: Field; sort_order: 'asc' | 'desc'; limit: number; offset: number },
  id: Field,
): T[] {
  const { sort_by, sort_order, limit, offset } = page
  const sign = sort_order === 'asc' ? 1 : -1
  return records
    .toSorted((a, b) => sign * (compare(a[sort_by], b[sort_by]) || compare(a[id], b[id])))
    .slice(offset, offset + limit)
}
