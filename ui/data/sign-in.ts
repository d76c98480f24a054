import { useQuery } from '@tanstack/react-query'
import { call, type Reply } from '../api/call.ts'

export type SignInWays = Reply<'GET /api/v1/auth/providers'>

/** The ways to sign in; read again while a provider cannot be reached. */
export function useSignInWays() {
  return useQuery({
    queryKey: ['sign-in-ways'],
    queryFn: ({ signal }) => call('GET /api/v1/auth/providers', { signal }),
    refetchInterval: ({ state }) =>
      state.data?.providers.some(({ available }) => !available) === true ? 10_000 : false,
  })
}
