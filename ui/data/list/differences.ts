import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import type { RunQuery } from '../run-pages.ts'
import { listBody } from '../runs.ts'
import type { TimeSpan } from './compared-range.ts'

/** The runs that are compared with the others of a list. */
export type Compared = { ids: readonly string[] } | TimeSpan

/** The values by which some runs of a list differ from the others. */
export function useDifferences(query: RunQuery, compared: Compared) {
  const { order_by: _by, order: _order, ...list } = listBody(query)
  const selected =
    'ids' in compared
      ? { selected: [...compared.ids] }
      : { selected_start_time: compared.since, selected_end_time: compared.until }
  const body = { ...list, ...selected }
  return useQuery({
    queryKey: ['differences', body],
    queryFn: ({ signal }) => call('POST /api/v1/runs/differences', { body, signal }),
  })
}
