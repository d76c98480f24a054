import type { SchemaTypes } from '../../schema/types.gen.ts'
import type { ApiClient } from './api-client.ts'

type ApiKey = SchemaTypes['api-key']

/**
 * Whether this is the only valid admin key of all workspaces, without which no keys could be created or revoked. Reads
 * the service keys and the tokens of every admin.
 */
export async function isLastAdminKey(api: Pick<ApiClient, 'json'>, key: ApiKey): Promise<boolean> {
  const now = Date.now()
  if (!isAdminKey(key, now)) return false
  const members = await api.json<SchemaTypes['member'][]>('/orgs/current/members')
  const paths = members
    .filter(({ role }) => role === 'admin')
    .map(({ user_id }) => `/orgs/current/personal-access-tokens?user_id=${user_id}`)
  for (const path of ['/orgs/current/service-keys', ...paths]) {
    const keys = await api.json<ApiKey[]>(path)
    if (keys.some((one) => one.id !== key.id && isAdminKey(one, now))) return false
  }
  return true
}

function isAdminKey({ role, read_only, workspaces, expires_at }: ApiKey, now: number): boolean {
  const isExpired = expires_at !== null && Date.parse(expires_at) <= now
  return role === 'admin' && !read_only && workspaces === null && !isExpired
}
