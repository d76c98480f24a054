import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { call, callRaw } from '../../api/call.ts'

const PAUSE_MS = 250
const PAGE_SIZE = 100
/** Maximum number of pages that are read; runs beyond them are not found. */
const MOST_PAGES = 10

async function search(trace: string, text: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const body = {
      trace,
      query: text,
      select: ['id'],
      limit: PAGE_SIZE,
      ...(cursor !== undefined && { cursor }),
    }
    const { runs, cursors } = await call('POST /api/v1/runs/query', { body, signal })
    for (const { id } of runs) found.add(id)
    cursor = cursors.next ?? undefined
    if (cursor === undefined) break
  }
  return found
}

/**
 * Waits for a moment, because another key press would replace the search.
 * @throws if the request was aborted meanwhile
 */
async function pause(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  signal.throwIfAborted()
}

type Paths = ReadonlyMap<string, readonly string[]>

async function readPaths(trace: string, text: string, signal: AbortSignal): Promise<Paths> {
  const body = { query: text, limit: PAGE_SIZE }
  const found = await callRaw('POST /api/v1/traces/{trace_id}/search', {
    params: { trace_id: trace },
    body,
    signal,
  })
  const lines = (await found.text()).split('\n').filter((line) => line !== '')
  const runs = lines.map((line) => JSON.parse(line) as { run_id?: string; paths?: string[] })
  return new Map(runs.flatMap(({ run_id, paths }) => (run_id && paths ? [[run_id, paths] as const] : [])))
}

const NO_PATHS: Paths = new Map()

/**
 * Finds the paths at which the earliest 100 runs of a trace contain a text, e.g. `outputs.answer`. Empty without a text
 * or a trace.
 */
export function useFoundPaths(trace: string, text: string): Paths {
  const wanted = text.trim()
  const isAsked = wanted !== '' && trace !== ''
  const { data = NO_PATHS } = useQuery({
    queryKey: ['trace-search-paths', trace, wanted],
    queryFn: async ({ signal }) => {
      await pause(signal)
      return await readPaths(trace, wanted, signal)
    },
    enabled: isAsked,
  })
  return isAsked ? data : NO_PATHS
}

/** The results of a search so far. */
export interface TraceSearch {
  ids: ReadonlySet<string>
  isSearching: boolean
}

const NONE: ReadonlySet<string> = new Set()

/**
 * The runs of a trace whose inputs, outputs, errors or metadata contain a text, at most 1,000. Empty without
 * a text or a trace. The request is sent shortly after the last key press.
 */
export function useTraceSearch(trace: string, text: string): TraceSearch {
  const wanted = text.trim()
  const { data = NONE, isFetching } = useQuery({
    queryKey: ['trace-search', trace, wanted],
    queryFn: async ({ signal }) => {
      await pause(signal)
      return await search(trace, wanted, signal)
    },
    enabled: wanted !== '' && trace !== '',
    placeholderData: keepPreviousData,
  })
  return useMemo(
    () => ({ ids: wanted === '' ? NONE : data, isSearching: isFetching }),
    [wanted, data, isFetching],
  )
}
