import type { QueryClient, QueryFilters } from '@tanstack/react-query'

/**
 * Reads queries again after a change. A repeated read that is under way may have missed the change, so another one
 * follows it. It is not cancelled, because it may be the read of a next page.
 */
export async function readAfterChange(queries: QueryClient, filters: QueryFilters): Promise<void> {
  const read = (): Promise<void> => queries.invalidateQueries(filters, { cancelRefetch: false })
  const underWay = queries.getQueryCache().findAll({ ...filters, fetchStatus: 'fetching' })
  const mayMiss = underWay.some(({ state }) => state.data !== undefined)
  await read()
  if (mayMiss) await read()
}
