import { beforeEach, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import type { IdentityStore } from '../../../src/identity/identity-store.ts'
import type { ScimCaller, ScimStore, ScimTokenStore } from '../../../src/identity/scim/scim.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createIdentityStore } from '../../../src/storage/sql/identity/identity-store.ts'
import { createScimStore } from '../../../src/storage/sql/identity/scim/scim-store.ts'
import { createScimTokenStore } from '../../../src/storage/sql/identity/scim/token-store.ts'
import { NOW } from '../../support/faults/test-clock.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'

describeOnSql('TEAM-10: the store of SCIM', (engine) => {
  let organization_id: string
  let database: Database
  let identity: IdentityStore
  let store: ScimStore
  let tokens: ScimTokenStore
  let caller: ScimCaller
  beforeEach(async () => {
    organization_id = newUuid()
    database = await engine.openPlatform()
    identity = createIdentityStore(database)
    store = createScimStore(database)
    tokens = createScimTokenStore(database)
    await identity.createFirst({
      organization: { id: organization_id, display_name: 'o', created_at: 1 },
      workspace: { id: newUuid(), organization_id, display_name: 'Default', created_at: 1 },
      user: { id: newUuid(), email: 'first@acme.test', full_name: 'First' },
      key: { id: newUuid(), key_hash: 'h', short_key: 's', description: 'd' },
    })
    caller = {
      organization_id,
      actor: { api_key_id: newUuid(), short_key: 'SCIM', user_id: null, at: NOW },
      issuer: 'https://id.acme.test',
      rightsOf: (groups) => (groups.includes('staff') ? { role: 'user', workspace_ids: null } : undefined),
      otherwise: undefined,
    }
  })
  const states = async (): Promise<string[]> =>
    (await identity.members(organization_id)).map(
      ({ email, role, suspended }) => `${email} ${role} ${suspended}`,
    )

  it('makes users, gives them the rights of their groups and takes those away', async () => {
    const user = await store.createUser({ user_name: 'Ada@acme.test', external_id: 'sub' }, caller)
    expect(await states()).toContain('ada@acme.test viewer groups')
    const members = [{ op: 'set' as const, user_ids: [user.id, 'unknown'] }]
    const group = await store.createGroup({ display_name: 'staff', members }, caller)
    expect(group.members.map(({ id }) => id)).toEqual([user.id])
    expect(await states()).toContain('ada@acme.test user undefined')
    await store.changeGroup(group.id, { display_name: 'others', members: [] }, caller)
    expect(await states()).toContain('ada@acme.test user groups')
    await store.changeGroup(group.id, { display_name: 'staff', members: [] }, caller)
    expect((await store.changeUser(user.id, { active: false }, caller)).active).toBe(false)
    expect(await states()).toContain('ada@acme.test user scim')
    await store.removeGroup(group.id, caller)
    expect(await store.changeUser(user.id, { active: true }, caller)).toMatchObject({
      active: true,
      groups: [],
    })
    expect(await states()).toContain('ada@acme.test user groups')
    await store.removeUser(user.id, caller)
    expect(await states()).toEqual(['first@acme.test admin undefined'])
  })

  it('makes one of two users that are made with one name at the same time', async () => {
    const both = [1, 2].map(() => store.createUser({ user_name: 'ada@acme.test' }, caller))
    const outcomes = (await Promise.allSettled(both)).map(({ status }) => status)
    expect(outcomes.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(['fulfilled', 'rejected'])
    const query = { filter: { attribute: 'userName', value: 'ADA@acme.test' }, offset: 0, limit: 9 } as const
    expect((await store.users(organization_id, query)).total).toBe(1)
  })

  it('changes nothing of a user if a part of the change is refused', async () => {
    await store.createUser({ user_name: 'ada@acme.test', external_id: 'ada' }, caller)
    const bob = await store.createUser({ user_name: 'bob@acme.test', external_id: 'bob' }, caller)
    const change = { given_name: 'Bob', external_id: 'ada' }
    await expect(store.changeUser(bob.id, change, caller)).rejects.toMatchObject({ status: 409 })
    const filter = { attribute: 'externalId', value: 'bob' } as const
    const after = await store.users(organization_id, { filter, offset: 0, limit: 1 })
    expect(after).toMatchObject({ total: 1, resources: [{ id: bob.id, given_name: null }] })
  })

  it('finds a token until it ends', async () => {
    const token = {
      id: newUuid(),
      organization_id,
      provider: 'p',
      description: 'd',
      created_at: NOW,
      expires_at: NOW + 10,
      last_used_at: null,
    }
    await tokens.create(token, 'hash', caller.actor)
    expect(await tokens.find('hash', NOW)).toEqual(token)
    expect(await tokens.list(organization_id)).toEqual([{ ...token, last_used_at: NOW }])
    expect([await tokens.find('hash', NOW + 10), await tokens.find('other', NOW)]).toEqual([
      undefined,
      undefined,
    ])
    expect(await tokens.remove(organization_id, token.id, caller.actor)).toBe(true)
    expect(await tokens.remove(organization_id, token.id, caller.actor)).toBe(false)
  })
})
