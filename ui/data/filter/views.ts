import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, type Reply } from '../../api/call.ts'
import type { ViewContent } from './view-address.ts'

/** A named list of a project, which everybody in the workspace sees. */
export type SavedView = Reply<'GET /api/v1/sessions/{id}/views'>[number]

const keyOf = (project: string) => ['views', project] as const

/** The views of a project by name. */
export function useViews(project: string, enabled: boolean) {
  return useQuery({
    queryKey: keyOf(project),
    queryFn: ({ signal }) => call('GET /api/v1/sessions/{id}/views', { params: { id: project }, signal }),
    enabled,
  })
}

export function useViewChanges(project: string) {
  const queries = useQueryClient()
  const onSuccess = (): Promise<void> => queries.invalidateQueries({ queryKey: keyOf(project) })
  const bodyOf = ({ filter, params }: ViewContent) => ({
    filter_string: filter === '' ? null : filter,
    params,
  })
  const save = useMutation({
    mutationFn: ({ name, ...content }: ViewContent & { name: string }) =>
      call('POST /api/v1/sessions/{id}/views', {
        params: { id: project },
        body: { display_name: name, ...bodyOf(content) },
      }),
    onSuccess,
  })
  const replace = useMutation({
    mutationFn: ({ view_id, ...content }: ViewContent & { view_id: string }) =>
      call('PATCH /api/v1/sessions/{id}/views/{view_id}', {
        params: { id: project, view_id },
        body: bodyOf(content),
      }),
    onSuccess,
  })
  const remove = useMutation({
    mutationFn: (view_id: string) =>
      call('DELETE /api/v1/sessions/{id}/views/{view_id}', { params: { id: project, view_id } }),
    onSuccess,
  })
  return { save, replace, remove }
}
