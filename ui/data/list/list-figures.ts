import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { call } from '../../api/call.ts'
import { joinFilter, splitFilter } from '../filter/filter.ts'
import type { Figures } from '../overview/figures.ts'
import type { RunQuery } from '../run-pages.ts'
import { listBody, useRuns } from '../runs.ts'

/** Model calls with tokens and without a price. */
const UNPRICED = 'eq(issue, "no_price")'

/** Figures of all runs of a list; those of traces are figures of whole traces. */
interface ListFigures {
  figures: Figures
  /** Whether the cost leaves out calls without a price. */
  isPartial: boolean
}

/** The list of the calls without a price in a list of runs, or in its traces. */
function unpricedBody({ filter, isRoot, ...query }: RunQuery) {
  const { filter: _filter, is_root: _root, ...range } = listBody({ ...query, filter: '', isRoot: false })
  if (!isRoot) return { ...range, filter: joinFilter([...splitFilter(filter), UNPRICED]) }
  return { ...range, filter: UNPRICED, ...(filter !== '' && { trace_filter: filter }) }
}

async function readFigures(query: RunQuery, signal: AbortSignal): Promise<ListFigures> {
  const { order_by: _by, order: _order, ...body } = listBody(query)
  const [figures, unpriced] = await Promise.all([
    call('POST /api/v1/runs/stats', { body, signal }) as Promise<Figures>,
    call('POST /api/v1/runs/query', { body: { ...unpricedBody(query), select: ['id'], limit: 1 }, signal }),
  ])
  return { figures, isPartial: unpriced.runs.length > 0 }
}

const READ_EVERY_MS = 30_000
/** Pause between a change of the list and the read of the figures, which are sums over many runs. */
const CHANGED_MS = 5000

/**
 * The figures of a list, once the list has been read; read again every 30 s, and within five seconds after the list has
 * changed.
 */
export function useListFigures(query: RunQuery) {
  const { isPending, dataUpdatedAt } = useRuns(query)
  const figures = useQuery({
    queryKey: ['list-figures', { ...query, sort: undefined }],
    queryFn: ({ signal }) => readFigures(query, signal),
    enabled: !isPending,
    placeholderData: keepPreviousData,
    refetchInterval: READ_EVERY_MS,
  })
  const { refetch, dataUpdatedAt: readAt } = figures
  const isOld = readAt > 0 && dataUpdatedAt > readAt
  useEffect(() => {
    if (!isOld) return undefined
    const timer = setTimeout(() => void refetch({ cancelRefetch: false }), CHANGED_MS)
    return () => clearTimeout(timer)
  }, [isOld, refetch])
  return figures
}
