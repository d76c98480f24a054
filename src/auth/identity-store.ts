import type { KeyGrant } from './principal.ts'

/** The payer: owns workspaces and keys. */
export interface Organization {
  id: string
  display_name: string
  /** Epoch milliseconds. */
  created_at: number
}

/** A tenant: traces, projects and keys of one workspace are never seen from another. */
export interface Workspace {
  id: string
  organization_id: string
  display_name: string
  /** Epoch milliseconds. */
  created_at: number
}

/** A key as stored: the key itself is never kept, only its SHA-256. */
export interface StoredKey {
  id: string
  /** SHA-256, hex. */
  key_hash: string
  short_key: string
  description: string
}

/** All that the first start creates, in one transaction. */
export interface FirstIdentity {
  organization: Organization
  workspace: Workspace
  user: { id: string; email: string; full_name: string }
  key: StoredKey
}

/** Organizations, workspaces and keys. */
export interface IdentityStore {
  /** Stores the first organization with its workspace, admin and key; false if there is one already. */
  createFirst(identity: FirstIdentity): Promise<boolean>
  /** The organization of a single-organization installation; undefined before the first start. */
  firstOrganization(): Promise<Organization | undefined>
  organization(id: string): Promise<Organization | undefined>
  /** Oldest first, deleted ones left out. */
  workspaces(organization_id: string): Promise<Workspace[]>
  /** The grant of the key with this hash, deleted keys left out. `key_hash` is as stored, to be compared again. */
  findKey(key_hash: string): Promise<{ key_hash: string; grant: KeyGrant } | undefined>
  /** The grant of the organization's oldest admin key that still stands: who requests act for when AUTH is off. */
  adminGrant(organization_id: string): Promise<KeyGrant | undefined>
  /** Remembers that the key was used; `at` in epoch milliseconds. */
  touchKey(api_key_id: string, at: number): Promise<void>
}
