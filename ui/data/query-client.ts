import { QueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/problem.ts'

const MAX_TRIES = 3
const FRESH_MS = 10_000

function mayRetry(failures: number, error: Error): boolean {
  if (!(error instanceof ApiError)) return false
  return failures < MAX_TRIES && (error.status === 503 || error.status === 429)
}

/** The cache of all reads; after 429 and 503 a read is retried after the time in Retry-After. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
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
}
