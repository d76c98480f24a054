import { useQuery, useQueryClient } from '@tanstack/react-query'
import { callRaw } from '../api/call.ts'
import { ApiError } from '../api/problem.ts'
import { type Outline, readOutline } from './outline.ts'
import { readAfterChange } from './live/read-after-change.ts'
import { useLive } from './live/use-live.ts'

const MAX_TRIES = 3
const TRY_EVERY_MS = 1000

async function askOutline(
  trace_id: string,
  known: Outline | undefined,
  signal: AbortSignal,
): Promise<Outline> {
  const query = { view: 'outline', after: known?.version }
  const sent = { params: { trace_id }, query, signal }
  const response = await callRaw('GET /api/v1/traces/{trace_id}', sent)
  return readOutline(await response.text(), known) ?? (await askOutline(trace_id, undefined, signal))
}

/** A trace can be read about a second after it was sent; a link to it may be opened before that. */
function mayComeYet(failures: number, error: Error): boolean {
  const isMissing = error instanceof ApiError && error.status === 404
  return failures < MAX_TRIES && (isMissing || (error instanceof ApiError && error.status === 503))
}

/** The outline of a trace, without updates. With an empty id nothing is loaded. */
export function useStillOutline(trace_id: string) {
  const queries = useQueryClient()
  const queryKey = ['outline', trace_id]
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => askOutline(trace_id, queries.getQueryData<Outline>(queryKey), signal),
    retry: mayComeYet,
    retryDelay: TRY_EVERY_MS,
    enabled: trace_id !== '',
  })
}

export function useOutline(trace_id: string) {
  const queries = useQueryClient()
  const queryKey = ['outline', trace_id]
  const outline = useStillOutline(trace_id)
  const changed = (): void => void readAfterChange(queries, { queryKey })
  useLive([`trace:${trace_id}`], {
    open: changed,
    runs: (runs) => {
      changed()
      for (const { run_id } of runs) void queries.invalidateQueries({ queryKey: ['run', run_id] })
    },
  })
  return outline
}
