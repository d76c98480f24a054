import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { issuesOf } from '../llm-facts.ts'
import type { Span } from './buckets.ts'
import { type CheckCounts, type CheckName, countsOfChecks, type Figures, withoutCounts } from './figures.ts'
import { groupClause, groupingOf, narrowed, type Selection, subjectClauses } from './selection.ts'
import { countSenders } from './senders.ts'
import { countUnread } from './unread.ts'

const MOST_GROUPS = 12
const FRESH_MS = 30_000
/** Maximum number of failing calls of each check whose senders are counted. */
export const MOST_READ = 100

/** Model calls of one group, and how many of them fail each check. */
export interface CheckedGroup extends CheckCounts {
  name: string
  /** Clauses that these calls satisfy, and no other calls. */
  clauses: readonly string[]
}

async function readChecks(selection: Selection, span: Span, signal: AbortSignal): Promise<CheckedGroup[]> {
  const { project, filter } = selection
  const group = selection.group === '' ? 'model' : selection.group
  const calls = narrowed(filter, subjectClauses('llm'))
  const body = { session: [project], start_time: span.from, end_time: span.to, filter: calls }
  const [whole, byGroup] = await Promise.all([
    call('POST /api/v1/runs/stats', { body, signal }),
    call('POST /api/v1/runs/stats', { body: { ...body, ...groupingOf(group, MOST_GROUPS) }, signal }),
  ])
  const all = { name: 'All', clauses: [], ...countsOfChecks((whole as Figures).checks) }
  const groups = Object.entries(byGroup as Record<string, Figures>).map(([name, { checks }]) => ({
    name,
    clauses: [groupClause(group, name)],
    ...countsOfChecks(checks),
  }))
  // A call with several tags is in several groups, so the counts of the others cannot be computed by subtraction.
  if (group === 'tag') return [all, ...groups]
  const clauses = groups.flatMap((one) => one.clauses.map((clause) => `not(${clause})`))
  const others = { name: 'Others', clauses, ...withoutCounts(all, groups) }
  return others.calls > 0 ? [all, ...groups, others] : [all, ...groups]
}

/**
 * Reads the counts of checks for the model calls of a selection: of all calls, of the largest groups (models, if the
 * selection has no groups), and of the others.
 */
export function useChecks(selection: Selection, span: Span) {
  return useQuery({
    queryKey: ['checks', selection, span],
    queryFn: ({ signal }) => readChecks(selection, span, signal),
    placeholderData: keepPreviousData,
    staleTime: FRESH_MS,
  })
}

/** Reads which clients sent the newest model calls of a selection that fail these checks. */
export function useSenders({ project, filter }: Selection, span: Span, checks: readonly CheckName[]) {
  return useQuery({
    queryKey: ['senders', project, filter, span, checks],
    queryFn: async ({ signal }) => {
      const failing = checks.map(async (check) => {
        const clauses = [...subjectClauses('llm'), `eq(check_${check}, false)`]
        const body = {
          session: [project],
          start_time: span.from,
          end_time: span.to,
          filter: narrowed(filter, clauses),
          select: ['id', 'extra'],
          limit: MOST_READ,
        }
        const { runs } = await call('POST /api/v1/runs/query', { body, signal })
        return [check, runs.map(({ extra }) => extra)] as const
      })
      return countSenders(await Promise.all(failing))
    },
    placeholderData: keepPreviousData,
    staleTime: FRESH_MS,
  })
}

/** Reads which numbers of usage the newest calls of a selection sent and the server did not read. */
export function useUnread({ project, filter }: Selection, span: Span) {
  return useQuery({
    queryKey: ['unread', project, filter, span],
    queryFn: async ({ signal }) => {
      const body = {
        session: [project],
        start_time: span.from,
        end_time: span.to,
        filter: narrowed(filter, ['eq(issue, "usage_unread")']),
        select: ['id', 'extra', 'issues'],
        limit: MOST_READ,
      }
      const { runs } = await call('POST /api/v1/runs/query', { body, signal })
      return countUnread(runs.map((run) => ({ extra: run.extra, issues: issuesOf(run) })))
    },
    placeholderData: keepPreviousData,
    staleTime: FRESH_MS,
  })
}
