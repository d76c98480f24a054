import { type QueryClient, useQueries, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { call } from '../../api/call.ts'
import type { TraceRunFiguresRead, TraceRunStatsBucket } from '../../api/platform.gen.ts'
import { groupsOf } from './project-pages.ts'
import { bucketsOf, type Interval, placeOfBucket } from '../overview/buckets.ts'

const KEY = 'project-trends'
const READ_EVERY_MS = 60_000
const DAY_MS = 86_400_000
const DAYS = 7
const INTERVAL: Interval = { text: '6h', size: DAY_MS / 4 }
/** Maximum number of groups in a response of the server. */
const MOST_PROJECTS = 100

/** The activity of a project in the last seven days. */
export interface ProjectTrend {
  /** Number of traces in each quarter of a day, the oldest first. */
  traces: readonly number[]
  /** Model calls, and those for which all four checks hold. */
  calls: number
  good: number
}

async function readTrends(
  session: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, ProjectTrend>> {
  const now = Math.ceil(Date.now() / INTERVAL.size) * INTERVAL.size
  const [start_time, end_time] = [now - DAYS * DAY_MS, now].map((time) => new Date(time).toISOString())
  const [from = '', to = ''] = [start_time, end_time]
  const group_by = { attribute: 'session' as const, max_groups: MOST_PROJECTS }
  const range = { session: [...session], start_time: from, end_time: to, group_by }
  const [timed, calls] = await Promise.all([
    // The request has this filter instead of the field `is_root`, which would also add up the usage of whole traces.
    call('POST /api/v1/runs/stats', {
      body: { ...range, filter: 'eq(is_root, true)', interval: INTERVAL.text },
      signal,
    }),
    call('POST /api/v1/runs/stats', { body: { ...range, run_type: 'llm' }, signal }),
  ])
  const count = bucketsOf(from, to, INTERVAL).length
  const trends = new Map<string, { traces: number[]; calls: number; good: number }>()
  for (const id of session) {
    const { checks } = (calls as Record<string, TraceRunFiguresRead | undefined>)[id] ?? {}
    trends.set(id, {
      traces: Array.from({ length: count }, () => 0),
      calls: checks?.llm_runs ?? 0,
      good: checks?.all ?? 0,
    })
  }
  const buckets = 'buckets' in timed ? (timed.buckets as TraceRunStatsBucket[]) : []
  for (const { group, start_time: start, figures } of buckets) {
    const traces = trends.get(group ?? '')?.traces
    if (traces !== undefined) traces[placeOfBucket(start, from, INTERVAL)] = figures.run_count
  }
  return trends
}

type Trends = ReadonlyMap<string, ProjectTrend>

/** Joins the trends of several reads. */
function together(reads: readonly (Trends | undefined)[]): Trends {
  return new Map(reads.flatMap((trends) => [...(trends ?? [])]))
}

/**
 * The known trends of a group of projects. Earlier reads may have had other groups, because a new project moves the
 * others to other groups.
 */
function knownTrends(queries: QueryClient, group: readonly string[]): Trends {
  const known = together(queries.getQueriesData<Trends>({ queryKey: [KEY] }).map(([, trends]) => trends))
  return new Map([...known].filter(([id]) => group.includes(id)))
}

const ofResults = (results: readonly { data: Trends | undefined }[]): Trends =>
  together(results.map(({ data }) => data))

/**
 * The last seven days of some projects, by their ids, as far as they have been read. Each group of projects is one
 * request.
 */
export function useProjectTrends(ids: readonly string[]): Trends {
  const client = useQueryClient()
  const queries = useMemo(
    () =>
      groupsOf(ids, MOST_PROJECTS).map((group) => ({
        queryKey: [KEY, group],
        queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Trends> =>
          await readTrends(group, signal),
        placeholderData: () => knownTrends(client, group),
        staleTime: READ_EVERY_MS,
        refetchInterval: READ_EVERY_MS,
      })),
    [ids, client],
  )
  return useQueries({ queries, combine: ofResults })
}
