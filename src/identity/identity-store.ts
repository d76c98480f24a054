import type { Role } from './permissions.ts'
import type { KeyGrant } from './principal.ts'

/** An organization, to which workspaces and keys belong. */
export interface Organization {
  id: string
  display_name: string
  /** Epoch milliseconds. */
  created_at: number
}

/** A tenant: traces, projects and keys of one workspace are never visible in another. */
export interface Workspace {
  id: string
  organization_id: string
  display_name: string
  /** Epoch milliseconds. */
  created_at: number
}

export interface Member {
  organization_id: string
  user_id: string
  /** In lower case; a user has the same email in all organizations. */
  email: string
  full_name: string | null
  role: Role
  /** Null = every workspace, also later ones. */
  workspace_ids: string[] | null
  /** Who has ended the member's access: its groups at a sign-in, or SCIM; undefined for a member with access. */
  suspended?: 'groups' | 'scim'
  /** Whether only the member itself said the address, so that nobody is recognised by it. */
  email_claimed?: boolean
  /** Epoch milliseconds. */
  created_at: number
}

/** A key as stored, with only its SHA-256 instead of the key itself. */
export interface StoredKey {
  id: string
  /** SHA-256, hex. */
  key_hash: string
  short_key: string
  description: string
}

export interface ApiKey extends Omit<StoredKey, 'key_hash'> {
  organization_id: string
  /** The user of the key; null for a service key. */
  user_id: string | null
  role: Role
  read_only: boolean
  /** Null = every workspace, also later ones. */
  workspace_ids: string[] | null
  default_workspace_id: string | null
  /** Epoch milliseconds. */
  created_at: number
  expires_at: number | null
  last_used_at: number | null
}

/** All records that the first start creates, in one transaction. */
export interface FirstIdentity {
  organization: Organization
  workspace: Workspace
  user: { id: string; email: string; full_name: string }
  key: StoredKey
}

/** The author of a change, for the audit. */
export interface Actor {
  /** As in Principal: the member's id without a key, and the nil UUID for nobody. */
  api_key_id: string
  /** Empty without a key. */
  short_key: string
  user_id: string | null
  /** Epoch milliseconds. */
  at: number
}

/** Selects a page of the audit: the entries that satisfy all given conditions. */
export interface AuditQuery {
  limit: number
  /** Only entries older than the one with this id. */
  before?: string
  /** A whole action, such as `member.add`, or its first part, `member`. */
  action?: string
  /** Only these whole actions. */
  actions?: readonly string[]
  /** The user or the API key that made the changes, by id. */
  actor?: string
  subject_id?: string
  /** Epoch milliseconds; the end is not included. */
  from?: number
  to?: number
}

/** Selects entries of the audit for an export, oldest first. */
export interface AuditSpan {
  /** Only entries after this one, by its number; 0 for all. */
  after: number
  /** Only entries up to the one with this id. */
  last: string
  limit: number
  /** Epoch milliseconds; the end is not included. */
  from?: number
  to?: number
}

/** One change of workspaces, members, keys or roles; written in the transaction of the change. */
export interface AuditEntry {
  id: string
  organization_id: string
  /** Epoch milliseconds. */
  at: number
  actor_api_key_id: string
  actor_short_key: string
  actor_user_id: string | null
  /** E.g. `member.add`, `member.change`, `key.create`, `key.delete`, `workspace.create`. */
  action: string
  subject_id: string
  /** The old and new values; never a key or its hash. */
  details: Record<string, unknown>
}

/** Organizations, workspaces, members, keys, and the audit of their changes. */
export interface IdentityStore {
  /**
   * Stores the first organization with its workspace, admin and key; returns false if there is an organization already.
   */
  createFirst(identity: FirstIdentity): Promise<boolean>
  /** The organization of a single-organization installation; undefined before the first start. */
  firstOrganization(): Promise<Organization | undefined>
  organization(id: string): Promise<Organization | undefined>

