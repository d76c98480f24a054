import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call, callRaw } from '../api/call.ts'
import { ApiError } from '../api/problem.ts'
import { type Outline, readOutline } from './outline.ts'
import { readAfterChange } from './live/read-after-change.ts'
import { useLive } from './live/use-live.ts'
import type { ReadRun } from './runs.ts'

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

/** The outline of a trace, and its changes as they happen. */
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

/** The id of the trace before or after that of a root, by start; undefined when there is none. */
export async function neighbourTrace(root: ReadRun, step: 'older' | 'newer'): Promise<string | undefined> {
  const { session_id, start_time, trace_id } = root
  if (session_id === undefined || start_time === null) return undefined
  const range =
    step === 'older'
      ? { end_time: start_time, order: 'desc' as const }
      : { start_time, order: 'asc' as const }
  const body = { session: [session_id], is_root: true, select: ['id', 'trace_id'], limit: 3, ...range }
  const { runs } = await call('POST /api/v1/runs/query', { body })
  return runs.find((run) => run.trace_id !== trace_id)?.trace_id
}
