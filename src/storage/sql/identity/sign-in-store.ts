import { newUuid, NIL_UUID } from '../../../base/ids.ts'
import type { Actor, Member, Workspace } from '../../../identity/identity-store.ts'
import type { Invite } from '../../../identity/invites.ts'
import type { Admission, Known, Rights } from '../../../identity/oidc/admission.ts'
import type {
  Arrival,
  Attempt,
  Entered,
  NewSession,
  SignInStore,
} from '../../../identity/oidc/sign-in-store.ts'
import { ATTEMPT_MS, MAX_ATTEMPTS } from '../../../identity/oidc/sign-in-store.ts'
import { organizationLock, recordChange } from './audit-log.ts'
import { openInvite, takeInvite } from './invite-store.ts'
import {
  difference,
  findOrMakeUser,
  insertMember,
  isLastAdmin,
  type MemberFields,
  memberRecords,
  writeChange,
} from './member-store.ts'
import { memberSessionStore, startMemberSession } from './member-session-store.ts'
import type { Database, SqlSession } from '../driver/database.ts'
import { scimStateOf } from './scim/rights.ts'
import { liveWorkspaces } from './workspace-store.ts'

type At = Parameters<SignInStore['enter']>[2]

interface IdentityRow {
  user_id: string
  by_groups: number
}

/** The author of a change that nobody has asked for with a key. */
function actorWithoutKey(user_id: string | null, at: number): Actor {
  return { api_key_id: user_id ?? NIL_UUID, short_key: '', user_id, at }
}

