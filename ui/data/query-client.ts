import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/problem.ts'

/** The key of the session (session.ts). */
const SESSION = ['session']
const MAX_TRIES = 3
const FRESH_MS = 10_000

function mayRetry(failures: number, error: Error): boolean {
  if (!(error instanceof ApiError)) return false
  return failures < MAX_TRIES && (error.status === 503 || error.status === 429)
}

/**
 * The cache of all reads; after 429 and 503 a read is retried after the time in Retry-After. A 401 of the platform may
 * mean that the session has ended, so the session is read again: without one the sign-in screen is shown.
 */
export function createQueryClient(): QueryClient {
  const refused = (error: Error): void => {
    const isRefused = error instanceof ApiError && error.status === 401
    if (isRefused && queries.getQueryData(SESSION) !== null)
      void queries.invalidateQueries({ queryKey: SESSION })
  }
  const queries = new QueryClient({
    queryCache: new QueryCache({
      // A deployment may authenticate its own users, so its 401 does not concern the session.
      onError: (error, { queryKey: [kind] }) => kind !== 'deployment' && refused(error),
    }),
    mutationCache: new MutationCache({ onError: refused }),
    defaultOptions: {
      queries: {
        retry: mayRetry,
        retryDelay: (failures, error) =>
          error instanceof ApiError && error.retry_after !== undefined
            ? error.retry_after * 1000
            : 500 * 2 ** failures,
        staleTime: FRESH_MS,
        refetchOnWindowFocus: true,
      },
    },
  })
  return queries
}
