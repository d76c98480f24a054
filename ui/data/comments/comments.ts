import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { call, type Reply } from '../../api/call.ts'

/** What somebody wrote about a run. */
export type Comment = Reply<'GET /api/v1/comments/mentions'>[number]

export const FRESH_MS = 60_000
export const COMMENTS = 'comments'

/** The comments on the runs of a trace, oldest first; nothing is read for an empty id. */
export function useComments(trace_id: string) {
  return useQuery({
    queryKey: [COMMENTS, trace_id],
    queryFn: ({ signal }) => call('GET /api/v1/traces/{trace_id}/comments', { params: { trace_id }, signal }),
    enabled: trace_id !== '',
    staleTime: FRESH_MS,
  })
}

/** The number of comments on each run of a trace that has any. */
export function useCommentCounts(trace_id: string): ReadonlyMap<string, number> {
  const { data } = useComments(trace_id)
  return useMemo(() => {
    const counts = new Map<string, number>()
    for (const { run_id } of data ?? []) counts.set(run_id, (counts.get(run_id) ?? 0) + 1)
    return counts
  }, [data])
}
