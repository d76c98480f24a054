import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { useSession } from '../session.ts'

const EVERY_MS = 10_000

/** The limits of the workspace, and what was refused because of them; read again every 10 s. */
export function useIngestLimits() {
  const id = useSession().data?.default_workspace_id ?? ''
  return useQuery({
    queryKey: ['ingest-limits', id],
    queryFn: ({ signal }) => call('GET /api/v1/workspaces/{id}/limits', { params: { id }, signal }),
    enabled: id !== '',
    refetchInterval: EVERY_MS,
  })
}
