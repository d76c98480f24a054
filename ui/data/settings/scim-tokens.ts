import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import type { ScimTokenCreate } from '../../api/platform.gen.ts'

const TOKENS = ['scim-tokens'] as const

/** The tokens of SCIM, oldest first; loaded only if `isAllowed`. */
export function useScimTokens(isAllowed: boolean) {
  return useQuery({
    queryKey: TOKENS,
    queryFn: ({ signal }) => call('GET /api/v1/orgs/current/scim-tokens', { signal }),
    enabled: isAllowed,
  })
}

/** Makes and deletes tokens of SCIM. Only the response to `create` contains the token itself. */
export function useScimTokenChanges() {
  const queries = useQueryClient()
  const onSuccess = () => queries.invalidateQueries({ queryKey: TOKENS })
  const create = useMutation({
    mutationFn: (body: ScimTokenCreate) => call('POST /api/v1/orgs/current/scim-tokens', { body }),
    onSuccess,
    // The token itself must not stay in memory.
    gcTime: 0,
  })
  const remove = useMutation({
    mutationFn: (id: string) => call('DELETE /api/v1/orgs/current/scim-tokens/{id}', { params: { id } }),
    onSuccess,
  })
  return { create, remove }
}
