import type { Clock } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import { isUuid, isWhole, readPageCursor } from '../../base/text/page-cursor.ts'
import type {
  ThreadPlace,
  ThreadSelection,
  ThreadSummary,
  ThreadWindow,
  TurnFilters,
} from '../../ingest/store/thread-store.ts'
import { parseFilter } from '../../trace/filter/filter.ts'
import type { FilteredThread, ThreadFilter } from '../../trace/filter/thread-filter.ts'
import type { TraceRunRow } from '../../trace/rows/trace-run-row.ts'
import type { ReadSteps } from '../steps.ts'
import type { ThreadChoice, ThreadItem, TurnExpressions } from './thread-reads.ts'
import { readFewTurns, summarize, TURN_COLUMNS, type Turn } from './sums.ts'

const DAY_US = 86_400_000_000
/** The range of all times that rows can have. */
export const ALWAYS = { from: 0, to: Number.MAX_SAFE_INTEGER }
/** Maximum number of traces, and of TraceRuns, that are added up here; the store adds up more. */
const FEW_TRACES = 500
const FEW_ROWS = 5_000
/** Number of threads that a search with thread_filter examines in its first step, and in each further step. */
const FIRST_STEP = 100
const STEP = 500
/** Maximum number of threads that a thread_filter selects for figures, since their ids are a parameter. */
const MAX_THREADS = 1_000

export function countsOf(found: readonly FoundThread[]): { threads: number; traces: number } {
  return { threads: found.length, traces: found.reduce((sum, { summary }) => sum + summary.turns, 0) }
}

/** Whether the list needs every trace of the window. */
export function isScan({ filter, trace_filter, tree_filter }: ThreadSelection): boolean {
  return [filter, trace_filter, tree_filter].some((one) => one !== undefined)
}

/** The filters, parsed. @throws AppError invalid_request */
export function filtersOf({ filter, trace_filter, tree_filter }: TurnExpressions): TurnFilters {
  return {
    ...(filter && { filter: parseFilter(filter) }),
    ...(trace_filter && { trace_filter: parseFilter(trace_filter) }),
    ...(tree_filter && { tree_filter: parseFilter(tree_filter) }),
  }
}

/** The filters with their window. @throws AppError invalid_request */
export function windowOf(choice: ThreadChoice, clock: Clock): ThreadSelection {
  const now = clock.now()
  // Rows have microseconds, the clock has milliseconds: traces that started in the current millisecond are included.
  const { project_id, from = now * 1000 - DAY_US, to = (now + 1) * 1000 } = choice
  return { project_id, from, to, ...filtersOf(choice) }
}

/** The window and the moment of a list, which are the same for all pages, and the end of the previous page. */
export async function startOf(
  { choice, request, cursor }: { choice: ThreadChoice; request: unknown; cursor: string | undefined },
  clock: Clock,
  readMark: () => Promise<number>,
): Promise<ThreadSelection & { written: number; after?: Omit<ThreadPlace, 'thread_id'> }> {
  const selection = windowOf(choice, clock)
  if (cursor === undefined) return { ...selection, written: await readMark() }
  const parts = readPageCursor(cursor, request, [isWhole, isWhole, isWhole, isWhole, isUuid])
  const [from, to, written, last_start, last_trace_id] = parts
  return { ...selection, from, to, written, after: { last_start, last_trace_id } }
}

/** Threads with their figures in the order of the list, without those for which `matches` is false. */
export async function matching(
  steps: ReadSteps,
  workspace_id: string,
  {
    query,
    matches,
    wanted,
  }: {
    query: ThreadSelection & { written: number; after?: Omit<ThreadPlace, 'thread_id'> }
    matches: ThreadFilter | undefined
    wanted: number
  },
): Promise<FoundThread[]> {
  const found: FoundThread[] = []
  let { after } = query
  let step = FIRST_STEP
  while (found.length < wanted) {
    const limit = matches ? step : wanted - found.length
    const places = await steps.store.threads(workspace_id, { ...query, ...(after && { after }), limit })
    const last = places.at(-1)
    if (last === undefined) break
    const summaries = await summariesOf(steps, workspace_id, query, places)
    found.push(...summaries.filter(({ summary }) => matches?.(filteredThread(summary)) ?? true))
    if (places.length < limit) break
    after = last
    step = STEP
  }
  return found.slice(0, wanted)
}

