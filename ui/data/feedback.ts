import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, callRaw, readAnswer, type Reply } from '../api/call.ts'

/** A feedback record of a run. */
export type Feedback = Reply<'GET /api/v1/feedback'>[number]

/** The content of a feedback record; null clears a field. */
export interface Judgement {
  score: number | null
  value: string | null
  comment: string | null
  correction: unknown
}

const MOST = 100

const keyOf = (run_id: string) => ['feedback', run_id] as const

/** The feedback of a run, newest first, in pages of 100. */
export function useFeedback(run_id: string) {
  return useInfiniteQuery({
    queryKey: keyOf(run_id),
    queryFn: async ({ signal, pageParam: offset }) => {
      const query = { run: [run_id], limit: MOST, offset }
      const response = await callRaw('GET /api/v1/feedback', { query, signal })
      const next = response.headers.get('x-pagination-next')
      return { rows: (await readAnswer(response)) as Feedback[], next }
    },
    initialPageParam: 0,
    getNextPageParam: ({ next }) => (next === null ? undefined : Number(next)),
  })
}

export function useFeedbackKeys(isWanted: boolean) {
  return useQuery({
    queryKey: ['feedback-keys'],
    queryFn: async ({ signal }) => {
      const configs = await call('GET /api/v1/feedback-configs', { query: { limit: MOST }, signal })
      return configs.map(({ feedback_key }) => feedback_key)
    },
    enabled: isWanted,
  })
}

/** Adds, changes and deletes feedback of a run; the list is read again afterwards. */
export function useFeedbackChanges(run_id: string) {
  const queries = useQueryClient()
  const onSuccess = async (): Promise<void> => {
    // Lists of runs show feedback in a column, so they are read again too.
    void queries.invalidateQueries({ queryKey: ['runs'] })
    await queries.invalidateQueries({ queryKey: keyOf(run_id) })
  }
  const add = useMutation({
    mutationFn: ({ key, judgement }: { key: string; judgement: Judgement }) =>
      call('POST /api/v1/feedback', { body: { run_id, key, ...toBody(judgement) } }),
    onSuccess,
  })
  const change = useMutation({
    mutationFn: ({ id, judgement }: { id: string; judgement: Judgement }) =>
      call('PATCH /api/v1/feedback/{id}', { params: { id }, body: toBody(judgement) }),
    onSuccess,
  })
  const remove = useMutation({
    mutationFn: (id: string) => call('DELETE /api/v1/feedback/{id}', { params: { id } }),
    onSuccess,
  })
  return { add, change, remove }
}

function toBody({ correction, ...judgement }: Judgement) {
  return { ...judgement, correction: correction as string | null }
}
