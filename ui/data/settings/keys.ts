import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import type { ApiKeyRead, PersonalTokenCreate, ServiceKeyCreate } from '../../api/platform.gen.ts'
import { readAll } from '../../api/all-pages.ts'
import { usePermission, useSession } from '../session.ts'
import type { Overriding } from './organization.ts'

/** Service keys belong to the organization, personal tokens to a user. */
export type KeyKind = 'service' | 'personal'

const KEYS = ['keys'] as const

/** The keys of a kind that are visible to the caller, newest first; requested only if `isAllowed`. */
export function useApiKeys(kind: KeyKind, isAllowed: boolean) {
  const path = kind === 'service' ? 'service-keys' : 'personal-access-tokens'
  return useQuery({
    queryKey: [...KEYS, kind],
    queryFn: ({ signal }) => readAll<ApiKeyRead>(`GET /api/v1/orgs/current/${path}`, { signal }),
    enabled: isAllowed,
  })
}

/** Creates and revokes keys of a kind. Only the response to `create` contains the key itself. */
export function useKeyChanges(kind: KeyKind) {
  const queries = useQueryClient()
  const onSuccess = async (): Promise<void> => await queries.invalidateQueries({ queryKey: KEYS })
  const create = useMutation({
    mutationFn: (body: ServiceKeyCreate & PersonalTokenCreate) =>
      kind === 'service'
        ? call('POST /api/v1/orgs/current/service-keys', { body })
        : call('POST /api/v1/orgs/current/personal-access-tokens', { body }),
    onSuccess,
    // The key itself must not stay in memory.
    gcTime: 0,
  })
  const revoke = useMutation({
    mutationFn: ({ id, override }: Overriding) =>
      kind === 'service'
        ? call('DELETE /api/v1/orgs/current/service-keys/{id}', { params: { id }, query: { override } })
        : call('DELETE /api/v1/orgs/current/personal-access-tokens/{id}', { params: { id } }),
    onSuccess,
  })
  return { create, revoke }
}

/**
 * A key for the snippets of an empty page. The key that somebody signed in with cannot be used, because the server has
 * only its hash.
 */
export interface SnippetKey {
  /** The server accepts requests without a key. */
  isNeedless: boolean
  /** The key, after `make`; it is only in memory, and is lost when the page is left. */
  text: string | undefined
  /** The reason why the caller may not make a key. */
  reason: string | undefined
  isBusy: boolean
  error: Error | null
  /** Makes a service key of the open workspace that may send and read traces. */
  make(): void
}

export function useSnippetKey(): SnippetKey {
  const { data: session } = useSession()
  const { reason } = usePermission('organization:manage')
  const { create } = useKeyChanges('service')
  const workspace = session?.default_workspace_id ?? session?.workspaces[0]?.id
  return {
    isNeedless: session?.auth === 'off',
    text: create.data?.key,
    reason,
    isBusy: create.isPending,
    error: create.error,
    make: () =>
      create.mutate({
        description: 'For the snippet of an empty page',
        role: 'user',
        ...(workspace !== undefined && { workspaces: [workspace] }),
      }),
  }
}
