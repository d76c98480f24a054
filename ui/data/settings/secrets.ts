import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import type { WorkspaceSecret } from '../../api/platform.gen.ts'
import { PROVIDERS_KEY } from '../playground/queries.ts'

const SECRETS = ['secrets'] as const

/** A secret to store. Without hosts, the stored hosts stay. */
export interface NewSecret {
  key: string
  value: string
  hosts: readonly string[]
}

/** The secrets of the workspace by name, without their values; requested only if `isAllowed`. */
export function useSecrets(isAllowed: boolean) {
  return useQuery({
    queryKey: SECRETS,
    queryFn: async ({ signal }): Promise<WorkspaceSecret[]> =>
      await call('GET /api/v1/workspaces/current/secrets', { signal }),
    enabled: isAllowed,
  })
}

/** Stores, replaces and deletes secrets. */
export function useSecretChanges() {
  const queries = useQueryClient()
  const onSuccess = async (): Promise<void> => {
    await Promise.all([SECRETS, PROVIDERS_KEY].map((queryKey) => queries.invalidateQueries({ queryKey })))
  }
  const put = useMutation({
    mutationFn: ({ key, value, hosts }: NewSecret) =>
      call('PUT /api/v1/workspaces/current/secrets/{key}', {
        params: { key },
        body: { value, ...(hosts.length > 0 && { hosts: [...hosts] }) },
      }),
    onSuccess,
    // The value must not stay in memory.
    gcTime: 0,
  })
  const remove = useMutation({
    mutationFn: (key: string) => call('DELETE /api/v1/workspaces/current/secrets/{key}', { params: { key } }),
    onSuccess,
  })
  return { put, remove }
}
