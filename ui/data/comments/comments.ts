import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { call, type Reply } from '../../api/call.ts'
import type { Person } from './mentions.ts'

/** What somebody wrote about a run. */
export type Comment = Reply<'GET /api/v1/comments/mentions'>[number]

const FRESH_MS = 60_000
const COMMENTS = 'comments'

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

/** The members of the workspace, by name; read only if they are wanted. */
export function usePeople(isWanted: boolean) {
  return useQuery({
    queryKey: ['people'],
    queryFn: async ({ signal }): Promise<Person[]> => {
      const { members } = await call('GET /api/v1/workspaces/current/members', { signal })
      return members
        .map(({ user_id, full_name, email }) => ({ id: user_id, name: full_name || email }))
        .toSorted((a, b) => a.name.localeCompare(b.name))
    },
    enabled: isWanted,
    staleTime: FRESH_MS,
  })
}

export type CommentText = Pick<Comment, 'text' | 'mentions'>

/** Adds, changes and deletes comments of a trace; they are read again afterwards. */
export function useCommentChanges(trace_id: string) {
  const queries = useQueryClient()
  const onSuccess = () => queries.invalidateQueries({ queryKey: [COMMENTS, trace_id] })
  const add = useMutation({
    mutationFn: ({ run_id, ...body }: CommentText & { run_id: string }) =>
      call('POST /api/v1/runs/{id}/comments', { params: { id: run_id }, body }),
    onSuccess,
  })
  const change = useMutation({
    mutationFn: ({ id, ...body }: CommentText & { id: string }) =>
      call('PATCH /api/v1/comments/{id}', { params: { id }, body }),
    onSuccess,
  })
  const remove = useMutation({
    mutationFn: (id: string) => call('DELETE /api/v1/comments/{id}', { params: { id } }),
    onSuccess,
  })
  return { add, change, remove }
}

/** The comments that mention the user, newest first; read only for a signed-in member. */
export function useMentions(isMember: boolean) {
  return useQuery({
    queryKey: ['mentions'],
    queryFn: ({ signal }) => call('GET /api/v1/comments/mentions', { signal }),
    enabled: isMember,
    staleTime: FRESH_MS,
  })
}