function attemptStore(database: Database): Pick<SignInStore, 'addAttempt' | 'takeAttempt'> {
  const columns = 'provider, state, nonce, code_verifier, return_to'
  return {
    async addAttempt(secret_hash, { provider, state, nonce, code_verifier, return_to }, now) {
      await database.query('DELETE FROM sign_in_attempts WHERE expires_at <= ?', [now])
      await database.query(
        `DELETE FROM sign_in_attempts WHERE secret_hash IN
           (SELECT secret_hash FROM sign_in_attempts ORDER BY expires_at DESC LIMIT 1000 OFFSET ?)`,
        [MAX_ATTEMPTS - 1],
      )
      await database.query(
        `INSERT INTO sign_in_attempts (secret_hash, ${columns}, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        [secret_hash, provider, state, nonce, code_verifier, return_to, now, now + ATTEMPT_MS],
      )
    },
    async takeAttempt(secret_hash, now) {
      const [taken] = await database.query<Attempt & { expires_at: number }>(
        `DELETE FROM sign_in_attempts WHERE secret_hash = ? RETURNING ${columns}, expires_at`,
        [secret_hash],
      )
      if (taken === undefined || taken.expires_at <= now) return undefined
      const { expires_at: _, ...attempt } = taken
      return attempt
    },
  }
}

/** The stored identity of the person; undefined at the first sign-in. */
async function identityOf(
  session: SqlSession,
  { person: { issuer, subject } }: Arrival,
  organization_id: string,
): Promise<IdentityRow | undefined> {
  const [row] = await session.query<IdentityRow>(
    `SELECT user_id, by_groups FROM sign_in_identities WHERE organization_id = ? AND issuer = ? AND subject = ?`,
    [organization_id, issuer, subject],
  )
  return row
}

/** Whether the user is another person of this issuer already. */
async function isTaken(
  session: SqlSession,
  { issuer }: Arrival['person'],
  organization_id: string,
  user_id: string,
): Promise<boolean> {
  const rows = await session.query(
    'SELECT 1 AS known FROM sign_in_identities WHERE organization_id = ? AND issuer = ? AND user_id = ?',
    [organization_id, issuer, user_id],
  )
  return rows.length > 0
}

/** The member that the person is, by its identity, else by its verified address (TEAM-4). */
async function memberOf(
  session: SqlSession,
  arrival: Arrival,
  { organization_id, members }: { organization_id: string; members: readonly Member[] },
): Promise<{ identity: IdentityRow | undefined; member: Member | undefined }> {
  const identity = await identityOf(session, arrival, organization_id)
  const { person, verified_email } = arrival
  const member = members.find((one) =>
    identity === undefined
      ? one.email === verified_email && !one.email_claimed
      : one.user_id === identity.user_id,
  )
  if (identity !== undefined || member === undefined) return { identity, member }
  const isOther = await isTaken(session, person, organization_id, member.user_id)
  return { identity, member: isOther ? undefined : member }
}

/** An address under which nobody can receive mail, for a person whose own is not verified or is another member's. */
function placeholderEmail({ issuer, subject }: Arrival['person']): string {
  const name = encodeURIComponent(subject).replaceAll('%', '=').slice(0, 200).toLowerCase()
  return `${name}@${URL.parse(issuer)?.hostname ?? 'provider'}.invalid`
}

/** Gives the user the verified address, unless another user has it; returns whether it has changed. */
async function updateEmail(
  session: SqlSession,
  { user_id, email }: Member,
  { verified_email }: Arrival,
): Promise<boolean> {
  if (verified_email === undefined || verified_email === email) return false
  const taken = await session.query('SELECT 1 AS known FROM users WHERE email = ?', [verified_email])
  if (taken.length > 0) return false
  await session.query('UPDATE users SET email = ? WHERE id = ?', [verified_email, user_id])
  return true
}

/** Makes the person a member. A user with its verified address that is no member any more is used again. */
async function makeMember(
  session: SqlSession,
  arrival: Arrival,
  rights: Rights,
  { organization_id, now }: At,
): Promise<string> {
  const { verified_email, person } = arrival
  const [owner] = await session.query<{ id: string; is_member: number }>(
    `SELECT u.id, CASE WHEN m.user_id IS NULL THEN 0 ELSE 1 END AS is_member
     FROM users u LEFT JOIN members m ON m.user_id = u.id AND m.organization_id = ? WHERE u.email = ?`,
    [organization_id, verified_email ?? ''],
  )
  const isFree = verified_email !== undefined && owner?.is_member !== 1
  const email = isFree ? verified_email : placeholderEmail(person)
  const made = { user_id: newUuid(), email, full_name: person.name ?? null, created_at: now }
  const user_id = await findOrMakeUser(session, made)
  const member = { ...made, ...rights, organization_id, user_id }
  await insertMember(session, member, actorWithoutKey(user_id, now))
  return user_id
}

/** Writes what has changed of a member, with an audit entry; returns whether its rights changed. */
async function updateMember(
  session: SqlSession,
  member: Member,
  { arrival, rights, at: { organization_id, now } }: { arrival: Arrival; rights: Rights | undefined; at: At },
): Promise<boolean> {
  const { user_id } = member
  const { person, verified_email } = arrival
  const fields: MemberFields = { ...rights, ...(person.name !== undefined && { full_name: person.name }) }
  const details = difference(member, fields)
  if (details !== undefined) await writeChange(session, member, details.to)
  const hasNewEmail = await updateEmail(session, member, arrival)
  if (member.suspended !== undefined)
    await session.query('UPDATE members SET suspended_by = NULL WHERE organization_id = ? AND user_id = ?', [
      organization_id,
      user_id,
    ])
  const isChanged =
    member.suspended !== undefined ||
    details?.to.role !== undefined ||
    details?.to.workspace_ids !== undefined
  if (details !== undefined || hasNewEmail || isChanged)
    await recordChange(session, actorWithoutKey(user_id, now), {
      organization_id,
      action: member.suspended !== undefined ? 'member.resume' : 'member.change',
      subject_id: user_id,
      details: {
        ...details,
        ...(hasNewEmail && { email: { from: member.email, to: verified_email } }),
        provider: arrival.provider,
      },
    })
  return isChanged
}

/** The invitation of the person's verified address. */
async function inviteOf(
  session: SqlSession,
  { verified_email: value }: Arrival,
  { organization_id, now }: At,
): Promise<Invite | undefined> {
  return value === undefined
    ? undefined
    : await openInvite(session, { column: 'email', value, organization_id }, now)
}

async function suspend(
  session: SqlSession,
  { user_id, email }: Member,
  reason: string,
  { arrival, at: { organization_id, now } }: { arrival: Arrival; at: At },
): Promise<void> {
  await session.query(
    `UPDATE members SET suspended_by = 'groups' WHERE organization_id = ? AND user_id = ? AND suspended_by IS NULL`,
    [organization_id, user_id],
  )
  await recordChange(session, actorWithoutKey(user_id, now), {
    organization_id,
    action: 'member.suspend',
    subject_id: user_id,
    details: { email, reason, provider: arrival.provider },
  })
}

async function keepIdentity(
  session: SqlSession,
  { person: { issuer, subject } }: Arrival,
  {
    user_id,
    by_groups,
    organization_id,
    now,
  }: { user_id: string; by_groups: boolean; organization_id: string; now: number },
): Promise<void> {
  await session.query(
    `INSERT INTO sign_in_identities (organization_id, issuer, subject, user_id, by_groups, created_at)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (organization_id, issuer, subject) DO UPDATE SET user_id = excluded.user_id, by_groups = excluded.by_groups`,
    [organization_id, issuer, subject, user_id, by_groups ? 1 : 0, now],
  )
}

async function recordSignIn(
  session: SqlSession,
  { provider }: Pick<Arrival, 'provider'>,
  {
    organization_id,
    now,
    user_id,
    details,
  }: At & { user_id: string | undefined; details: Record<string, unknown> },
): Promise<void> {
  await recordChange(session, actorWithoutKey(user_id ?? null, now), {
    organization_id,
    action: 'session.sign_in',
    subject_id: user_id ?? NIL_UUID,
    details: { ...details, provider },
  })
}

/** Carries out a refusal: a member whose groups gave it its rights is suspended, unless it is the last admin. */
async function refuse(
  session: SqlSession,
  refused: Extract<Entered, { refused: unknown }>['refused'],
  {
    arrival,
    at,
    identity,
    member,
    isLast,
  }: {
    arrival: Arrival
    at: At
    identity: IdentityRow | undefined
    member: Member | undefined
    isLast: boolean
  },
): Promise<Entered> {
  const byGroups = refused === 'no_role' || refused === 'group_required'
  if (byGroups && identity !== undefined && member !== undefined && member.suspended === undefined && !isLast)
    await suspend(session, member, refused, { arrival, at })
  const user_id = member?.user_id
  if (at.session !== undefined) {
    const details = { result: 'refused', reason: refused, address: at.session.address }
    await recordSignIn(session, arrival, { ...at, user_id, details })
  }
  return { refused, user_id }
}

/** The decision about the person; the last admin of all workspaces keeps its rights (IDENTITY-11). */
function admissionOf(
  decide: Parameters<SignInStore['enter']>[1],
  known: Known,
  {
    workspaces,
    member,
    isLast,
  }: { workspaces: readonly Workspace[]; member: Member | undefined; isLast: boolean },
): { admission: Admission; kept_last_admin: boolean } {
  if (member?.suspended === 'scim') return { admission: { refused: 'no_role' }, kept_last_admin: false }
  const admission = decide(known, workspaces)
  const rights = 'refused' in admission ? undefined : admission.rights
  const losesAll = 'refused' in admission && admission.refused === 'no_role'
  const losesSome = rights !== undefined && (rights.role !== 'admin' || rights.workspace_ids !== null)
  if (!isLast || !(losesAll || losesSome)) return { admission, kept_last_admin: false }
  return { admission: { rights: undefined, by_groups: known.by_groups }, kept_last_admin: true }
}

/** The state of sign-ins in a SQL database that has been migrated. */
export function createSignInStore(database: Database): SignInStore {
  return {
    ...attemptStore(database),
    ...memberSessionStore(database),
    async enter(arrival, decide, at) {
      const { organization_id, now, session: wanted } = at
      return await database.tx(organizationLock(organization_id), async (session) => {
        const workspaces = await liveWorkspaces(session, organization_id)
        const members = await memberRecords(session, organization_id)
        const { identity, member } = await memberOf(session, arrival, { organization_id, members })
        const isLast = member !== undefined && isLastAdmin(members, member)
        const rights = member && { role: member.role, workspace_ids: member.workspace_ids }
        const invite = member === undefined ? await inviteOf(session, arrival, at) : undefined
        // A member that its groups suspended comes back by groups only, also with another identity.
        const byGroups = identity === undefined ? member?.suspended === 'groups' : identity.by_groups === 1
        const scim =
          member === undefined
            ? { groups: [], by_groups: false }
            : await scimStateOf(session, organization_id, member.user_id)
        const by_groups = byGroups || scim.by_groups
        const known = { rights, by_groups, groups: scim.groups, invited: invite }
        const { admission, kept_last_admin } = admissionOf(decide, known, { workspaces, member, isLast })
        if ('refused' in admission)
          return await refuse(session, admission.refused, { arrival, at, identity, member, isLast })
        const user_id = member?.user_id ?? (await makeMember(session, arrival, admission.rights!, at))
        const changed =
          member === undefined ||
          (await updateMember(session, member, { arrival, rights: admission.rights, at }))
        await keepIdentity(session, arrival, {
          user_id,
          by_groups: admission.by_groups,
          organization_id,
          now,
        })
        if (invite !== undefined) await takeInvite(session, invite, { user_id, now })
        if (wanted !== undefined) await signIn(session, arrival, { at, wanted, user_id, kept_last_admin })
        return { user_id, changed, kept_last_admin }
      })
    },
    async recordRefusal({ reason, provider, address }, at) {
      const details = { result: 'refused', reason, address }
      await database.tx(organizationLock(at.organization_id), (session) =>
        recordSignIn(session, { provider }, { ...at, user_id: undefined, details }),
      )
    },
  }
}

async function signIn(
  session: SqlSession,
  arrival: Arrival,
  {
    at,
    wanted,
    user_id,
    kept_last_admin,
  }: { at: At; wanted: NewSession; user_id: string; kept_last_admin: boolean },
): Promise<void> {
  const { organization_id, now } = at
  await startMemberSession(session, wanted, { organization_id, user_id, provider: arrival.provider, now })
  const details = {
    result: 'ok',
    address: wanted.address,
    session_id: wanted.id,
    ...(kept_last_admin && { kept_last_admin }),
  }
  await recordSignIn(session, arrival, { ...at, user_id, details })
}
