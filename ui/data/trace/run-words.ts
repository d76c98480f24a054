import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { useMemo } from 'react'
import { call } from '../../api/call.ts'
import type { ListedRun } from '../run-pages.ts'

/** Rows whose words one request reads. */
const CHUNK = 50

/** What tells a run from others of its name: its error, the arguments of a tool, the first words of an answer. */
function wordsOf({ run_type, error, inputs_preview, outputs_preview }: ListedRun): string {
  if (typeof error === 'string' && error !== '') return error
  const [first, second] =
    run_type === 'llm' ? [outputs_preview, inputs_preview] : [inputs_preview, outputs_preview]
  return first || second || ''
}

const SELECT = ['id', 'run_type', 'error', 'inputs_preview', 'outputs_preview']

/**
 * Words of the runs of a list from one index to another, by id. They are read in chunks, as rows come into sight. With an
 * empty trace nothing is read.
 */
export function useRunWords(
  { trace, version, ids }: { trace: string; version: string; ids: readonly string[] },
  { from, to }: { from: number; to: number },
): ReadonlyMap<string, string> {
  const first = Math.floor(from / CHUNK)
  const chunks = Array.from({ length: Math.floor(to / CHUNK) - first + 1 }, (_, n) => first + n)
  const reads = useQueries({
    queries: chunks.map((chunk) => ({
      queryKey: ['run-words', trace, chunk, version],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const id = ids.slice(chunk * CHUNK, (chunk + 1) * CHUNK)
        const body = { trace, id, select: SELECT, limit: CHUNK }
        const { runs } = await call('POST /api/v1/runs/query', { body, signal })
        return runs.map((run) => [run.id, wordsOf(run)] as const)
      },
      enabled: trace !== '' && ids.length > 0,
      staleTime: Number.POSITIVE_INFINITY,
      placeholderData: keepPreviousData,
    })),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  })
  return useMemo(() => new Map(reads), [reads])
}
