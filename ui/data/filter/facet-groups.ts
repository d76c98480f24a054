import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import type { RunQuery } from '../run-pages.ts'
import { listBody } from '../runs.ts'
import { clauseParts, joinFilter, quoted, splitFilter } from './filter.ts'

/** A field whose values stand beside a list, with their counts. */
export interface FacetGroup {
  field: 'status' | 'name' | 'model' | 'run_type' | 'tag' | 'issue' | 'metadata_value'
  /** Key of the metadata. */
  key?: string
  title: string
}

/** Values that are shown of a field at first. */
const MOST_VALUES = 8

/** The clause that a value of a field stands for. */
export function facetClause({ field, key }: FacetGroup, value: string): string {
  if (field === 'tag') return `has(tags, ${quoted(value)})`
  if (field === 'metadata_value') return `has(metadata, ${quoted(JSON.stringify({ [key ?? '']: value }))})`
  return `eq(${field}, ${quoted(value)})`
}

/** Whether a clause selects one value of the field. */
function isOf({ field, key }: FacetGroup, clause: string): boolean {
  const { operator, first, value } = clauseParts(clause)
  if (field === 'tag') return operator === 'has' && first === 'tags'
  if (field === 'metadata_value') {
    const start = `${JSON.stringify({ [key ?? '']: '' }).slice(0, -2)}`
    return operator === 'has' && first === 'metadata' && value.startsWith(start)
  }
  return operator === 'eq' && first === field
}

/** The filter with a value chosen instead of another one of its field, or without it if it was chosen. */
export function withFacet(filter: string, group: FacetGroup, value: string): string {
  const clause = facetClause(group, value)
  const clauses = splitFilter(filter)
  const others = clauses.filter((one) => !isOf(group, one))
  return joinFilter(clauses.includes(clause) ? others : [...others, clause])
}

/** The value of the field that a filter has chosen. */
export function chosenFacet(
  filter: string,
  group: FacetGroup,
  values: readonly string[],
): string | undefined {
  const clauses = splitFilter(filter)
  return values.find((value) => clauses.includes(facetClause(group, value)))
}

/**
 * The values of a field, the most frequent first, among the runs that the other clauses of the filter select: so a
 * chosen value can be changed for another one.
 */
export function useFacetValues(query: RunQuery, group: FacetGroup) {
  const others = splitFilter(query.filter).filter((clause) => !isOf(group, clause))
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
