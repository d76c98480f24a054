import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { RETENTION } from '../settings/server.ts'
import { nextOffset, PROJECTS_PER_PAGE, projectsOf, readEveryMs } from './project-pages.ts'

/** What the server can sort projects by. */
export type ProjectOrder =
  | ('name' | 'last_run_start_time' | 'error_rate' | 'latency_p50' | 'latency_p95')
  | ('trace_count' | 'total_tokens' | 'total_cost')

/** An order of projects; undefined for the newest first. */
export type ProjectSort = { by: ProjectOrder; isDescending: boolean } | undefined

/** Projects whose name contains a text, with their figures, in pages of 100. */
export function useProjects(nameContains: string, sort?: ProjectSort) {
  return useInfiniteQuery({
    queryKey: ['projects', nameContains, sort],
    queryFn: ({ signal, pageParam: offset }) => {
      const page = { limit: PROJECTS_PER_PAGE, offset }
      const order = sort && { sort_by: sort.by, sort_by_desc: sort.isDescending }
      const query = { ...page, include_stats: true, name_contains: nameContains || undefined, ...order }
      return call('GET /api/v1/sessions', { query, signal })
    },
    initialPageParam: 0,
    getNextPageParam: (_last, pages) => nextOffset(pages),
    select: ({ pages }) => projectsOf(pages),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => readEveryMs(data?.pages ?? [], nameContains !== ''),
  })
}

/** A project without its figures. */
export function useProject(id: string) {
  return useQuery({
    queryKey: ['project', id],
    queryFn: ({ signal }) => call('GET /api/v1/sessions/{id}', { params: { id }, signal }),
  })
}

/** Maximum number of projects that are read by their ids. */
const MOST_NAMED = 100

/** The names of some projects, by their ids, as far as they have been read. */
export function useProjectNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const id = [...new Set(ids)].toSorted().slice(0, MOST_NAMED)
  const { data } = useQuery({
    queryKey: ['project-names', id],
    queryFn: async ({ signal }) => {
      const found = await call('GET /api/v1/sessions', { query: { id, limit: MOST_NAMED }, signal })
      return new Map(found.map((project) => [project.id, project.name]))
    },
    enabled: id.length > 0,
    placeholderData: keepPreviousData,
  })
  return data ?? new Map()
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

/** Deletes a project with all of its runs. */
export function useProjectDeletion() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => call('DELETE /api/v1/sessions/{id}', { params: { id } }),
    onSuccess: async () => {
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['projects'] }),
        queries.invalidateQueries({ queryKey: RETENTION }),
      ])
    },
  })
}
