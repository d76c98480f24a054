import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { readAll } from '../../api/all-pages.ts'
import { call } from '../../api/call.ts'
import type { Invite, InviteCreate } from '../../api/platform.gen.ts'

const INVITES = ['invites'] as const

/** The invitations that wait, oldest first; loaded only if `isAllowed`. */
export function useInvites(isAllowed: boolean) {
  return useQuery({
    queryKey: INVITES,
    queryFn: ({ signal }) => readAll<Invite>('GET /api/v1/orgs/current/invites', { signal }),
    enabled: isAllowed,
  })
}

/** Makes invitations and new links of them, and revokes them. */
export function useInviteChanges() {
  const queries = useQueryClient()
  const onSuccess = () => queries.invalidateQueries({ queryKey: INVITES })
  const create = useMutation({
    mutationFn: (body: InviteCreate) => call('POST /api/v1/orgs/current/invites', { body }),
    onSuccess,
  })
  const renew = useMutation({
    mutationFn: (id: string) => call('POST /api/v1/orgs/current/invites/{id}/renew', { params: { id } }),
    onSuccess,
  })
  const revoke = useMutation({
    mutationFn: (id: string) => call('DELETE /api/v1/orgs/current/invites/{id}', { params: { id } }),
    onSuccess,
  })
  return { create, renew, revoke }
}
