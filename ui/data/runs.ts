import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
  useInfiniteQuery,
  usePrefetchInfiniteQuery,
} from '@tanstack/react-query'
import { call, type Reply, send } from '../api/call.ts'
import { type ListedRun, type RunPage, type RunPages, type RunQuery, runsOf } from './run-pages.ts'

export type ReadRun = Reply<'GET /api/v1/runs/{id}'>

const PAGE_SIZE = 100

/** The body of a request for the runs of a list, or for their figures. */
export function listBody({ project, filter, isRoot, since, until, sort }: RunQuery) {
  return {
    session: [project],
    ...(filter !== '' && { filter }),
    ...(isRoot && { is_root: true }),
    ...(since !== '' && { start_time: since }),
    ...(until !== '' && { end_time: until }),
    ...(sort !== undefined && { order_by: sort.by, order: sort.order }),
  }
}

function keyOf(query: RunQuery) {
  return ['runs', query] as const
}

function listOptions(query: RunQuery) {
  return infiniteQueryOptions({
    queryKey: keyOf(query),
    queryFn: ({ pageParam, signal }) =>
      call('POST /api/v1/runs/query', {
        body: { ...listBody(query), limit: PAGE_SIZE, ...(pageParam !== '' && { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: ({ cursors }) => cursors.next ?? undefined,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    // A sorted list has no live updates.
    refetchOnMount: query.sort === undefined || 'always',
    refetchOnWindowFocus: false,
  })
}

/** Runs of a project in their order, page after page. */
export function useRuns(query: RunQuery) {
  return useInfiniteQuery(listOptions(query))
}

/** Starts to read a list before its page is drawn; `useRuns` reads it only after the first drawing. */
export function useEarlyRuns(query: RunQuery): void {
  usePrefetchInfiniteQuery(listOptions(query))
}

/** The newest runs of a list, and the runs of `changed` that are further down in it. */
export async function readNewest(
  query: RunQuery,
  changed: readonly string[],
  signal: AbortSignal,
): Promise<{ page: RunPage; others: readonly ListedRun[] }> {
  const page = await call('POST /api/v1/runs/query', {
    body: { ...listBody(query), limit: PAGE_SIZE },
    signal,
  })
  const there = new Set(page.runs.map(({ id }) => id))
  const id = changed.filter((one) => !there.has(one)).slice(0, PAGE_SIZE)
  if (id.length === 0) return { page, others: [] }
  const body = { session: [query.project], id, limit: PAGE_SIZE }
  return { page, others: (await call('POST /api/v1/runs/query', { body, signal })).runs }
}

/** The runs of a list that were read last for the same filter and order; ranges of time move on, and do not count. */
export function listedRuns(queries: QueryClient, wanted: RunQuery): ListedRun[] {
  const same = ({ project, filter, isRoot, sort }: RunQuery): string =>
    JSON.stringify([project, filter, isRoot, sort])
  const [newest] = queries
    .getQueryCache()
    .findAll({ queryKey: ['runs'] })
    .filter(
      ({ queryKey, state }) => state.data !== undefined && same(queryKey[1] as RunQuery) === same(wanted),
    )
    .toSorted((a, b) => b.state.dataUpdatedAt - a.state.dataUpdatedAt)
  return runsOf(newest?.state.data as RunPages | undefined)
}

/** The runs of a list next to a time, nearest first. */
export async function runsBeside(
  query: RunQuery,
  time: string,
  step: 'older' | 'newer',
): Promise<readonly ListedRun[]> {
  const { sort: _sort, ...list } = query
  const beside = step === 'older' ? { end_time: time, order: 'desc' } : { start_time: time, order: 'asc' }
  const body = { ...listBody(list), ...beside, select: ['id', 'trace_id'], limit: PAGE_SIZE }
  return (await call('POST /api/v1/runs/query', { body: body as typeof body & { order: 'asc' | 'desc' } }))
    .runs
}

export function cachedPages(queries: QueryClient, query: RunQuery): RunPages | undefined {
  return queries.getQueryData<RunPages>(keyOf(query))
}

/** Waits for the read of a list that has no page in the cache yet. */
export async function firstRead(queries: QueryClient, query: RunQuery): Promise<void> {
  if (cachedPages(queries, query) !== undefined) return
  await queries
    .getQueryCache()
    .find({ queryKey: keyOf(query) })
    ?.promise?.catch(() => undefined)
}

/** Changes the pages of a list in the cache. */
export function changePages(
  queries: QueryClient,
  query: RunQuery,
  change: (pages: RunPages) => RunPages,
): void {
  queries.setQueryData<RunPages>(keyOf(query), (pages) => pages && change(pages))
}

/** Reads a list again from its beginning. */
export function readAgain(queries: QueryClient, query: RunQuery): void {
  void queries.resetQueries({ queryKey: keyOf(query) })
}

/**
 * A complete run with links to its files. `share` is the token of a share; the run is then read as public readers see
 * it.
 */
export function runOptions(id: string, share?: string) {
  return queryOptions({
    queryKey: share === undefined ? ['run', id] : ['shared-run', share, id],
    queryFn: ({ signal }) =>
      share === undefined
        ? call('GET /api/v1/runs/{id}', { params: { id }, query: { media: 'refs' }, signal })
        : call('GET /api/v1/public/{token}/run/{id}', { params: { token: share, id }, signal }),
    enabled: id !== '',
    // Comparing megabytes with what was read before would block the page.
    structuralSharing: false,
  })
}

/** A complete run with its files in it, to compare them. */
export function wholeRunOptions(id: string) {
  return queryOptions({
    queryKey: ['whole-run', id],
    queryFn: ({ signal }) => call('GET /api/v1/runs/{id}', { params: { id }, signal }),
    enabled: id !== '',
  })
}

/** The bytes of an attachment, as the type that the run names. @throws ApiError */
export async function readAttachment(path: string, type: string, signal: AbortSignal): Promise<Blob> {
  return new Blob([await (await send(path, { signal })).arrayBuffer()], { type })
}

const MOST_LIKE = 20

/** The newest runs of the same project and name, without the run itself. */
export function likeOptions({ id, session_id = '', name }: ReadRun) {
  return queryOptions({
    queryKey: ['runs-like', id],
    queryFn: async ({ signal }) => {
      const filter = `eq(name, ${JSON.stringify(name)})`
      const body = { session: [session_id], filter, limit: MOST_LIKE + 1 }
      const { runs } = await call('POST /api/v1/runs/query', { body, signal })
      const others: ListedRun[] = runs.filter((run) => run.id !== id)
      return others.slice(0, MOST_LIKE)
    },
  })
}
