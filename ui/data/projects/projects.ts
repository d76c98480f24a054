import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { nextOffset, PROJECTS_PER_PAGE, projectsOf } from './project-pages.ts'

const LIST_EVERY_MS = 10_000
/** Short, so that the first trace appears soon; reading an empty list is cheap. */
const EMPTY_EVERY_MS = 700

/** Projects whose name contains a text, newest first, with their figures, in pages of 100. */
export function useProjects(nameContains: string) {
  return useInfiniteQuery({
    queryKey: ['projects', nameContains],
    queryFn: ({ signal, pageParam: offset }) => {
      const page = { limit: PROJECTS_PER_PAGE, offset }
      const query = { ...page, include_stats: true, name_contains: nameContains || undefined }
      return call('GET /api/v1/sessions', { query, signal })
    },
    initialPageParam: 0,
    getNextPageParam: (_last, pages) => nextOffset(pages),
    select: ({ pages }) => projectsOf(pages),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) =>
      data?.pages[0]?.length === 0 && nameContains === '' ? EMPTY_EVERY_MS : LIST_EVERY_MS,
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
