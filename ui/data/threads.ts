import {
  keepPreviousData,
  queryOptions,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { call, type Reply } from '../api/call.ts'
import type { ModelCall } from './messages/conversation.ts'
import { llmOf } from './llm-facts.ts'
import { readAfterChange } from './live/read-after-change.ts'
import { type RunChange, useLive, useSoon } from './live/use-live.ts'

export type ListedThread = Reply<'POST /api/v2/threads/query'>['items'][number]

export type Turn = Reply<'GET /api/v2/threads/{id}/traces'>['items'][number]

/** The filters of a list of threads. */
export interface ThreadQuery {
  project: string
  /** Filter expression on the root of some trace of the thread; '' for all. */
  filter: string
  /** ISO time of the earliest trace; '' for all. */
  since: string
  /** Only traces that started before this ISO time; '' for all. */
  until: string
}

const PAGE_SIZE = 50
const TURN_PAGE_SIZE = 20
const EVER = '1970-01-01T00:00:00Z'

/** Threads of a project, latest activity first, page by page. */
export function useThreads(query: ThreadQuery) {
  const { project, filter, since, until } = query
  return useInfiniteQuery({
    queryKey: ['threads', query],
    queryFn: ({ pageParam, signal }) =>
      call('POST /api/v2/threads/query', {
        body: {
          project_id: project,
          min_start_time: since === '' ? EVER : since,
          ...(until !== '' && { max_start_time: until }),
          ...(filter !== '' && { filter }),
          page_size: PAGE_SIZE,
          ...(pageParam !== '' && { cursor: pageParam }),
        },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  })
}

const SELECTS = [
  'TRACE_ID',
  'NAME',
  'START_TIME',
  'END_TIME',
  'LATENCY',
  'FIRST_TOKEN_TIME',
  'TOTAL_TOKENS',
  'TOTAL_COST',
  'UNPRICED_RUNS',
  'ERROR_PREVIEW',
  'INPUTS_PREVIEW',
  'OUTPUTS_PREVIEW',
] as const

/** The traces of a thread, oldest first, page by page; new traces are added as they arrive. */
export function useTurns(project: string, thread: string) {
  const queries = useQueryClient()
  const queryKey = ['turns', project, thread]
  const turns = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/v2/threads/{id}/traces', {
        params: { id: thread },
        query: {
          project_id: project,
          selects: SELECTS,
          page_size: TURN_PAGE_SIZE,
          cursor: pageParam || undefined,
        },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  })
  const soon = useSoon(() => {
    void readAfterChange(queries, { queryKey })
    void queries.invalidateQueries({ queryKey: ['thread-stats', project, thread] })
  })
  const readCalls = (runs?: readonly RunChange[]): void => {
    soon()
    const items = turns.data?.pages.flatMap((page) => page.items) ?? []
    const running = new Set(items.flatMap(({ trace_id, end_time }) => (end_time === null ? trace_id : [])))
    const changed = runs && new Set(runs.map(({ trace_id }) => trace_id))
    void readAfterChange(queries, {
      queryKey: ['turn'],
      predicate: ({ queryKey: [, trace], state }) =>
        changed?.has(String(trace)) ?? (state.data === null || running.has(String(trace))),
    })
  }
  useLive([`project:${project}`], {
    open: () => readCalls(),
    runs: (runs, more) => readCalls(more ? undefined : runs),
  })
  return turns
}

/** Figures of a whole thread. */
export function useThreadStats(project: string, thread: string) {
  return useQuery({
    queryKey: ['thread-stats', project, thread],
    queryFn: ({ signal }) =>
      call('GET /api/v2/threads/{id}/stats', {
        params: { id: thread },
        query: {
          session_id: project,
          selects: [
            'TURNS',
            'FIRST_START_TIME',
            'LAST_START_TIME',
            'LATENCY_P50',
            'LATENCY_P95',
            'TOTAL_TOKENS',
            'TOTAL_COST',
            'UNPRICED_RUNS',
          ],
        },
        signal,
      }),
  })
}

const MOST_CALLS = 100

function depthOf(dotted_order: string | undefined): number {
  return dotted_order?.split('.').length ?? 0
}

/** The last of the model calls of a trace that are closest to its root: it has the messages of the turn. */
async function readTurnCall(trace: string, signal: AbortSignal): Promise<ModelCall | null> {
  const body = {
    trace,
    filter: 'eq(run_type, "llm")',
    select: ['id', 'dotted_order'],
    limit: MOST_CALLS,
  }
  const { runs } = await call('POST /api/v1/runs/query', { body, signal })
  const depth = Math.min(...runs.map(({ dotted_order }) => depthOf(dotted_order)))
  const last = runs.find(({ dotted_order }) => depthOf(dotted_order) === depth)
  if (last === undefined) return null
  const run = await call('GET /api/v1/runs/{id}', {
    params: { id: last.id },
    query: { media: 'refs' },
    signal,
  })
  const { input, output } = llmOf(run)?.messages ?? {}
  return { id: trace, input: input ?? [], output: output ?? [] }
}

/**
 * The model call with the messages of a turn, by the id of its trace; null for a trace without one, whose model call
 * may still be on its way.
 */
export function turnOptions({ trace_id, end_time = null }: Pick<Turn, 'trace_id' | 'end_time'>) {
  return queryOptions({
    queryKey: ['turn', trace_id],
    queryFn: ({ signal }) => readTurnCall(trace_id, signal),
    staleTime: ({ state }) => (end_time === null || state.data === null ? 0 : Number.POSITIVE_INFINITY),
  })
}

/** Maximum number of turns whose feedback is shown, the latest of them. */
const MOST_WITH_FEEDBACK = 100

/** The feedback on the roots of turns, by trace: a key and its mean, or the number of values without a score. */
export function useTurnFeedback(
  turns: readonly Turn[],
): ReadonlyMap<string, readonly (readonly [string, string])[]> {
  const id = turns.slice(-MOST_WITH_FEEDBACK).map(({ trace_id }) => trace_id)
  const { data } = useQuery({
    queryKey: ['turn-feedback', id],
    queryFn: async ({ signal }) => {
      const body = { id, select: ['id', 'feedback_stats'], limit: MOST_WITH_FEEDBACK }
      const { runs } = await call('POST /api/v1/runs/query', { body, signal })
      return new Map(
        runs.map((run) => {
          const stats = (run['feedback_stats'] ?? {}) as Record<string, { n: number; avg: number | null }>
          const lines = Object.entries(stats).map(
            ([key, { n, avg }]) => [key, String(avg === null ? n : Number(avg.toPrecision(3)))] as const,
          )
          return [run.id, lines]
        }),
      )
    },
    enabled: id.length > 0,
    placeholderData: keepPreviousData,
  })
  return data ?? new Map()
}
