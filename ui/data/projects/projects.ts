import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/call.ts'

const LIST_EVERY_MS = 10_000
/** Short, so that the first trace appears soon; reading an empty list is cheap. */
const EMPTY_EVERY_MS = 700

/** Projects whose name contains a text, newest first, with their figures. */
export function useProjects(nameContains: string) {
  return useQuery({
    queryKey: ['projects', nameContains],
    queryFn: ({ signal }) =>
      call('GET /api/v1/sessions', {
        query: { include_stats: true, limit: 100, name_contains: nameContains || undefined },
        signal,
      }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) =>
      data?.length === 0 && nameContains === '' ? EMPTY_EVERY_MS : LIST_EVERY_MS,
  })
}

/** One project with its figures. */
export function useProject(id: string) {
  return useQuery({
    queryKey: ['project', id],
    queryFn: ({ signal }) =>
      call('GET /api/v1/sessions/{id}', { params: { id }, query: { include_stats: true }, signal }),
    refetchInterval: LIST_EVERY_MS,
  })
}

/** Creates a project, or with an id changes its name and description; returns its id. */
export function useProjectSave() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ id, ...body }: { id: string | undefined; name: string; description: string }) =>
      id === undefined
        ? (await call('POST /api/v1/sessions', { body })).id
        : (await call('PATCH /api/v1/sessions/{id}', { params: { id }, body })).id,
    onSuccess: async () => {
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['projects'] }),
        queries.invalidateQueries({ queryKey: ['project'] }),
      ])
    },
  })
}
