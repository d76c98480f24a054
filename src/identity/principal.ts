import type { Permission, Role } from './permissions.ts'

/** The caller of a request, resolved from its key and headers. */
export interface Principal {
  organization_id: string
  /** The workspace that the request reads and writes. */
  workspace_id: string
  /** Whether the request or the key names a workspace; may be false only for requests about the organization. */
  workspace_chosen: boolean
  /** Null for a service key. */
  user_id: string | null
  /** For a member who signed in without a key, the id of the member. */
  api_key_id: string
  /** E.g. `lsv2...abcd`; safe to log and show. Empty without a key. */
  short_key: string
  /** Key of per-caller limits: the id of the API key, or the user that a deployment's auth file authenticated. */
  holder: string
  /** Every workspace that the key may use, including `workspace_id`. */
  workspace_ids: readonly string[]
  /** Whether the key may use every workspace of the organization, including later ones. */
  all_workspaces: boolean
  permissions: ReadonlySet<Permission>
  /** Role of the key. It may have more permissions than `permissions` if its owner's role has fewer. */
  role: Role
  read_only: boolean
  /** Expiry time of the key, epoch milliseconds; null for never. */
  expires_at: number | null
  /** The browser session that authenticated the request; undefined for a request with a key. */
  session?: PrincipalSession
}

/** The fields of a browser session that a request carries. */
export interface PrincipalSession {
  id: string
  /** Time at which the session ends if it is not used again, epoch milliseconds. */
  expires_at: number
}

/** The rights of a key, before a request has named its workspace. */
export interface KeyGrant {
  organization_id: string
  user_id: string | null
  api_key_id: string
  short_key: string
  /** Every workspace that the key may currently use; for a personal key, only those that its owner may use too. */
  workspace_ids: readonly string[]
  /** Whether the key may use all workspaces of the organization, including later ones. */
  all_workspaces: boolean
  /** The workspace of requests that name none; null if requests must name one. */
  default_workspace_id: string | null
  role: Role
  /** Role of the user of a personal key; null for a service key. */
  member_role: Role | null
  read_only: boolean
  /** Epoch milliseconds; null = never. */
  expires_at: number | null
}
