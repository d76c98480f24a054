import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import type { SpanFilter } from '../../api/platform.gen.ts'

/** Key of the reads of projects in the settings. */
export const RETENTION = ['retention'] as const
export const PROJECTS_PAGE = 50

/** The projects of a page, newest first, and one project more if there is a next page. */
export function useRetention(nameContains: string, offset: number) {
  return useQuery({
    queryKey: [...RETENTION, nameContains, offset],
    queryFn: ({ signal }) =>
      call('GET /api/v1/sessions', {
        query: {
          include_stats: false,
          limit: PROJECTS_PAGE + 1,
          offset,
          name_contains: nameContains || undefined,
        },
        signal,
      }),
    placeholderData: keepPreviousData,
  })
}

/** Sets the number of days after which the traces of a project are deleted; 0 is never. */
export function useRetentionChange() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ id, days }: { id: string; days: number }) =>
      call('PATCH /api/v1/sessions/{id}', { params: { id }, body: { retention_days: days } }),
    onSuccess: async () => await queries.invalidateQueries({ queryKey: RETENTION }),
  })
}

/** Replaces the span filters of a project. */
export function useSpanFilterChange() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ id, filters }: { id: string; filters: readonly SpanFilter[] }) =>
      call('PATCH /api/v1/sessions/{id}', { params: { id }, body: { span_filters: [...filters] } }),
    onSuccess: async () => await queries.invalidateQueries({ queryKey: RETENTION }),
  })
}

/** Version and limits of the server. */
export function useServerInfo() {
  return useQuery({ queryKey: ['info'], queryFn: ({ signal }) => call('GET /api/v1/info', { signal }) })
}
