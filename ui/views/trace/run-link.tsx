import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ApiError } from '../../api/problem.ts'
import { runOptions } from '../../data/runs.ts'
import { Failure, Skeleton } from '../../parts/states.tsx'
import { navigate } from '../../router/location.ts'
import type { PathParams } from '../../router/match.ts'

/** A run can be read a moment after it has ended; a link to it may be opened before that. */
const [TRY_EVERY_MS, MOST_TRIES] = [1000, 60]

function isMissing(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 404
}

/**
 * Opens a run in its trace, for links that do not name the trace. A run that is not found is read again for a minute.
 */
export function RunLink({ params }: { params: PathParams }) {
  const {
    data: run,
    error,
    refetch,
  } = useQuery({
    ...runOptions(params['id'] ?? ''),
    refetchInterval: ({ state }) =>
      isMissing(state.error) && state.errorUpdateCount < MOST_TRIES && TRY_EVERY_MS,
  })
  useEffect(() => {
    if (run !== undefined) navigate(`/traces/${run.trace_id}?run=${run.id}`, { replace: true })
  }, [run])
  return error === null ? <Skeleton /> : <Failure error={error} heading="h1" retry={() => void refetch()} />
}
