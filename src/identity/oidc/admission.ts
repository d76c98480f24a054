import { ROLES, type Role } from '../permissions.ts'
import type { Person } from './person.ts'
import type { GroupRole, ProviderSettings } from './provider-settings.ts'

/** Why a person may not enter; the sign-in page has words for each (TEAM-7). */
export type SignInRefusal =
  | 'domain_not_allowed'
  | 'group_required'
  | 'no_role'
  | 'email_not_verified'
  | 'sign_up_off'
  | 'provider_failed'
  | 'attempt_expired'

/** What a member may do. Null = every workspace, also later ones. */
export interface Rights {
  role: Role
  workspace_ids: string[] | null
}

/** What is known here of the person who signs in. */
export interface Known {
  /** The rights of the member that the person is, or becomes; undefined if there is none yet. */
  rights: Rights | undefined
  /** Whether the rights came from groups at an earlier sign-in. */
  by_groups: boolean
  /** Groups that SCIM says the member has, besides those of the provider's claim. */
  groups: readonly string[]
  /** The rights of an invitation of the person's verified address. */
  invited: Rights | undefined
}

export type Admission =
  | { refused: SignInRefusal }
  /** `rights` undefined = the member keeps its own. */
  | { rights: Rights | undefined; by_groups: boolean }

type Rules = Pick<
  ProviderSettings,
  | 'allowed_domains'
  | 'allowed_groups'
  | 'group_roles'
  | 'default_role'
  | 'sign_up'
  | 'role_sync'
  | 'trusted_email'
>

/** The verified address of a person; undefined without one. */
export function verifiedEmail(
  { email, email_verified }: Pick<Person, 'email' | 'email_verified'>,
  { trusted_email }: Pick<Rules, 'trusted_email'>,
): string | undefined {
  return email_verified === true || (email_verified === undefined && trusted_email) ? email : undefined
}

/** Whether a person of the provider may enter at all. */
function refusalOf(person: Person, rules: Rules): SignInRefusal | undefined {
  const { allowed_domains, allowed_groups } = rules
  if (person.email_verified === false) return 'email_not_verified'
  if (allowed_domains.length > 0) {
    const email = verifiedEmail(person, rules)
    if (email === undefined) return 'email_not_verified'
    if (!allowed_domains.includes(email.slice(email.lastIndexOf('@') + 1))) return 'domain_not_allowed'
  }
  const isMissing = allowed_groups.length > 0 && !allowed_groups.some((one) => person.groups.includes(one))
  return isMissing ? 'group_required' : undefined
}

interface NamedWorkspace {
  id: string
  display_name: string
}

/** The ids of the named workspaces; null for all. Names of no workspace are left out. */
function idsOf({ workspaces: names }: GroupRole, workspaces: readonly NamedWorkspace[]): string[] | null {
  if (names === undefined) return null
  return workspaces
    .filter(({ id, display_name }) => names.includes(id) || names.includes(display_name))
    .map(({ id }) => id)
}

/**
 * The highest role of the person's groups, with the workspaces of the groups that give it, all if one names none
 * (TEAM-5); undefined if no group gives a role in a workspace.
 */
export function rightsOfGroups(
  groups: readonly string[],
  group_roles: readonly GroupRole[],
  workspaces: readonly NamedWorkspace[],
): Rights | undefined {
  const matches = group_roles
    .filter(({ group }) => groups.includes(group))
    .map((one) => ({ role: one.role, workspace_ids: idsOf(one, workspaces) }))
    .filter(({ workspace_ids }) => workspace_ids === null || workspace_ids.length > 0)
  const role = ROLES.find((one) => matches.some((match) => match.role === one))
  if (role === undefined) return undefined
  const lists = matches.filter((match) => match.role === role).map(({ workspace_ids }) => workspace_ids)
  return {
    role,
    workspace_ids: lists.includes(null) ? null : [...new Set(lists.flatMap((ids) => ids ?? []))],
  }
}

/** Decides whether a person enters, and with which rights. Pure: everything that it needs is passed in. */
export function admit(
  described: Person,
  rules: Rules,
  {
    known,
    admin_email,
    workspaces,
  }: { known: Known; admin_email: string | undefined; workspaces: readonly NamedWorkspace[] },
): Admission {
  const person = { ...described, groups: [...described.groups, ...known.groups] }
  const refused = refusalOf(person, rules)
  if (refused !== undefined) return { refused }
  const email = verifiedEmail(person, rules)
  if (email !== undefined && email === admin_email)
    return { rights: { role: 'admin', workspace_ids: null }, by_groups: false }
  const isNew = known.rights === undefined
  if (isNew && !rules.sign_up && known.invited === undefined) return { refused: 'sign_up_off' }
  const follows = rules.role_sync && rules.group_roles.length > 0
  const byGroups = isNew || follows ? rightsOfGroups(person.groups, rules.group_roles, workspaces) : undefined
  if (byGroups !== undefined) return { rights: byGroups, by_groups: true }
  // Rights that people gave by hand stay; those that groups gave end with the groups.
  if (!isNew && !(follows && known.by_groups)) return { rights: undefined, by_groups: known.by_groups }
  if (isNew && known.invited !== undefined) return { rights: known.invited, by_groups: false }
  const { default_role } = rules
  return default_role === undefined
    ? { refused: 'no_role' }
    : { rights: { role: default_role, workspace_ids: null }, by_groups: true }
}
