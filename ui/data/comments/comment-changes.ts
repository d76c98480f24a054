import { useMutation, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { type Comment, COMMENTS } from './comments.ts'

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
