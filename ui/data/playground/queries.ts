import { queryOptions, useQuery } from '@tanstack/react-query'
import { call, type Reply } from '../../api/call.ts'

/** Key of cached data that depends on which secrets are set. */
export const PROVIDERS_KEY = ['playground-models'] as const

/** A kind of API with its models and whether its secret is set. */
export type KnownProvider = Reply<'GET /api/v1/playground/models'>['providers'][number]

export function useProviders(isAllowed: boolean) {
  return useQuery({
    queryKey: PROVIDERS_KEY,
    queryFn: async ({ signal }) => (await call('GET /api/v1/playground/models', { signal })).providers,
    enabled: isAllowed,
  })
}

const LOOK_MS = 400
const MAX_LOOKS = 50

/** The traced run of a call that has ended; read again until it is stored completely. */
export function tracedOptions(id: string, hasEnded: boolean) {
  return queryOptions({
    queryKey: ['playground-run', id],
    queryFn: ({ signal }) =>
      call('GET /api/v1/runs/{id}', { params: { id }, query: { media: 'refs' }, signal }),
    enabled: id !== '' && hasEnded,
    retry: MAX_LOOKS,
    retryDelay: LOOK_MS,
    refetchInterval: ({ state: { data, dataUpdateCount } }) =>
      data?.status === 'pending' && dataUpdateCount < MAX_LOOKS ? LOOK_MS : false,
  })
}
