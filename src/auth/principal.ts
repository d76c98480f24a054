import type { Permission, Role } from './permissions.ts'

/** Who a request acts for, resolved from its key and headers. */
export interface Principal {
  organization_id: string
  /** The workspace that the request reads and writes. */
  workspace_id: string
  /** False when neither the request nor the key says which: only for what acts in the organization. */
  workspace_chosen: boolean
  /** Null for a service key. */
  user_id: string | null
  api_key_id: string
  /** E.g. `lsv2...abcd`; safe to log and show. */
  short_key: string
  /** Whose share of limits the request counts in: the key's id, or the user of a deployment's own auth file. */
  holder: string
  /** Every workspace that the key may use, `workspace_id` among them. */
  workspace_ids: readonly string[]
  /** The key serves every workspace of the organization, also later ones. */
  all_workspaces: boolean
  permissions: ReadonlySet<Permission>
  /** Of the key, which may allow more than `permissions` when its owner's role allows less. */
  role: Role
  /** The key reads and changes nothing. */
  read_only: boolean
  /** When the key ends, epoch milliseconds; null = never. */
  expires_at: number | null
}

/** What a key may do, before a request has named its workspace. */
export interface KeyGrant {
  organization_id: string
  user_id: string | null
  api_key_id: string
  short_key: string
  /** Every workspace that the key may use, now: those of its owner as well, for a personal key. */
  workspace_ids: readonly string[]
  /** These are all of the organization, and later ones will be among them. */
  all_workspaces: boolean
  /** Where requests go that name no workspace; null when they must name one. */
  default_workspace_id: string | null
  role: Role
  /** Of the user that a personal key acts for; null for a service key. */
  member_role: Role | null
  read_only: boolean
  /** Epoch milliseconds; null = never. */
  expires_at: number | null
}
