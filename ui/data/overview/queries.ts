import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import type { TraceRunStatsBucket } from '../../api/platform.gen.ts'
import { call, type Reply } from '../../api/call.ts'
import { useLiveRefresh } from '../live/use-live.ts'
import { type Ends, type Interval, intervalOf, type Span, spanOf } from './buckets.ts'
import type { Figures, OverviewFigures } from './figures.ts'
import { groupClause, groupingOf, narrowed, type Selection, subjectClauses } from './selection.ts'

const MOST_GROUPS = 8
/** Maximum number of groups in a response of the server. */
const MOST_ASKED = 100
const READ_EVERY_MS = 30_000
const OVERVIEW = 'overview'
const FAILED = 'eq(status, "error")'

function bodyOf({ project, filter, subject }: Selection, { from, to }: Span, clauses: readonly string[]) {
  const whole = narrowed(filter, [...subjectClauses(subject), ...clauses])
  return {
    session: [project],
    start_time: from,
    end_time: to,
    ...(subject === 'traces' && { is_root: true }),
    ...(whole !== '' && { filter: whole }),
  }
}

type Stats = Reply<'POST /api/v1/runs/stats'>

const bucketsIn = (stats: Stats): TraceRunStatsBucket[] =>
  'buckets' in stats ? (stats.buckets as TraceRunStatsBucket[]) : []

/** Figures of the largest groups, and how many of their runs failed. */
async function readGroups(
  selection: Selection,
  span: Span,
  signal: AbortSignal,
): Promise<OverviewFigures['groups']> {
  if (selection.group === '') return new Map()
  const ask = async (clauses: readonly string[], most: number): Promise<[string, Figures][]> => {
    const body = { ...bodyOf(selection, span, clauses), ...groupingOf(selection.group, most) }
    return Object.entries(
      (await call('POST /api/v1/runs/stats', { body, signal })) as Record<string, Figures>,
    )
  }
  const groups = await ask([], MOST_GROUPS)
  if (groups.length === 0) return new Map()
  const failed = await ask([FAILED, groupsClause(selection, groups)], MOST_ASKED)
  const counts = new Map(failed.map(([name, { run_count }]) => [name, run_count]))
  // A group without a count has no failures. If the response has the maximum number of groups, the count is unknown
  // instead.
  const rest = failed.length < MOST_ASKED ? 0 : undefined
  return new Map(groups.map(([name, figures]) => [name, { figures, failed: counts.get(name) ?? rest }]))
}

function groupsClause({ group }: Selection, groups: readonly (readonly [string, unknown])[]): string {
  const clauses = groups.map(([name]) => groupClause(group, name))
  return clauses.length === 1 ? (clauses[0] ?? '') : `or(${clauses.join(', ')})`
}

async function readFigures(
  selection: Selection,
  span: Span,
  interval: Interval,
  signal: AbortSignal,
): Promise<OverviewFigures> {
  const ask = (clauses: readonly string[], more: object): Promise<Stats> =>
    call('POST /api/v1/runs/stats', { body: { ...bodyOf(selection, span, clauses), ...more }, signal })
  const timed = { interval: interval.text }
  const hasOthers = selection.group !== '' && selection.group !== 'tag'
  const [all, failed, groups, buckets, totals] = await Promise.all([
    ask([], { histograms: true }),
    ask([FAILED], {}),
    readGroups(selection, span, signal),
    ask([], { ...timed, ...groupingOf(selection.group, MOST_GROUPS) }),
    hasOthers ? ask([], timed) : undefined,
  ])
  const among = groups.size === 0 ? [] : [groupsClause(selection, [...groups])]
  const failures = await ask([FAILED, ...among], { ...timed, ...groupingOf(selection.group, MOST_ASKED) })
  return {
    all: all as Figures,
    failed: (failed as Figures).run_count,
    groups,
    buckets: bucketsIn(buckets),
    failures: bucketsIn(failures),
    totals: totals === undefined ? [] : bucketsIn(totals),
  }
}

/** The range and the interval of figures that are read now. @throws Error for a range without a length */
function rangeNow({ from, until }: Ends): { span: Span; interval: Interval } {
  const span = spanOf(from, until)
  if (span === undefined) throw new Error('The range ends before it begins')
  return { span, interval: intervalOf(span.from, span.to) }
}

/** Pause between a change and the read of the figures. It is long, because the figures are sums over many runs. */
const CHANGED_MS = 5000

/** The figures of an overview, read again after runs of the project have changed, and every 30 s. */
export function useFigures(selection: Selection, ends: Ends) {
  const queries = useQueryClient()
  const refresh = (): void =>
    void queries.invalidateQueries({ queryKey: [OVERVIEW] }, { cancelRefetch: false })
  useLiveRefresh([`project:${selection.project}`], refresh, CHANGED_MS)
  return useQuery({
    queryKey: [OVERVIEW, selection, ends],
    queryFn: async ({ signal }) => {
      const { span, interval } = rangeNow(ends)
      return { selection, span, interval, figures: await readFigures(selection, span, interval, signal) }
    },
    enabled: spanOf(ends.from, ends.until) !== undefined,
    placeholderData: keepPreviousData,
    refetchInterval: READ_EVERY_MS,
  })
}

/** A bucket with runs: how many there are, and how many of them failed. */
export interface TimelineCount {
  start: string
  runs: number
  failed: number
}

function countsOf(buckets: readonly TraceRunStatsBucket[]): TimelineCount[] {
  const counts = new Map<string, TimelineCount>()
  for (const { start_time, group, figures } of buckets) {
    const { runs, failed } = counts.get(start_time) ?? { runs: 0, failed: 0 }
    const more = figures.run_count
    const start = start_time
    counts.set(start, { start, runs: runs + more, failed: failed + (group === 'error' ? more : 0) })
  }
  return [...counts.values()]
}

/** The number of runs in each bucket of a range, read again every 30 s. */
export function useTimeline(
  { project, filter, isRoot }: { project: string; filter: string; isRoot: boolean },
  ends: Ends,
) {
  return useQuery({
    queryKey: ['timeline', project, filter, isRoot, ends],
    queryFn: async ({ signal }) => {
      const { span, interval } = rangeNow(ends)
      const selection: Selection = { project, filter, subject: isRoot ? 'traces' : 'all', group: 'status' }
      const grouped = { interval: interval.text, ...groupingOf(selection.group, MOST_GROUPS) }
      const body = { ...bodyOf(selection, span, []), ...grouped }
      const stats = await call('POST /api/v1/runs/stats', { body, signal })
      return { span, interval, counts: countsOf(bucketsIn(stats)) }
    },
    enabled: spanOf(ends.from, ends.until) !== undefined,
    placeholderData: keepPreviousData,
    refetchInterval: READ_EVERY_MS,
  })
}

/** When the first run of a project started; null before there is one. It is not read while `enabled` is false. */
export function useFirstStart(project: string, enabled = true) {
  return useQuery({
    queryKey: ['first-start', project],
    enabled,
    queryFn: async ({ signal }) => {
      const body = { session: [project], order: 'asc' as const, limit: 1, select: ['id', 'start_time'] }
      const { runs } = await call('POST /api/v1/runs/query', { body, signal })
      return runs[0]?.start_time ?? null
    },
    refetchInterval: ({ state }) => (state.data === null ? READ_EVERY_MS : false),
  })
}
