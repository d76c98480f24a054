/** Every permission of a key (D-40); ROLE_PERMISSIONS grants them to roles. */
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
  'secrets:manage',
  'playground:use',
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

export type Permission = (typeof PERMISSIONS)[number]

/** The roles of members and keys; the role with most permissions is first. */
export const ROLES = ['admin', 'operator', 'user', 'viewer'] as const

/** The role of a member or a key in its organization. */
export type Role = (typeof ROLES)[number]

const USER: readonly Permission[] = [
  'workspaces:read',
  'projects:read',
  'projects:create',
  'runs:read',
  'runs:create',
  'playground:use',
  'deployments:read',
  ...PERMISSIONS.filter((permission) => /^(threads|assistants|store|crons):/.test(permission)),
]

/** The permissions of each role: a user cannot read the organization, a viewer cannot write. */
export const ROLE_PERMISSIONS: Readonly<Record<Role, readonly Permission[]>> = {
  admin: PERMISSIONS,
  operator: PERMISSIONS.filter((permission) => permission !== 'organization:manage'),
  user: USER,
  viewer: PERMISSIONS.filter(isReading),
}

/** Whether a permission only reads; a read-only key has no others. */
export function isReading(permission: Permission): boolean {
  return permission.endsWith(':read')
}

/** The permissions of a key: those of its role, and for a personal key, only those that its owner's role has too. */
export function permissionsOf(key: {
  role: Role
  /** Role of the user of a personal key; null for a service key. */
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
