import { useQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import { ApiError } from '../api/problem.ts'
import { useSession } from './session.ts'

/** A workspace that the caller may use. */
export interface Workspace {
  id: string
  display_name: string
}

/** The record that a page shows, if it belongs to one workspace. */
export interface Owned {
  kind: 'trace' | 'project'
  id: string
}

/** Maximum number of workspaces that are searched: each search is a request. */
const MAX_SEARCHED = 20

/** Whether the workspace has the record. Without `workspace`, the request goes to the workspace of the address. */
async function has(
  { kind, id }: Owned,
  workspace: string | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const sent = { signal, ...(workspace !== undefined && { workspace }) }
  if (kind === 'trace') {
    const { runs } = await call('POST /api/v1/runs/query', {
      ...sent,
      body: { trace: id, limit: 1, select: ['id'] },
    })
    return runs.length > 0
  }
  try {
    await call('GET /api/v1/sessions/{id}', { ...sent, params: { id }, query: { include_stats: false } })
    return true
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 422)) return false
    throw error
  }
}

/**
 * The other workspace that has the record of the page. Null if the current workspace has it, or if no searched
 * workspace has it.
 */
export function useOwner(owned: Owned | undefined) {
  const { data: session } = useSession()
  const others = (session?.workspaces ?? []).filter(({ id }) => id !== session?.default_workspace_id)
  return useQuery({
    queryKey: ['owner', owned?.kind, owned?.id],
    queryFn: async ({ signal }): Promise<Workspace | null> => {
      if (owned === undefined || (await has(owned, undefined, signal))) return null
      for (const other of others.slice(0, MAX_SEARCHED)) if (await has(owned, other.id, signal)) return other
      return null
    },
    enabled: owned !== undefined && others.length > 0,
    staleTime: 60_000,
  })
}
