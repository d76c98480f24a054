import { isLoopback } from '../../base/loopback.ts'
import { ROLES, type Role } from '../permissions.ts'

/** A group of the provider, and what its members may do here. */
export interface GroupRole {
  group: string
  role: Role
  /** Names or ids of workspaces; undefined = every workspace, also later ones. */
  workspaces?: readonly string[] | undefined
}

/** A provider of OpenID Connect with which people sign in (TEAM-1). */
export interface ProviderSettings {
  /** The part of the provider in the address of the callback. */
  id: string
  /** The text of the button. */
  name: string
  issuer: string
  client_id: string
  /** Undefined for a public client, which proves itself with PKCE alone. */
  client_secret: string | undefined
  scopes: readonly string[]
  /** The claim with the groups; dots lead into objects. */
  groups_claim: string
  group_roles: readonly GroupRole[]
  /** The role of people in no group of `group_roles`; undefined = they are refused. */
  default_role: Role | undefined
  /** Domains of verified addresses that may enter, in lower case; empty = all. */
  allowed_domains: readonly string[]
  /** Groups of which a person must have one; empty = none is needed. */
  allowed_groups: readonly string[]
  /** Whether people without an invitation may become members. */
  sign_up: boolean
  /** Whether roles and workspaces follow the groups after the first sign-in. */
  role_sync: boolean
  session_max_ms: number
  idp_logout: boolean
  /** Whether addresses count as verified although the provider does not say so. */
  trusted_email: boolean
}

export interface SignInSettings {
  providers: readonly ProviderSettings[]
  /** Whether the sign-in page leads straight to the only provider. */
  auto_login: boolean
  key_sign_in: boolean
  /** The verified address, in lower case, that is always an admin. */
  admin_email: string | undefined
}

/** The fields of a provider as they are written: in the settings, and in an entry of the file OAUTH_PROVIDERS. */
export interface WrittenProvider {
  id: string
  name?: string | undefined
  issuer_url: string
  client_id: string
  client_secret?: string | undefined
  scopes?: string | string[] | undefined
  groups_claim?: string | undefined
  group_roles?: string | GroupRole[] | undefined
  default_role?: Role | undefined
  allowed_domains?: string | string[] | undefined
  allowed_groups?: string | string[] | undefined
  sign_up?: 'on' | 'off' | undefined
  role_sync?: 'on' | 'off' | undefined
  session_max_sec?: number | undefined
  idp_logout_enabled?: boolean | undefined
  trusted_email?: 'on' | 'off' | undefined
}

const DEFAULT_SCOPES = 'openid,email,profile'
const DEFAULT_SESSION_S = 86_400

function listOf(written: string | string[] | undefined, separator: RegExp): string[] {
  const items = Array.isArray(written) ? written : (written ?? '').split(separator)
  return items.map((item) => item.trim()).filter((item) => item !== '')
}

function isRole(text: unknown): text is Role {
  return (ROLES as readonly unknown[]).includes(text)
}

/** One entry `group=role` or `group=role@workspace|workspace`; undefined if it is none. */
function parseGroupRole(text: string): GroupRole | undefined {
  const [, group, role, names] = /^(.+)=([a-z]+)(?:@(.+))?$/.exec(text) ?? []
  if (group === undefined || !isRole(role)) return undefined
  return { group: group.trim(), role, workspaces: names === undefined ? undefined : listOf(names, /\|/) }
}

function isGroupRole(value: unknown): value is GroupRole {
  if (typeof value !== 'object' || value === null) return false
  const { group, role, workspaces, ...others } = value as Partial<Record<string, unknown>>
  const areNames =
    workspaces === undefined ||
    (Array.isArray(workspaces) && workspaces.length > 0 && workspaces.every((one) => typeof one === 'string'))
  return typeof group === 'string' && isRole(role) && areNames && Object.keys(others).length === 0
}

/** The roles of groups, as JSON or as comma-separated entries; undefined if they cannot be read. */
export function parseGroupRoles(written: string | GroupRole[] | undefined): GroupRole[] | undefined {
  let entries: unknown = written
  if (typeof written === 'string' && written.startsWith('[')) {
    try {
      entries = JSON.parse(written)
    } catch {
      return undefined
    }
  }
  if (Array.isArray(entries)) return entries.every(isGroupRole) ? entries : undefined
  const parsed = listOf(written as string | undefined, /,/).map(parseGroupRole)
  return parsed.every((one) => one !== undefined) ? parsed : undefined
}

/** Whether the address is https, or http on this machine. */
function isSafeIssuer(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.search !== '' || url.hash !== '' || url.username !== '') return false
  const isLocal = isLoopback(url.hostname) || url.hostname.endsWith('.localhost')
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)
}

/**
 * The provider with its defaults, and a line for each wrong value. `nameOf` makes the name of a field as people have
 * written it.
 */
export function readProvider(
  written: WrittenProvider,
  nameOf: (field: keyof WrittenProvider) => string,
): { provider: ProviderSettings; mistakes: string[] } {
  const mistakes: string[] = []
  const scopes = listOf(written.scopes ?? DEFAULT_SCOPES, /[\s,]+/)
  const group_roles = parseGroupRoles(written.group_roles)
  if (!isSafeIssuer(written.issuer_url))
    mistakes.push(
      `${nameOf('issuer_url')}: must be the https address of the issuer (http only on this machine), without parameters, got "${written.issuer_url}"`,
    )
  if (!scopes.includes('openid')) mistakes.push(`${nameOf('scopes')}: must contain openid`)
  if (group_roles === undefined)
    mistakes.push(
      `${nameOf('group_roles')}: must be entries group=role or group=role@workspace|workspace with the roles ${ROLES.join(', ')}, or JSON [{"group", "role", "workspaces"}]`,
    )
  const { issuer_url: issuer } = written
  const provider = {
    id: written.id,
    name: written.name ?? URL.parse(issuer)?.host ?? issuer,
    issuer,
    client_id: written.client_id,
    client_secret: written.client_secret,
    scopes,
    groups_claim: written.groups_claim ?? 'groups',
    group_roles: group_roles ?? [],
    default_role: written.default_role,
    allowed_domains: listOf(written.allowed_domains, /[\s,]+/).map((one) => one.toLowerCase()),
    allowed_groups: listOf(written.allowed_groups, /,/),
    sign_up: written.sign_up !== 'off',
    role_sync: written.role_sync !== 'off',
    session_max_ms: (written.session_max_sec ?? DEFAULT_SESSION_S) * 1000,
    idp_logout: written.idp_logout_enabled ?? false,
    trusted_email: written.trusted_email === 'on',
  }
  return { provider, mistakes }
}
