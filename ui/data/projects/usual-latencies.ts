import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import type { TraceRunFiguresRead } from '../../api/platform.gen.ts'

const DAYS = 7
const DAY_MS = 86_400_000
const FRESH_MS = 300_000
/** Maximum number of groups in a response of the server. */
const MOST_NAMES = 100

/**
 * The median latency in seconds of a project's runs of the last seven days, by their name. It has only the 100 names
 * with the most runs.
 */
export function useUsualLatencies(project: string) {
  return useQuery({
    queryKey: ['usual-latencies', project],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, number>> => {
      const body = {
        session: [project],
        start_time: new Date(Date.now() - DAYS * DAY_MS).toISOString(),
        group_by: { attribute: 'name' as const, max_groups: MOST_NAMES },
      }
      const stats = await call('POST /api/v1/runs/stats', { body, signal })
      const figures = Object.entries(stats as Record<string, TraceRunFiguresRead>)
      return new Map(figures.flatMap(([name, { latency_p50: p50 }]) => (p50 === null ? [] : [[name, p50]])))
    },
    enabled: project !== '',
    staleTime: FRESH_MS,
  })
}
