import type { Actor, Workspace } from '../identity-store.ts'
import type { Rights } from '../oidc/admission.ts'

/** Schemas and messages of SCIM 2.0 (RFC 7643, 7644). */
export const URN = {
  user: 'urn:ietf:params:scim:schemas:core:2.0:User',
  group: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  config: 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
  schema: 'urn:ietf:params:scim:schemas:core:2.0:Schema',
  resourceType: 'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
  list: 'urn:ietf:params:scim:api:messages:2.0:ListResponse',
  error: 'urn:ietf:params:scim:api:messages:2.0:Error',
} as const

/** Maximum number of resources of a list. */
export const MAX_COUNT = 200
/** Maximum number of tokens of an organization. */
export const MAX_SCIM_TOKENS = 20
export const TOKEN_PREFIX = 'weir_scim_'

/** An error as SCIM words it. */
export class ScimFault extends Error {
  readonly status: 400 | 401 | 404 | 409
  readonly type: 'invalidFilter' | 'invalidSyntax' | 'invalidValue' | 'uniqueness' | 'mutability' | undefined

  constructor(status: ScimFault['status'], type: ScimFault['type'], detail: string) {
    super(detail)
    this.status = status
    this.type = type
  }
}

/** What a client sends of a user; null empties a field. */
export interface UserFields {
  user_name?: string
  external_id?: string | null
  given_name?: string | null
  family_name?: string | null
  full_name?: string | null
  email?: string
  active?: boolean
}

/** A member as SCIM shows it. Times are epoch milliseconds. */
export interface ScimUser {
  /** The id of the member. */
  id: string
  user_name: string
  external_id: string | null
  given_name: string | null
  family_name: string | null
  full_name: string | null
  email: string
  active: boolean
  groups: { id: string; display_name: string }[]
  created_at: number
  updated_at: number
}

/** A change of the members of a group, in the order in which the changes came. */
export interface MemberChange {
  op: 'add' | 'remove' | 'set'
  user_ids: readonly string[]
}

export interface GroupFields {
  display_name?: string
  external_id?: string | null
  members: readonly MemberChange[]
}

export interface ScimGroup {
  id: string
  display_name: string
  external_id: string | null
  members: { id: string; display: string }[]
  created_at: number
  updated_at: number
}

/** Equality with one attribute, the only filter. */
export interface ScimFilter {
  attribute: 'id' | 'userName' | 'externalId' | 'displayName'
  value: string
}

export interface ScimQuery {
  filter: ScimFilter | undefined
  offset: number
  limit: number
}

export interface ScimToken {
  id: string
  organization_id: string
  /** The id of the sign-in provider whose people and groups these are. */
  provider: string
  description: string
  created_at: number
  /** Null for never. */
  expires_at: number | null
  last_used_at: number | null
}

/** Who changes, and what groups give. */
export interface ScimCaller {
  organization_id: string
  actor: Actor
  /** The issuer of the sign-in provider, at which `externalId` is the subject of a person. */
  issuer: string
  /** The rights that these groups give; undefined for none. */
  rightsOf(groups: readonly string[], workspaces: readonly Workspace[]): Rights | undefined
  /** The rights of users whose groups give none; undefined if they have no access. */
  otherwise: Rights | undefined
}

export interface ScimTokenStore {
  /** @throws AppError quota_reached when there are MAX_SCIM_TOKENS */
  create(token: ScimToken, token_hash: string, actor: Actor): Promise<void>
  list(organization_id: string): Promise<ScimToken[]>
  /** Returns false if there is none with that id. */
  remove(organization_id: string, id: string, actor: Actor): Promise<boolean>
  /** The token with this hash, unless it has expired; records its use, to the minute. */
  find(token_hash: string, now: number): Promise<ScimToken | undefined>
}

/** Users and groups of SCIM. All changes are transactions with audit entries. @throws ScimFault */
export interface ScimStore {
  users(organization_id: string, query: ScimQuery): Promise<{ total: number; resources: ScimUser[] }>
  createUser(fields: UserFields & { user_name: string }, caller: ScimCaller): Promise<ScimUser>
  /** `reset`: fields that are absent are emptied. */
  changeUser(id: string, fields: UserFields, caller: ScimCaller, reset?: boolean): Promise<ScimUser>
  removeUser(id: string, caller: ScimCaller): Promise<void>
  groups(organization_id: string, query: ScimQuery): Promise<{ total: number; resources: ScimGroup[] }>
  createGroup(fields: GroupFields & { display_name: string }, caller: ScimCaller): Promise<ScimGroup>
  changeGroup(id: string, fields: GroupFields, caller: ScimCaller): Promise<ScimGroup>
  removeGroup(id: string, caller: ScimCaller): Promise<void>
}
