import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { readAfterChange } from '../live/read-after-change.ts'
import { useLiveRefresh } from '../live/use-live.ts'

/** Marks the reads that are repeated when the server reports a change of deployments or of their runs. */
export const LIVE = { isLive: true } as const
/** Pause between reads without a report of a change: some changes are not reported, and the stream may be broken. */
export const FALLBACK_MS = 10_000
const PAUSE_MS = 1000

/** Id of the project with the traces of a deployment, which exists after its first run. */
function useProjectOf(name: string | undefined): string | undefined {
  const { data } = useQuery({
    queryKey: ['project-of-deployment', name],
    queryFn: async ({ signal }) => {
      const found = await call('GET /api/v1/sessions', { query: { name, limit: 1 }, signal })
      return found[0]?.id ?? null
    },
    enabled: name !== undefined,
    refetchInterval: ({ state: { data: id } }) => (typeof id === 'string' ? false : FALLBACK_MS),
  })
  return data ?? undefined
}

/**
 * Repeats the reads of deployments on the page after changes of deployments and revisions. For the deployment `name`,
 * also after changes of its runs, which are traced in the project of this name.
 */
export function useLiveDeployments(name?: string): void {
  const queries = useQueryClient()
  const project = useProjectOf(name)
  const topics = ['deployments', ...(project === undefined ? [] : [`project:${project}`])]
  const isLive = ({ meta }: { meta: Record<string, unknown> | undefined }): boolean =>
    meta?.['isLive'] === true
  const refresh = (): void => void readAfterChange(queries, { predicate: isLive })
  useLiveRefresh(topics, refresh, PAUSE_MS)
}
