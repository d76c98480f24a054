import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { readAll } from '../../api/all-pages.ts'
import { call, type Reply } from '../../api/call.ts'

export type ListedSession = Reply<'GET /api/v1/auth/sessions'>[number]

const SESSIONS = ['sessions'] as const

/** The browser sessions of the caller, or of all. */
export function useSessions(ofAll: boolean) {
  return useQuery({
    queryKey: [...SESSIONS, ofAll],
    queryFn: ({ signal }) =>
      readAll<ListedSession>(ofAll ? 'GET /api/v1/orgs/current/sessions' : 'GET /api/v1/auth/sessions', {
        signal,
      }),
  })
}

/** Ends a browser session. */
export function useSessionEnd() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => call('DELETE /api/v1/auth/sessions/{id}', { params: { id } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: SESSIONS }),
  })
}
