import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { DeploymentApi } from '../api/deployment.ts'
import { readSession, SIGNED_OUT, signIn, signOut } from '../api/session.ts'
import { useDeploymentApi } from './deployments/deployment-api.ts'
import { missingPermission } from './settings/missing-permission.ts'

const SESSION = ['session'] as const

/** The session of this browser; `data` is null without one. */
export function useSession() {
  return useQuery({ queryKey: SESSION, queryFn: ({ signal }) => readSession(signal), staleTime: 60_000 })
}

/** Removes the cached data and the tokens of Studio of the previous user. */
function forgetOthers(queries: QueryClient, deployments: DeploymentApi): void {
  deployments.forgetTokens()
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] })
}

/** Signs in, and clears the cache and the tokens of deployments. */
export function useSignIn() {
  const queries = useQueryClient()
  const deployments = useDeploymentApi()
  return useMutation({
    mutationFn: signIn,
    onSuccess: (session) => {
      queries.setQueryData(SESSION, session)
      forgetOthers(queries, deployments)
    },
  })
}

/** Prompts that the playground keeps in this browser (playground/kept/kept-drafts.ts). */
const DRAFTS = 'weir-playground'

/** The filters that the lists of projects remember (parts/preferences.ts). */
const FILTERS = 'weir:filters'

/**
 * Signs out, clears the cache and the tokens of deployments, and deletes the filters and prompts that this browser
 * keeps.
 */
export function useSignOut() {
  const queries = useQueryClient()
  const deployments = useDeploymentApi()
  return useMutation({
    mutationFn: signOut,
    onSuccess: (elsewhere) => {
      sessionStorage.setItem(SIGNED_OUT, '1')
      queries.setQueryData(SESSION, null)
      indexedDB.deleteDatabase(DRAFTS)
      localStorage.removeItem(FILTERS)
      forgetOthers(queries, deployments)
      if (elsewhere !== undefined) location.assign(elsewhere)
    },
  })
}

/** A function that returns whether a user is signed in at the time of its call. */
export function useIsSignedIn(): () => boolean {
  const queries = useQueryClient()
  return () => queries.getQueryData(SESSION) !== null
}

/** Whether the session has a permission, and the message if it does not. */
export function usePermission(name: string): { isAllowed: boolean; reason: string | undefined } {
  const { data } = useSession()
  const reason = missingPermission(data?.permissions ?? [], [name])
  return { isAllowed: reason === undefined, reason }
}
