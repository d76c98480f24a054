/** What a key may be allowed to do (platform-api §1, D-40); a new one is granted to roles in ROLE_PERMISSIONS. */
export const PERMISSIONS = [
  'organization:read',
  'organization:manage',
  'workspaces:read',
  'workspaces:manage',
  'projects:read',
  'projects:create',
  'runs:read',
  'runs:create',
  'runs:delete',
  'deployments:read',
  'deployments:manage',
  'threads:read',
  'threads:create',
  'threads:update',
  'threads:delete',
  'assistants:read',
  'assistants:create',
  'assistants:update',
  'assistants:delete',
  'store:read',
  'store:update',
  'store:delete',
  'crons:read',
  'crons:create',
  'crons:update',
  'crons:delete',
] as const

/** One permission by name. */
export type Permission = (typeof PERMISSIONS)[number]

/** The roles of members and keys, most able first. */
export const ROLES = ['admin', 'operator', 'user', 'viewer'] as const

/** What a member or a key is in its organization. */
export type Role = (typeof ROLES)[number]

const USER: readonly Permission[] = [
  'workspaces:read',
  'projects:read',
  'projects:create',
  'runs:read',
  'runs:create',
  'deployments:read',
  ...PERMISSIONS.filter((permission) => /^(threads|assistants|store|crons):/.test(permission)),
]

/** Which role has which permission (platform-api §1): a user does not see the organization, a viewer writes nothing. */
export const ROLE_PERMISSIONS: Readonly<Record<Role, readonly Permission[]>> = {
  admin: PERMISSIONS,
  operator: PERMISSIONS.filter((permission) => permission !== 'organization:manage'),
  user: USER,
  viewer: PERMISSIONS.filter(isReading),
}

/** True for a permission that changes nothing: all that a read-only key may have. */
export function isReading(permission: Permission): boolean {
  return permission.endsWith(':read')
}

/** What a key may do: what its own role allows and, for a personal one, its owner's role too. */
export function permissionsOf(key: {
  role: Role
  /** Of the user that a personal key acts for; null for a service key. */
  member_role: Role | null
  read_only: boolean
}): ReadonlySet<Permission> {
  const own = ROLE_PERMISSIONS[key.role]
  const shared =
    key.member_role === null
      ? own
      : own.filter((permission) => ROLE_PERMISSIONS[key.member_role ?? key.role].includes(permission))
  return new Set(key.read_only ? shared.filter(isReading) : shared)
}
