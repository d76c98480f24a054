import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { FRESH_MS } from './comments.ts'
import type { Person } from './mentions.ts'

/** The members of the workspace, by name; read only if they are wanted. */
export function usePeople(isWanted: boolean) {
  return useQuery({
    queryKey: ['people'],
    queryFn: async ({ signal }): Promise<Person[]> => {
      const { members } = await call('GET /api/v1/workspaces/current/members', { signal })
      return members
        .map(({ user_id, full_name, email }) => ({ id: user_id, name: full_name || email }))
        .toSorted((a, b) => a.name.localeCompare(b.name))
    },
    enabled: isWanted,
    staleTime: FRESH_MS,
  })
}

/** The comments that mention the user, newest first; read only for a signed-in member. */
export function useMentions(isMember: boolean) {
  return useQuery({
    queryKey: ['mentions'],
    queryFn: ({ signal }) => call('GET /api/v1/comments/mentions', { signal }),
    enabled: isMember,
    staleTime: FRESH_MS,
  })
}
