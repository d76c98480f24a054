import type { Actor, ApiKey, Member } from './identity-store.ts'
import type { Role } from './permissions.ts'

/** Maximum number of invitations of an organization that wait. */
export const MAX_INVITES = 1000

/** An invitation to become a member. Times are epoch milliseconds. */
export interface Invite {
  id: string
  organization_id: string
  /** In lower case; null = whoever has the link. */
  email: string | null
  role: Role
  /** Null = every workspace, also later ones. */
  workspace_ids: string[] | null
  /** The user who invites; null for a service key. */
  created_by: string | null
  created_at: number
  expires_at: number
  /** When the key of the inviter ends, and so the key that is made with the invitation; null for never. */
  key_expires_at: number | null
}

/** Invitations that wait. One that has expired is not found. */
export interface InviteStore {
  /** @throws AppError quota_reached when MAX_INVITES wait, invalid_request for a workspace of another organization */
  create(invite: Invite, secret_hash: string, actor: Actor): Promise<void>
  /** Oldest first. */
  list(organization_id: string, now: number): Promise<Invite[]>
  /** Gives the invitation a new secret and end, so that its earlier link is void; undefined if there is none. */
  renew(
    place: Pick<Invite, 'id' | 'organization_id' | 'expires_at' | 'key_expires_at'>,
    secret_hash: string,
    actor: Actor,
  ): Promise<Invite | undefined>
  /** Returns false if there is none. */
  revoke(organization_id: string, id: string, actor: Actor): Promise<boolean>
  find(secret_hash: string, now: number): Promise<Invite | undefined>
  /**
   * Makes the member and its personal key, and removes the invitation, in one transaction. Undefined if the invitation
   * was used or revoked, `retry` if the short key is taken. @throws AppError conflict when the address is a member's
   */
  accept(
    secret_hash: string,
    person: { user_id: string; email: string; full_name: string | null },
    key: Pick<ApiKey, 'id' | 'short_key'> & { key_hash: string },
    now: number,
  ): Promise<Member | 'retry' | undefined>
}
