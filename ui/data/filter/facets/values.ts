import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '../../../api/call.ts'
import type { RunQuery } from '../../run-pages.ts'
import { listBody } from '../../runs.ts'
import { type FacetGroup, isOfFacet } from './groups.ts'
import { joinFilter, splitFilter } from '../filter.ts'

/** Values that are shown of a field at first. */
const MOST_VALUES = 8

/**
 * The values of a field, the most frequent first, among the runs that the other clauses of the filter select: so a
 * chosen value can be changed for another one.
 */
export function useFacetValues(query: RunQuery, group: FacetGroup) {
  const others = splitFilter(query.filter).filter((clause) => !isOfFacet(group, clause))
  const { order_by: _by, order: _order, ...list } = listBody({ ...query, filter: joinFilter(others) })
  const { field, key } = group
  const body = { ...list, field, limit: MOST_VALUES, ...(key !== undefined && { key }) }
  return useQuery({
    queryKey: ['facet-values', body],
    queryFn: ({ signal }) => call('POST /api/v1/runs/facets', { body, signal }),
    placeholderData: keepPreviousData,
  })
}

/** The keys of the metadata of a list, the most frequent first. */
export function useMetadataKeys(query: RunQuery) {
  const { order_by: _by, order: _order, filter: _filter, ...list } = listBody(query)
  const body = { ...list, field: 'metadata_key' as const, limit: 12 }
  return useQuery({
    queryKey: ['facet-keys', body],
    queryFn: ({ signal }) => call('POST /api/v1/runs/facets', { body, signal }),
    placeholderData: keepPreviousData,
  })
}
