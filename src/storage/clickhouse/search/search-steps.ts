import type { ListQuery } from '../../../ingest/store/trace-store.ts'
import { searches } from '../../../trace/filter/filter.ts'

/**
 * Number of TraceRuns that the first step of a search reads. The second step reads all others. A common word is found
 * in the first step, without reading all payloads; for a rare word the index makes the second step short.
 */
const FIRST_STEP = 2_000

/** The reads of the store that a step uses. */
export interface SearchSteps {
  /** Reads one page. `count` is its number of TraceRuns. */
  page(query: ListQuery): Promise<{ rows: Buffer; count: number }>
  /** The sort_time of the TraceRun at an offset of the list, without filters. */
  timeAt(query: ListQuery, offset: number): Promise<number | undefined>
}

/** Whether a list reads payloads to find its TraceRuns. */
export function isSearch({ filter }: ListQuery): boolean {
  return filter !== undefined && searches(filter)
}

/** The position of a TraceRun in a list. */
export interface ListPlace {
  sort_time: number
  run_id: string
}

/** The reads of the store that a search by words uses. */
export interface WordSearch extends SearchSteps {
  /** Whether few enough fragments have the words that all of them can be read. */
  isRare(): Promise<boolean>
  /** The first TraceRuns of the list that have the words; `few` is true when the list has few TraceRuns. */
  places(query: ListQuery, few: boolean): Promise<ListPlace[]>
}

/** Number of TraceRuns among which common words are searched first. */
const COMMON_STEP = 20_000
/** Maximum number of TraceRuns whose payloads one statement reads. */
const MAX_BATCH = 2_000

/**
 * A page of a search for words of the index. It is the page that a single statement would return. Payloads are read
 * only for TraceRuns that have the words, and only until the page is full: ids are random, so the payloads of each
 * TraceRun are in a different granule, and reading a granule means reading a megabyte.
 */
export async function searchByWords(query: ListQuery, reads: WordSearch): Promise<Buffer> {
  const found: Buffer[] = []
  let { limit } = query
  const readWithin = async (list: ListQuery, few: boolean): Promise<void> => {
    for (let rest = list, batch = limit; limit > 0; batch = Math.min(2 * batch, MAX_BATCH)) {
      const places = await reads.places({ ...rest, limit: batch }, few)
      if (places.length > 0) {
        const { rows, count } = await reads.page({ ...rest, ...onlyThose(places), limit })
        found.push(rows)
        limit -= count
      }
      if (places.length < batch) return
      rest = { ...rest, after: places.at(-1)! }
    }
  }
  const edge = (await reads.isRare()) ? undefined : await reads.timeAt(query, COMMON_STEP)
  if (edge !== undefined) await readWithin(upTo(query, edge), true)
  await readWithin(edge === undefined ? query : from(query, edge), false)
  return Buffer.concat(found)
}

function onlyThose(places: readonly ListPlace[]): Pick<ListQuery, 'run_ids' | 'start_time' | 'end_time'> {
  const times = places.map(({ sort_time }) => sort_time)
  return {
    run_ids: places.map(({ run_id }) => run_id),
    start_time: Math.min(...times),
    end_time: Math.max(...times) + 1,
  }
}

/** A page of a search, found in steps in the order of the list. The page is the same as that of a single step. */
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

/**
 * The part of the list before the edge, which is a start time. Order newest first: TraceRuns that start at the edge or
 * later; oldest first: TraceRuns that start before the edge.
 */
function upTo(query: ListQuery, edge: number): ListQuery {
  return { ...query, ...(query.order === 'desc' ? { start_time: edge } : { end_time: edge }) }
}

/** The rest of the list, after the part that `upTo` returns. */
function from(query: ListQuery, edge: number): ListQuery {
  return { ...query, ...(query.order === 'desc' ? { end_time: edge } : { start_time: edge }) }
}
