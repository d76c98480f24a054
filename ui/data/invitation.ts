import { useMutation, useQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import type { InviteAccept } from '../api/platform.gen.ts'

/** What the link of an invitation is for. */
export function useInvitation(token: string) {
  return useQuery({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) => call('POST /api/v1/auth/invites', { body: { token }, signal }),
    retry: false,
    staleTime: Infinity,
  })
}

/** Accepts an invitation, which makes a member and its key. */
export function useAcceptance() {
  return useMutation({
    mutationFn: (body: InviteAccept) => call('POST /api/v1/auth/invites/accept', { body }),
  })
}
