import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { runOptions } from '../../data/runs.ts'
import { Failure, Skeleton } from '../../parts/states.tsx'
import { navigate } from '../../router/location.ts'
import type { PathParams } from '../../router/match.ts'

/** Opens a run in its trace, for links that do not name the trace. */
export function RunLink({ params }: { params: PathParams }) {
  const { data: run, error, refetch } = useQuery(runOptions(params['id'] ?? ''))
  useEffect(() => {
    if (run !== undefined) navigate(`/traces/${run.trace_id}?run=${run.id}`, { replace: true })
  }, [run])
  return error === null ? <Skeleton /> : <Failure error={error} heading="h1" retry={() => void refetch()} />
}
