import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, type Reply } from '../api/call.ts'
import { ApiError } from '../api/problem.ts'
import type { TraceRunPublicSelect } from '../api/platform.gen.ts'
import { outlineOfRuns } from './outline.ts'

const SELECTS: TraceRunPublicSelect[] = [
  'ID',
  'NAME',
  'RUN_TYPE',
  'STATUS',
  'START_TIME',
  'END_TIME',
  'FIRST_TOKEN_TIME',
  'PARENT_RUN_ID',
  'TOTAL_TOKENS',
  'TOTAL_COST',
  'TRACE_ID',
]

type Share = Reply<'PUT /api/v1/runs/{id}/share'>

/** Figures of the root; undefined for a shared thread. */
async function totalsOf(token: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  try {
    const root = await call('GET /api/v1/public/{token}/run', { params: { token }, signal })
    return {
      total_tokens: root.total_tokens,
      total_cost: root.total_cost,
      estimated_cost: root.estimated_cost,
    }
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return {}
    throw error
  }
}

/** The outline of a shared trace, or of all traces of a shared thread. Needs no session. */
export function useSharedOutline(token: string) {
  return useQuery({
    queryKey: ['shared-outline', token],
    queryFn: async ({ signal }) => {
      const body = { selects: SELECTS }
      const { items } = await call('POST /api/v2/public/{token}/runs/query', {
        params: { token },
        body,
        signal,
      })
      const totals = await totalsOf(token, signal)
      const llm_runs = items.filter(({ run_type }) => run_type === 'LLM').length
      const error_runs = items.filter(({ status }) => status === 'ERROR').length
      return outlineOfRuns(items, { ...totals, llm_runs, error_runs })
    },
  })
}

/** Whether the trace of a run is shared, and the functions that share it and end the share. */
export function useShare(run_id: string) {
  const queries = useQueryClient()
  const queryKey = ['share', run_id]
  const params = { id: run_id }
  const found = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<Share | null> =>
      await call('GET /api/v1/runs/{id}/share', { params, signal }),
  })
  const keep = (share: Share | null): void => void queries.setQueryData(queryKey, share)
  /** Makes the share, or changes when it ends: ISO 8601, null for never. */
  const share = useMutation({
    mutationFn: (expires_at: string | null) =>
      call('PUT /api/v1/runs/{id}/share', { params, body: { expires_at } }),
    onSuccess: keep,
  })
  const end = useMutation({
    mutationFn: () => call('DELETE /api/v1/runs/{id}/share', { params }),
    onSuccess: () => keep(null),
  })
  return { found, share, end }
}
