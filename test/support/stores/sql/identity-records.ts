import type { Actor, ApiKey, FirstIdentity, Member } from '../../../../src/identity/identity-store.ts'

/** The first organization, with its admin `u1` and the admin's key `k1` with hash `h1`. */
export const FIRST: FirstIdentity = {
  organization: { id: 'o1', display_name: 'Org', created_at: 10 },
  workspace: { id: 'w1', organization_id: 'o1', display_name: 'Default', created_at: 10 },
  user: { id: 'u1', email: 'a@b', full_name: 'A' },
  key: { id: 'k1', key_hash: 'h1', short_key: 'abcd...wxyz', description: 'first' },
}
/** The author of the changes: the first admin. */
export const ACTOR: Actor = { api_key_id: 'k1', short_key: 'abcd...wxyz', user_id: 'u1', at: 50 }
/** A service key of all workspaces. */
export const KEY: ApiKey & { key_hash: string } = {
  id: 'k2',
  organization_id: 'o1',
  key_hash: 'h2',
  short_key: 's2',
  description: 'second',
  user_id: null,
  role: 'user',
  read_only: false,
  workspace_ids: null,
  default_workspace_id: null,
  created_at: 20,
  expires_at: null,
  last_used_at: null,
}
/** A member of all workspaces. */
export const MEMBER: Member = {
  organization_id: 'o1',
  user_id: 'u2',
  email: 'Bea@Example.ORG',
  full_name: 'Bea',
  role: 'user',
  workspace_ids: null,
  created_at: 30,
}