/** All threads for which `matches` is true. @throws AppError invalid_request for too many */
export async function matchingThreads(
  steps: ReadSteps,
  workspace_id: string,
  selection: ThreadSelection,
  matches: ThreadFilter,
): Promise<FoundThread[]> {
  const written = await steps.store.threadMark(workspace_id, selection.project_id)
  const query = { ...selection, written }
  const found = await matching(steps, workspace_id, { query, matches, wanted: MAX_THREADS + 1 })
  if (found.length <= MAX_THREADS) return found
  const message = `thread_filter selects more than ${MAX_THREADS} threads; narrow it, or the times.`
  throw new AppError('invalid_request', { message })
}

/** A thread with its current figures, and its place in the list, which is independent of later TraceRuns. */
export interface FoundThread {
  place: ThreadPlace
  summary: ThreadSummary
  /** The roots in the window; undefined if the store computed the figures. */
  roots: readonly string[] | undefined
}

/** Figures of these threads in the window, in the same order. */
export async function summariesOf(
  steps: ReadSteps,
  workspace_id: string,
  { project_id, from, to }: ThreadWindow,
  places: readonly ThreadPlace[],
): Promise<FoundThread[]> {
  const thread_ids = places.map(({ thread_id }) => thread_id)
  const window = { project_id, from, to }
  const turns = (await fewTurns(steps, workspace_id, window, thread_ids))?.turns
  const summaries = turns
    ? summarize(turns)
    : await steps.store.threadSummaries(workspace_id, window, thread_ids)
  const byId = new Map(summaries.map((summary) => [summary.thread_id, summary]))
  const roots = Map.groupBy(turns ?? [], ({ thread_id }) => thread_id)
  return places.flatMap((place) => {
    const summary = byId.get(place.thread_id)
    const own = turns && (roots.get(place.thread_id) ?? []).map(({ root }) => root.run_id)
    return summary ? { place, summary, roots: own } : []
  })
}

/** Adds the feedback on the roots of the threads' traces. */
export async function withFeedback(
  { store }: ReadSteps,
  workspace_id: string,
  { project_id, from, to }: ThreadWindow,
  found: readonly FoundThread[],
): Promise<ThreadItem[]> {
  const owners = found.flatMap(({ place, roots = [] }) =>
    roots.map((run_id) => ({ run_id, owner: place.thread_id })),
  )
  const feedback = await store.feedbackOfOwners(workspace_id, owners)
  const many = found.filter(({ roots }) => roots === undefined).map(({ place }) => place.thread_id)
  if (many.length > 0) {
    const window = { project_id, from, to }
    for (const [id, given] of await store.feedbackOfThreads(workspace_id, window, many))
      feedback.set(id, given)
  }
  return found.map(({ place, summary }) => ({ ...summary, feedback: feedback.get(place.thread_id) ?? {} }))
}

/**
 * Reads the traces of these threads that started in the window, and rows with these columns. The rows may include
 * those of other traces. Undefined if there are too many traces or rows to add up here.
 */
export async function fewTurns(
  { store }: ReadSteps,
  workspace_id: string,
  window: ThreadWindow,
  thread_ids: readonly string[],
  columns: readonly (keyof TraceRunRow)[] = TURN_COLUMNS,
): Promise<{ turns: Turn[]; rows: Uint8Array } | undefined> {
  if (thread_ids.length === 0) return { turns: [], rows: new Uint8Array(0) }
  const { project_id, from, to } = window
  const traces = await store.tracesOfThreads(workspace_id, window, thread_ids, FEW_TRACES + 1)
  if (traces.length > FEW_TRACES) return undefined
  const rows = await store.rowsOfTraces(workspace_id, project_id, traces, { columns, limit: FEW_ROWS + 1 })
  const wanted = new Set(thread_ids)
  const turns = readFewTurns(rows, FEW_ROWS, columns)?.filter(
    ({ thread_id, root }) => wanted.has(thread_id) && root.sort_time >= from && root.sort_time < to,
  )
  return turns && { turns, rows }
}

function filteredThread(summary: ThreadSummary): FilteredThread {
  const { thread_id, turns, errored_turns, first_start, last_start, last_error, latency, total_cost } =
    summary
  return {
    thread_id,
    count: turns,
    num_errored_turns: errored_turns,
    start_time: last_start,
    min_start_time: first_start,
    max_start_time: last_start,
    first_inputs: summary.first_inputs,
    last_outputs: summary.last_outputs,
    last_error: last_error === '' ? null : last_error,
    latency_p50: latency[0],
    latency_p95: latency[1],
    latency_p99: latency[2],
    total_tokens: summary.prompt_tokens + summary.completion_tokens,
    total_cost: total_cost === null ? null : Number(total_cost),
  }
}
