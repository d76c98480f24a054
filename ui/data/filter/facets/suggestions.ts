import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '../../../api/call.ts'
import { type AskedFacet, facetOf } from './facet-text.ts'
import { joinFilter, searchFor, type Suggestion } from '../filter.ts'
import type { RunQuery } from '../../run-pages.ts'

const MOST = 12

/**
 * The values that complete a typed text which names a field, the most frequent first. Undefined for other texts. The
 * values are those of the runs that the query and the clauses select.
 */
export function useFacets(
  typed: string,
  query: Omit<RunQuery, 'filter' | 'sort'>,
  clauses: readonly string[],
): Suggestion[] | undefined {
  const asked = facetOf(typed)
  const body = asked && bodyOf(asked, query, joinFilter(clauses))
  const { data } = useQuery({
    queryKey: ['facets', asked?.field, asked?.key, body] as const,
    queryFn: ({ signal }) =>
      body === undefined ? undefined : call('POST /api/v1/runs/facets', { body, signal }),
    enabled: body !== undefined,
    // Until the values for a changed text are loaded, the values for the earlier text of the same field are shown.
    placeholderData: (before, of) =>
      of?.queryKey[1] === asked?.field && of?.queryKey[2] === asked?.key
        ? keepPreviousData(before)
        : undefined,
  })
  if (asked === undefined) return undefined
  const atLeast = data?.is_whole === false ? '≥ ' : ''
  const found = (data?.values ?? [])
    .filter(({ value }) => asked.field !== 'metadata_key' || !value.includes(':'))
    .map(({ value, count }) => ({ clause: asked.clauseOf(value), hint: `${atLeast}${count}` }))
  return [...found, ...asTyped(asked, typed, found)]
}

function bodyOf(
  { field, key, prefix }: AskedFacet,
  { project, isRoot, since, until }: Omit<RunQuery, 'filter' | 'sort'>,
  filter: string,
) {
  return {
    field,
    prefix,
    limit: MOST,
    session: [project],
    ...(key !== undefined && { key }),
    ...(filter !== '' && { filter }),
    ...(isRoot && { is_root: true }),
    ...(since !== '' && { start_time: since }),
    ...(until !== '' && { end_time: until }),
  }
}

/** A clause for the typed value if it is not among the found ones, and a search for the whole text. */
function asTyped(
  { field, prefix, clauseOf }: AskedFacet,
  typed: string,
  found: readonly Suggestion[],
): Suggestion[] {
  if (prefix === '') return []
  const search = searchFor(typed.trim())
  const clause = clauseOf(prefix)
  const isKnown = field === 'metadata_key' || found.some((one) => one.clause === clause)
  return isKnown ? [search] : [{ clause, hint: 'as typed' }, search]
}
