import { beforeEach, expect, it } from 'vitest'
import { SESSION_IDLE_MS } from '../../../src/identity/browser-sessions.ts'
import type { IdentityStore } from '../../../src/identity/identity-store.ts'
import type { Invite, InviteStore } from '../../../src/identity/invites.ts'
import type { Admission, Known } from '../../../src/identity/oidc/admission.ts'
import {
  type Arrival,
  ATTEMPT_MS,
  MAX_ATTEMPTS,
  type SignInStore,
} from '../../../src/identity/oidc/sign-in-store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createIdentityStore } from '../../../src/storage/sql/identity/identity-store.ts'
import { createInviteStore } from '../../../src/storage/sql/identity/invite-store.ts'
import { createSignInStore } from '../../../src/storage/sql/identity/sign-in-store.ts'
import { ACTOR, FIRST } from '../../support/stores/sql/identity-records.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'

const NOW = 1_000_000
const ATTEMPT = { provider: 'p', state: 's', nonce: 'n', code_verifier: 'v', return_to: '/app/' }
const USER = { role: 'user' as const, workspace_ids: null }

describeOnSql('sign-ins', (engine) => {
  let database: Database
  let identity: IdentityStore
  let store: SignInStore
  let invites: InviteStore
  let known: Known | undefined
  beforeEach(async () => {
    database = await engine.openPlatform()
    identity = createIdentityStore(database)
    store = createSignInStore(database)
    invites = createInviteStore(database)
    await identity.createFirst(FIRST)
  })
  const arrival = (subject: string, verified_email?: string, issuer = 'https://id.test'): Arrival => ({
    person: { issuer, subject, email: verified_email, email_verified: true, name: subject, groups: [] },
    verified_email,
    provider: 'p',
  })
  const enter = (who: Arrival, admission: Admission, of: SignInStore = store, id?: string) => {
    const session = { secret_hash: `hash ${id}`, tokens: 'sealed', expires_at: NOW + 1e9, address: '::1' }
    const at = { organization_id: 'o1', now: NOW, ...(id !== undefined && { session: { id, ...session } }) }
    const decide = (before: Known): Admission => {
      known = before
      return admission
    }
    return of.enter(who, decide, at)
  }
  const emails = async (): Promise<string[]> =>
    (await identity.members('o1')).map(({ email }) => email).toSorted()

  it('TEAM-3: an attempt is taken once, by one of several servers, within ten minutes', async () => {
    await store.addAttempt('a1', ATTEMPT, NOW)
    await store.addAttempt('a2', ATTEMPT, NOW)
    const another = createSignInStore(await engine.openAgain())
    const takers = [store, another, store, another]
    const taken = await Promise.all(takers.map((one) => one.takeAttempt('a1', NOW + ATTEMPT_MS - 1)))
    expect(taken.filter((one) => one !== undefined)).toEqual([ATTEMPT])
    expect(await store.takeAttempt('a2', NOW + ATTEMPT_MS)).toBeUndefined()
    expect(MAX_ATTEMPTS).toBe(10_000)
  })

  it('TEAM-4: two servers that let in one person at the same time make one member', async () => {
    const another = createSignInStore(await engine.openAgain())
    const both = [store, another].map((one, at) =>
      enter(arrival('ada', 'ada@acme.test'), { rights: USER, by_groups: false }, one, `s${at}`),
    )
    const [first, second] = await Promise.all(both)
    expect(first).toMatchObject({ user_id: expect.any(String) })
    expect(second).toMatchObject({ user_id: (first as { user_id: string }).user_id })
    expect(await emails()).toEqual(['a@b', 'ada@acme.test'])
  })

  it('TEAM-4: links a verified address once for each issuer, and stores no other', async () => {
    const admission = { rights: undefined, by_groups: false }
    expect(await enter(arrival('admin', 'a@b'), admission)).toMatchObject({ user_id: 'u1' })
    expect(known?.rights).toEqual({ role: 'admin', workspace_ids: null })
    const other = await enter(arrival('eve', 'a@b'), { rights: USER, by_groups: true })
    expect(other).not.toMatchObject({ user_id: 'u1' })
    expect(await enter(arrival('admin', 'a@b', 'https://other.test'), admission)).toMatchObject({
      user_id: 'u1',
    })
    await enter(arrival('bob'), { rights: USER, by_groups: true })
    expect(await emails()).toEqual(['a@b', 'bob@id.test.invalid', 'eve@id.test.invalid'])
    await enter(arrival('eve', 'a@b'), { rights: undefined, by_groups: true })
    expect(known).toMatchObject({ rights: USER, by_groups: true })
  })

  it('TEAM-5: the order in which groups name workspaces is no change of a member', async () => {
    const ids = ['w-a', 'w-b']
    for (const id of ids)
      await identity.createWorkspace({ id, organization_id: 'o1', display_name: id, created_at: NOW }, ACTOR)
    const as = (workspace_ids: string[]) => ({ rights: { ...USER, workspace_ids }, by_groups: true })
    const ada = arrival('ada', 'ada@acme.test')
    await enter(ada, as(ids))
    expect(await enter(ada, as(ids.toReversed()))).toMatchObject({ changed: false })
    expect(await enter(ada, as(['w-b']))).toMatchObject({ changed: true })
    const changes = await identity.audit('o1', { limit: 9, action: 'member.change' })
    expect(changes).toHaveLength(1)
  })

  it('TEAM-5: suspends a member who loses its groups, but not the last admin', async () => {
    const admission = { rights: USER, by_groups: true }
    await enter(arrival('ada', 'ada@acme.test'), admission, store, 's1')
    expect((await store.findSession('hash s1', NOW))?.grant).toMatchObject({ role: 'user', short_key: '' })
    expect(await enter(arrival('ada', 'ada@acme.test'), { refused: 'no_role' })).toMatchObject({
      refused: 'no_role',
    })
    expect(await store.findSession('hash s1', NOW)).toBeUndefined()
    await enter(arrival('ada', 'ada@acme.test', 'https://other.test'), { refused: 'no_role' })
    expect(known?.by_groups).toBe(true)
    await enter(arrival('ada', 'ada@acme.test'), admission)
    expect(await store.findSession('hash s1', NOW)).toBeDefined()
    await enter(arrival('admin', 'a@b'), { rights: undefined, by_groups: true })
    for (const lost of [admission, { refused: 'no_role' as const }])
      expect(await enter(arrival('admin', 'a@b'), lost)).toMatchObject({ kept_last_admin: true })
    expect((await identity.members('o1'))[0]).toMatchObject({ role: 'admin' })
    const actions = (await identity.audit('o1', { limit: 20, action: 'member' })).map(({ action }) => action)
    expect(actions).toEqual(expect.arrayContaining(['member.add', 'member.suspend', 'member.resume']))
  })

  it('a session that began while the clock was ahead ends and is confirmed as late as others', async () => {
    const ahead = NOW + 4e9
    const session = {
      id: 's1',
      secret_hash: 'hash s1',
      tokens: 'sealed',
      expires_at: ahead + 1e9,
      address: '::1',
    }
    const at = { organization_id: 'o1', now: ahead, session }
    await store.enter(arrival('ada', 'ada@acme.test'), () => ({ rights: USER, by_groups: false }), at)
    await store.touchSession('s1', NOW)
    expect((await store.findSession('hash s1', NOW))?.session).toMatchObject({
      created_at: NOW,
      last_used_at: NOW,
      checked_at: NOW,
      expires_at: NOW + 1e9,
    })
  })

  it('a session whose end cannot be recorded does not end', async () => {
    await enter(arrival('ada', 'ada@acme.test'), { rights: USER, by_groups: false }, store, 's1')
    const found = await store.findSession('hash s1', NOW)
    const broken: Database = {
      ...database,
      query: (...asked) => database.query(...asked),
      tx: () => Promise.reject(new Error('no')),
    }
    await expect(createSignInStore(broken).endSession(found!.session, 'signed_out', NOW)).rejects.toThrow(
      'no',
    )
    expect(await store.findSession('hash s1', NOW)).toBeDefined()
  })

  it('TEAM-6: a session is found until it ends; one server takes the turn to ask', async () => {
    await enter(arrival('ada', 'ada@acme.test'), { rights: USER, by_groups: true }, store, 's1')
    const found = await store.findSession('hash s1', NOW + SESSION_IDLE_MS - 1)
    expect(found?.session).toMatchObject({ id: 's1', provider: 'p', tokens: 'sealed', checked_at: NOW })
    expect(await store.findSession('hash s1', NOW + SESSION_IDLE_MS)).toBeUndefined()
    const another = createSignInStore(await engine.openAgain())
    const session = found!.session
    const turns = await Promise.all([store, another].map((one) => one.takeTurn(session, NOW + 30_000)))
    expect(turns.filter((isTaken) => isTaken)).toEqual([true])
    await store.touchSession('s1', NOW + 60_000)
    await store.keepTokens('s1', 'others')
    expect((await store.findSession('hash s1', NOW))?.session).toMatchObject({
      tokens: 'others',
      last_used_at: NOW + 60_000,
      checked_at: NOW + 30_000,
    })
    await store.endSession(session, 'signed_out', NOW)
    await store.endSession(session, 'signed_out', NOW)
    expect(await store.findSession('hash s1', NOW)).toBeUndefined()
    expect(await identity.audit('o1', { limit: 9, action: 'session.delete' })).toHaveLength(1)
  })

  it('TEAM-6: sessions and identities end with their member', async () => {
    const entered = await enter(
      arrival('ada', 'ada@acme.test'),
      { rights: USER, by_groups: true },
      store,
      's1',
    )
    const { user_id = '' } = entered
    await identity.removeMember('o1', user_id, ACTOR)
    expect(await store.findSession('hash s1', NOW)).toBeUndefined()
    await enter(arrival('ada', 'ada@acme.test'), { rights: USER, by_groups: true })
    expect(known).toMatchObject({ rights: undefined, by_groups: false })
  })

  it('TEAM-9: the invitation of a verified address is used up by the first sign-in', async () => {
    const invite: Invite = {
      id: 'i1',
      organization_id: 'o1',
      email: 'ada@acme.test',
      role: 'viewer',
      workspace_ids: ['w1'],
      created_by: 'u1',
      created_at: NOW,
      expires_at: NOW + 1000,
      key_expires_at: null,
    }
    await invites.create(invite, 'h', ACTOR)
    expect(await invites.list('o1', NOW)).toEqual([invite])
    await enter(arrival('eve', 'eve@acme.test'), { refused: 'no_role' })
    expect(known?.invited).toBeUndefined()
    await enter(arrival('ada', 'ada@acme.test'), { rights: USER, by_groups: false })
    expect(known?.invited).toMatchObject({ role: 'viewer', workspace_ids: ['w1'] })
    expect(await invites.list('o1', NOW)).toEqual([])
    expect(await invites.find('h', NOW)).toBeUndefined()
  })

  const invite = (id: string, more: Partial<Invite> = {}): Invite => ({
    id,
    organization_id: 'o1',
    email: 'ada@acme.test',
    role: 'user',
    workspace_ids: null,
    created_by: 'u1',
    created_at: NOW,
    expires_at: NOW + 1000,
    key_expires_at: null,
    ...more,
  })

  it('TEAM-9: every other invitation of an address ends when one is used, and with its member', async () => {
    await invites.create(invite('i1'), 'h1', ACTOR)
    await invites.create(invite('i2'), 'h2', ACTOR)
    const { user_id = '' } = await enter(arrival('ada', 'ada@acme.test'), { rights: USER, by_groups: false })
    expect(await invites.list('o1', NOW)).toEqual([])
    await invites.create(invite('i3'), 'h3', ACTOR)
    await identity.removeMember('o1', user_id, ACTOR)
    await enter(arrival('ada', 'ada@acme.test'), { refused: 'sign_up_off' })
    expect(known?.invited).toBeUndefined()
  })

  it('TEAM-9: an invitation gives no more than who invites may still give', async () => {
    const admin = { rights: { role: 'admin' as const, workspace_ids: null }, by_groups: false }
    const { user_id = '' } = await enter(arrival('bob', 'bob@acme.test'), admin)
    await invites.create(invite('i1', { role: 'admin', created_by: user_id }), 'h1', ACTOR)
    expect(await invites.find('h1', NOW)).toBeDefined()
    for (const change of [{ role: 'user' as const }, { role: 'admin' as const, workspace_ids: ['w1'] }]) {
      await identity.changeMember('o1', user_id, change, ACTOR)
      expect(await invites.find('h1', NOW)).toBeUndefined()
    }
    await identity.changeMember('o1', user_id, { workspace_ids: null }, ACTOR)
    expect(await invites.find('h1', NOW)).toBeDefined()
    await enter(arrival('bob', 'bob@acme.test'), { refused: 'group_required' })
    expect(await invites.find('h1', NOW)).toBeUndefined()
  })

  it("TEAM-4: an address that a guest only said is nobody's proof: its owner is another member", async () => {
    await invites.create(invite('i1', { email: null }), 'h1', ACTOR)
    const person = { user_id: 'guest', email: 'ada@acme.test', full_name: null }
    const key = { id: 'k9', key_hash: 'hash k9', short_key: 'lsv2...9' }
    const guest = await invites.accept('h1', person, key, NOW)
    expect(guest).toMatchObject({ email: 'ada@acme.test' })
    const admin = { rights: { role: 'admin' as const, workspace_ids: null }, by_groups: true }
    const { user_id } = await enter(arrival('ada', 'ada@acme.test'), admin)
    expect(user_id).not.toBe('guest')
    expect(known?.rights).toBeUndefined()
    const members = await identity.members('o1')
    expect(members.find((member) => member.user_id === 'guest')?.role).toBe('user')
  })
})
