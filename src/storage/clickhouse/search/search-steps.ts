import type { ListQuery } from '../../../ingest/store/trace-store.ts'
import { searches } from '../../../trace/filter/filter.ts'

/**
 * TraceRuns that the first step of a search looks at; the second looks at all others. A common word is found among the
 * first, without reading the payloads of all; for a rare one the index makes the second short.
 */
const FIRST_STEP = 2_000

/** What a step needs of the store. */
export interface SearchSteps {
  /** One page, and its number of TraceRuns. */
  page(query: ListQuery): Promise<{ rows: Buffer; count: number }>
  /** The sort_time of the TraceRun that has `offset` others before it, without regard to filters. */
  timeAt(query: ListQuery, offset: number): Promise<number | undefined>
}

/** True for a list that reads payloads to find its TraceRuns. */
export function isSearch({ filter }: ListQuery): boolean {
  return filter !== undefined && searches(filter)
}

/** A page of a search, found step by step in the order of the list; it is the same page that one step would find. */
export async function searchInSteps(query: ListQuery, { page, timeAt }: SearchSteps): Promise<Buffer> {
  const found: Buffer[] = []
  let { limit } = query
  let rest = query
  for (const size of [FIRST_STEP, undefined]) {
    const edge = size === undefined ? undefined : await timeAt(rest, size)
    const { rows, count } = await page({ ...(edge === undefined ? rest : upTo(rest, edge)), limit })
    found.push(rows)
    limit -= count
    if (edge === undefined || limit <= 0) break
    rest = from(rest, edge)
  }
  return Buffer.concat(found)
}

/** The TraceRuns in front of the edge: newest first those that start at it or later, else those before it. */
function upTo(query: ListQuery, edge: number): ListQuery {
  return { ...query, ...(query.order === 'desc' ? { start_time: edge } : { end_time: edge }) }
}

function from(query: ListQuery, edge: number): ListQuery {
  return { ...query, ...(query.order === 'desc' ? { end_time: edge } : { start_time: edge }) }
}
