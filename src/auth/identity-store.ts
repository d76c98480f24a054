import type { Role } from './permissions.ts'
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

/** A user of an organization. */
export interface Member {
  organization_id: string
  user_id: string
  /** Lower case; one user has one, in all organizations. */
  email: string
  full_name: string | null
  role: Role
  /** Null = every workspace, also later ones. */
  workspace_ids: string[] | null
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

/** A key as listed. */
export interface ApiKey extends Omit<StoredKey, 'key_hash'> {
  organization_id: string
  /** Null for a service key, else whom it acts for. */
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

/** All that the first start creates, in one transaction. */
export interface FirstIdentity {
  organization: Organization
  workspace: Workspace
  user: { id: string; email: string; full_name: string }
  key: StoredKey
}

/** Who makes a change, for the audit. */
export interface Actor {
  api_key_id: string
  short_key: string
  user_id: string | null
  /** Epoch milliseconds. */
  at: number
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
  /** What was changed to what; never a key or its hash. */
  details: Record<string, unknown>
}

/** Organizations, workspaces, members, keys, and who changed them. */
export interface IdentityStore {
  /** Stores the first organization with its workspace, admin and key; false if there is one already. */
  createFirst(identity: FirstIdentity): Promise<boolean>
  /** The organization of a single-organization installation; undefined before the first start. */
  firstOrganization(): Promise<Organization | undefined>
  organization(id: string): Promise<Organization | undefined>

  /** Oldest first, deleted ones left out. */
  workspaces(organization_id: string): Promise<Workspace[]>
  /** @throws AppError conflict when the id is taken */
  createWorkspace(workspace: Workspace, actor: Actor): Promise<void>
  /** Undefined when the organization has none of that id. */
  renameWorkspace(
    organization_id: string,
    id: string,
    display_name: string,
    actor: Actor,
  ): Promise<Workspace | undefined>
  /**
   * From now on nobody reads or writes it; its traces stay where they are. False when there is none of that id.
   * @throws AppError conflict for the last workspace of the organization
   */
  deleteWorkspace(organization_id: string, id: string, actor: Actor): Promise<boolean>

  /** Oldest first. */
  members(organization_id: string): Promise<Member[]>
  /**
   * Takes the user of that email if there is one, whose name stays.
   * @throws AppError conflict when that user is a member already, invalid_request when a workspace is not one of the
   * organization's
   */
  addMember(member: Member, actor: Actor): Promise<Member>
  /**
   * Undefined when there is no such member.
   * @throws AppError conflict when the organization would be left without an admin of all workspaces, invalid_request
   * when a workspace is not one of the organization's
   */
  changeMember(
    organization_id: string,
    user_id: string,
    change: Partial<Pick<Member, 'full_name' | 'role' | 'workspace_ids'>>,
    actor: Actor,
  ): Promise<Member | undefined>
  /**
   * Ends the membership and the member's personal keys, whose ids are answered; undefined when there is no such member.
   * @throws AppError conflict when the organization would be left without an admin of all workspaces
   */
  removeMember(organization_id: string, user_id: string, actor: Actor): Promise<string[] | undefined>

  /** Newest first, deleted ones left out. */
  apiKeys(organization_id: string, kind: 'personal' | 'service'): Promise<ApiKey[]>
  /**
   * False, and nothing stored, when the short key is taken in the organization: draw another (D-7).
   * @throws AppError invalid_request when the user is no member, or a workspace is not one of the organization's
   */
  createKey(key: ApiKey & { key_hash: string }, actor: Actor): Promise<boolean>
  /** The key is refused from now on and stays readable in reports. False when there is none of that id and kind. */
  deleteKey(organization_id: string, kind: 'personal' | 'service', id: string, actor: Actor): Promise<boolean>
  /** The grant of the key with this hash, deleted keys left out. `key_hash` is as stored, to be compared again. */
  findKey(key_hash: string): Promise<{ key_hash: string; grant: KeyGrant } | undefined>
  /**
   * The grant of the organization's oldest admin key of all workspaces that stands for ever, else of the one that
   * expires last (it may have): who requests act for when AUTH is off.
   */
  adminGrant(organization_id: string): Promise<KeyGrant | undefined>
  /** Remembers that the key was used, exact to a minute; `at` in epoch milliseconds. */
  touchKey(api_key_id: string, at: number): Promise<void>

  /** Names for reports, those of deleted ones too: workspaces, users' emails and short keys by id. */
  names(organization_id: string): Promise<{
    workspaces: Map<string, string>
    emails: Map<string, string>
    short_keys: Map<string, string>
  }>
  /** Newest first, `limit` entries after `before` (an entry's id). */
  audit(organization_id: string, page: { limit: number; before?: string }): Promise<AuditEntry[]>
}
