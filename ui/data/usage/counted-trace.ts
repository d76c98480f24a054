import { useQuery } from '@tanstack/react-query'
import { call, type Reply } from '../../api/call.ts'
import { useSession } from '../session.ts'

/** A counted trace, with the operation that determines when it counts. */
export type CountedTrace = Reply<'GET /api/v1/orgs/current/billing/usage-traces'>['items'][number]

const DECIDED = {
  root: 'its root run',
  child: 'its earliest run; no root has come',
  unplaced: 'a run without a place in a tree',
  under_parent: 'a run below a parent of an unknown trace',
} as const

/** The event that determines when a trace counts, as text: `start of its root run`. */
export function reasonOf({ counted_by, time_source }: CountedTrace): string {
  const time = time_source === 'start_time' ? 'start of' : 'arrival of'
  return `${time} ${DECIDED[counted_by]}`
}

const DAY_MS = 86_400_000
/**
 * The end of the searched range lies this far ahead: a trace counts at most a day after its receipt, and the browser's
 * clock may be wrong by minutes.
 */
const AHEAD_MS = 2 * DAY_MS

/** Reads where a trace counts; null if it does not count. Nothing is read while the server does not count usage. */
export function useCountedTrace(trace_id: string) {
  const { data: session } = useSession()
  const workspace = session?.default_workspace_id ?? ''
  return useQuery({
    queryKey: ['counted-trace', workspace, trace_id],
    queryFn: async ({ signal }): Promise<CountedTrace | null> => {
      const query = {
        start_time: new Date(0).toISOString(),
        end_time: new Date(Date.now() + AHEAD_MS).toISOString(),
        workspace_ids: [workspace],
        trace_id,
      }
      const { items } = await call('GET /api/v1/orgs/current/billing/usage-traces', { query, signal })
      return items[0] ?? null
    },
    enabled: workspace !== '' && session?.features.usage === true,
  })
}

/** The UTC day that contains a time, as a range of a report. */
export function dayOf(time: string): { from: string; to: string } {
  const from = Math.floor(Date.parse(time) / DAY_MS) * DAY_MS
  return { from: new Date(from).toISOString(), to: new Date(from + DAY_MS).toISOString() }
}
