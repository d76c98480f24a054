import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { readSession, signIn, signOut } from '../api/session.ts'

const SESSION = ['session'] as const

/** The session of this browser; `data` is null without one. */
export function useSession() {
  return useQuery({ queryKey: SESSION, queryFn: ({ signal }) => readSession(signal), staleTime: 60_000 })
}

function forgetOthers(queries: QueryClient): void {
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] })
}

/** Signs in, and clears the cache. */
export function useSignIn() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: signIn,
    onSuccess: (session) => {
      queries.setQueryData(SESSION, session)
      forgetOthers(queries)
    },
  })
}

/** Signs out, and clears the cache. */
export function useSignOut() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: signOut,
    onSuccess: () => {
      queries.setQueryData(SESSION, null)
      forgetOthers(queries)
    },
  })
}

/** Whether the session has a permission, and the message if it does not. */
export function usePermission(name: string): { isAllowed: boolean; reason: string | undefined } {
  const { data } = useSession()
  const isAllowed = data?.permissions.includes(name) === true
  return { isAllowed, reason: isAllowed ? undefined : `This needs the permission ${name}` }
}
