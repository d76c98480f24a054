import { type Query, useQueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { ApiError } from '../api/problem.ts'

/** Statuses of a server that may answer later; 0 stands for no response. */
const UNAVAILABLE = new Set([0, 502, 503, 504])

/** True for a read of this page that has data, and whose last try found the server unavailable. */
function isOldRead({ state }: Query): boolean {
  const error = state.error ?? state.fetchFailureReason
  return state.data !== undefined && error instanceof ApiError && UNAVAILABLE.has(error.status)
}

/** Whether the page shows data that could not be read again, and the function that reads it again. */
export function useOldData(): { isOld: boolean; readAgain(): void } {
  const queries = useQueryClient()
  const cache = queries.getQueryCache()
  const isOld = useSyncExternalStore(
    (changed) => cache.subscribe(changed),
    () => cache.findAll({ type: 'active' }).some(isOldRead),
  )
  return { isOld, readAgain: () => void queries.refetchQueries({ type: 'active', predicate: isOldRead }) }
}
