import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { call } from '../../api/call.ts'
import type { Figures } from '../overview/figures.ts'
import type { RunQuery } from '../run-pages.ts'
import { listBody, useRuns } from '../runs.ts'

/** Figures of all runs of a list; those of traces are figures of whole traces. */
async function readFigures(query: RunQuery, signal: AbortSignal): Promise<Figures> {
  const { order_by: _by, order: _order, ...body } = listBody(query)
  return (await call('POST /api/v1/runs/stats', { body, signal })) as Figures
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
