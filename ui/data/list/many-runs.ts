import { useMutation, useQueryClient } from '@tanstack/react-query'
import { call, callRaw } from '../../api/call.ts'
import type { ListedRun, RunQuery } from '../run-pages.ts'
import { changePages, listBody } from '../runs.ts'

/** Deletes whole traces; the rows of a list are taken out of it at once. */
export function useTraceDeletion(project: string, query?: RunQuery) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (trace_ids: readonly string[]) =>
      call('POST /api/v1/runs/delete/traces', { body: { session_id: project, trace_ids: [...trace_ids] } }),
    onSuccess: (_jobs, trace_ids) => {
      const isKept = ({ trace_id }: ListedRun): boolean => !trace_ids.includes(trace_id)
      if (query !== undefined)
        changePages(queries, query, (pages) => ({
          ...pages,
          pages: pages.pages.map((page) => ({ ...page, runs: page.runs.filter(isKept) })),
        }))
      void queries.invalidateQueries({ queryKey: ['list-figures'] })
    },
  })
}

/** Requests that are made at a time. */
const AT_ONCE = 4

/** Feedback that is given to several runs. */
interface SharedFeedback {
  key: string
  score: number | null
  comment: string | null
}

/** Gives the same feedback to several runs. @throws ApiError of the first that fails; those before it have it then */
export function useSharedFeedback() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ runs, ...feedback }: SharedFeedback & { runs: readonly string[] }) => {
      const waiting = [...runs]
      const work = async (): Promise<void> => {
        for (let run_id = waiting.shift(); run_id !== undefined; run_id = waiting.shift())
          await call('POST /api/v1/feedback', { body: { run_id, ...feedback } })
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
    },
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ['runs'] })
      void queries.invalidateQueries({ queryKey: ['feedback'] })
    },
  })
}

export const EXPORT_FORMATS = ['csv', 'jsonl', 'parquet'] as const

/** A file of runs. */
interface RunFile {
  query: RunQuery
  /** Only these runs of the list; empty for all of them. */
  ids: readonly string[]
  format: (typeof EXPORT_FORMATS)[number]
  /** Whether the file has whole inputs and outputs. */
  payloads: boolean
}

/** Number of runs after which a file ends: whole payloads would fill the memory of the browser. */
export const MOST_EXPORTED = { lean: 100_000, whole: 10_000 }

/** Reads a file of runs. The request has the workspace of the page, which a link could not name. */
export async function readRunFile({ query, ids, format, payloads }: RunFile): Promise<Blob> {
  const { session, ...list } = listBody(query)
  const answer = await callRaw('GET /api/v1/runs/export', {
    query: {
      ...list,
      session,
      format,
      payloads,
      limit: payloads ? MOST_EXPORTED.whole : MOST_EXPORTED.lean,
      ...(ids.length > 0 && { id: ids }),
    },
  })
  return await answer.blob()
}