  /** Workspaces that are not deleted, oldest first. */
  workspaces(organization_id: string): Promise<Workspace[]>
  /** @throws AppError conflict when the id is taken */
  createWorkspace(workspace: Workspace, actor: Actor): Promise<void>
  /** Renames a workspace; returns undefined if the organization has none with that id. */
  renameWorkspace(
    organization_id: string,
    id: string,
    display_name: string,
    actor: Actor,
  ): Promise<Workspace | undefined>
  /**
   * Deletes the workspace, which can then no longer be read or written; its traces are kept. Returns false if there is
   * none with that id. @throws AppError conflict for the last workspace of the organization
   */
  deleteWorkspace(organization_id: string, id: string, actor: Actor): Promise<boolean>

  /** Oldest first. */
  members(organization_id: string): Promise<Member[]>
  /**
   * Adds a member. An existing user with that email is used, and keeps the name. @throws AppError conflict when that
   * user is already a member, invalid_request when a workspace belongs to another organization
   */
  addMember(member: Member, actor: Actor): Promise<Member>
  /**
   * Changes a member; returns undefined if there is no such member. @throws AppError conflict when the organization
   * would be left without an admin of all workspaces, invalid_request when a workspace belongs to another organization
   */
  changeMember(
    organization_id: string,
    user_id: string,
    change: Partial<Pick<Member, 'full_name' | 'role' | 'workspace_ids'>>,
    actor: Actor,
  ): Promise<Member | undefined>
  /**
   * Ends the membership and deletes the member's personal keys; returns their ids, or undefined if there is no such
   * member. @throws AppError conflict when the organization would be left without an admin of all workspaces
   */
  removeMember(organization_id: string, user_id: string, actor: Actor): Promise<string[] | undefined>

  /** Keys that are not deleted, newest first. */
  apiKeys(organization_id: string, kind: 'personal' | 'service'): Promise<ApiKey[]>
  /**
   * Stores a key. Returns false, and stores nothing, if the short key is taken in the organization, so that another key
   * must be generated (D-7).
   * @throws AppError invalid_request when the user is not a member, or a workspace belongs to another organization
   */
  createKey(key: ApiKey & { key_hash: string }, actor: Actor): Promise<boolean>
  /**
   * Deletes the key, which is then refused, but stays in reports. Returns false if there is none with that id and kind.
   */
  deleteKey(organization_id: string, kind: 'personal' | 'service', id: string, actor: Actor): Promise<boolean>
  /**
   * The grant of the key with this hash, unless the key is deleted. `key_hash` is the stored hash, which the caller
   * compares again.
   */
  findKey(key_hash: string): Promise<{ key_hash: string; grant: KeyGrant } | undefined>
  /**
   * The grant for AUTH=off: that of the organization's oldest admin key of all workspaces that never expires. If
   * there is no such key, that of the admin key of all workspaces that expires last; it may have expired already.
   */
  adminGrant(organization_id: string): Promise<KeyGrant | undefined>
  /** Records the last use of the key, to the minute; `at` in epoch milliseconds. */
  touchKey(api_key_id: string, at: number): Promise<void>

  /** Names for reports, including those of deleted records: workspaces, users' emails and short keys by id. */
  names(organization_id: string): Promise<{
    workspaces: Map<string, string>
    emails: Map<string, string>
    short_keys: Map<string, string>
  }>
  /** Newest first. */
  audit(organization_id: string, query: AuditQuery): Promise<AuditEntry[]>
  /** Oldest first, each with its number. Numbers rise in the order in which the entries were written. */
  auditSpan(organization_id: string, span: AuditSpan): Promise<(AuditEntry & { seq: number })[]>
  /** Records a change that another store makes. */
  recordChange(
    change: Pick<AuditEntry, 'organization_id' | 'action' | 'subject_id' | 'details'>,
    actor: Actor,
  ): Promise<void>
}
