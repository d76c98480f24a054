import { beforeEach, describe, expect, it } from 'vitest'
import type { AuditQuery, IdentityStore } from '../../../src/identity/identity-store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createIdentityStore } from '../../../src/storage/sql/identity/identity-store.ts'
import { ACTOR, FIRST, KEY, MEMBER } from '../../support/stores/sql/identity-records.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'

describeOnSql('identity', (engine) => {
  let database: Database
  let store: IdentityStore
  beforeEach(async () => {
    database = await engine.openPlatform()
    store = createIdentityStore(database)
  })
  const grantOf = async (key_hash: string) => (await store.findKey(key_hash))?.grant
  const addWorkspace = (id: string, created_at: number) =>
    store.createWorkspace({ id, organization_id: 'o1', display_name: id, created_at }, ACTOR)
  /** Creates a second organization, which only the database can do. */
  const addForeign = async (): Promise<void> => {
    await database.query(`INSERT INTO organizations VALUES ('o2', 'Other', 11)`)
    await database.query(
      `INSERT INTO workspaces (id, organization_id, display_name, created_at, deleted_at) VALUES ('x1', 'o2', 'Foreign', 11, NULL)`,
    )
    await database.query(`INSERT INTO users VALUES ('y1', 'x@y', NULL, 11)`)
    await database.query(
      `INSERT INTO members (organization_id, user_id, role, all_workspaces, created_at) VALUES ('o2', 'y1', 'admin', 1, 11)`,
    )
  }

  describe('the first identity', () => {
    it('is empty at first', async () => {
      expect(await store.firstOrganization()).toBeUndefined()
      expect(await store.organization('o1')).toBeUndefined()
      expect(await store.findKey('h1')).toBeUndefined()
      expect(await store.adminGrant('o1')).toBeUndefined()
      expect(await store.workspaces('o1')).toEqual([])
    })

    it('is created once, also with concurrent tries', async () => {
      const another = createIdentityStore(await engine.openAgain())
      const other = { ...FIRST, organization: { ...FIRST.organization, id: 'o2' } }
      const outcomes = await Promise.all([
        store.createFirst(FIRST),
        another.createFirst(FIRST),
        store.createFirst(FIRST),
        another.createFirst(FIRST),
      ])
      expect(outcomes.filter(Boolean)).toHaveLength(1)
      expect(await store.createFirst(other)).toBe(false)
      expect(await store.firstOrganization()).toEqual(FIRST.organization)
      expect(await store.workspaces('o1')).toEqual([FIRST.workspace])
    })
  })

  describe('keys', () => {
    beforeEach(() => store.createFirst(FIRST))

    it('are found by their hash, with their permissions', async () => {
      const grant = {
        organization_id: 'o1',
        user_id: 'u1',
        api_key_id: 'k1',
        short_key: 'abcd...wxyz',
        workspace_ids: ['w1'],
        all_workspaces: true,
        default_workspace_id: 'w1',
        role: 'admin',
        member_role: 'admin',
        read_only: false,
        expires_at: null,
      }
      expect(await store.findKey('h1')).toEqual({ key_hash: 'h1', grant })
      expect(await store.adminGrant('o1')).toEqual(grant)
      expect(await store.findKey('H1')).toBeUndefined()
    })

    it('of all workspaces have the later ones too, those of some only these, and none a deleted one', async () => {
      await addWorkspace('w2', 20)
      await addWorkspace('w3', 30)
      const some = { ...KEY, workspace_ids: ['w3', 'w2', 'w2'], expires_at: 99, read_only: true }
      expect(await store.createKey(some, ACTOR)).toBe(true)
      expect(await grantOf('h1')).toMatchObject({
        workspace_ids: ['w1', 'w2', 'w3'],
        default_workspace_id: 'w1',
      })
      expect(await grantOf('h2')).toEqual({
        organization_id: 'o1',
        user_id: null,
        api_key_id: 'k2',
        short_key: 's2',
        workspace_ids: ['w2', 'w3'],
        all_workspaces: false,
        default_workspace_id: null,
        role: 'user',
        member_role: null,
        read_only: true,
        expires_at: 99,
      })
      await store.deleteWorkspace('o1', 'w3', ACTOR)
      expect(await grantOf('h2')).toMatchObject({ workspace_ids: ['w2'], default_workspace_id: 'w2' })
      await store.deleteWorkspace('o1', 'w1', ACTOR)
      expect(await grantOf('h1')).toMatchObject({ workspace_ids: ['w2'], default_workspace_id: 'w2' })
      await addWorkspace('w4', 40)
      expect(await grantOf('h1')).toMatchObject({ workspace_ids: ['w2', 'w4'], default_workspace_id: null })
    })

    it('are listed by kind, newest first', async () => {
      await addWorkspace('w2', 20)
      const second = { ...KEY, workspace_ids: ['w2'], default_workspace_id: 'w2', created_at: 40 }
      const personal = { ...KEY, id: 'k3', key_hash: 'h3', short_key: 's3', user_id: 'u1', created_at: 60 }
      for (const key of [second, personal]) await store.createKey(key, ACTOR)
      const { key_hash, ...shown } = second
      expect(await store.apiKeys('o1', 'service')).toEqual([shown])
      expect(key_hash).toBe('h2')
      expect((await store.apiKeys('o1', 'personal')).map(({ id }) => id)).toEqual(['k3', 'k1'])
      expect(await store.apiKeys('o2', 'service')).toEqual([])
    })

    it('IDENTITY-1: are not created when short key or hash is taken, also by a deleted key', async () => {
      expect(await store.createKey({ ...KEY, short_key: 'abcd...wxyz' }, ACTOR)).toBe(false)
      expect(await store.createKey({ ...KEY, key_hash: 'h1' }, ACTOR)).toBe(false)
      expect(await store.findKey('h2')).toBeUndefined()
      expect(await store.createKey(KEY, ACTOR)).toBe(true)
      expect(await store.deleteKey('o1', 'service', 'k2', ACTOR)).toBe(true)
      const redrawn = { ...KEY, id: 'k3', key_hash: 'h3' }
      expect(await store.createKey(redrawn, ACTOR)).toBe(false)
      expect(await store.createKey({ ...redrawn, short_key: 's3' }, ACTOR)).toBe(true)
      const twins = ['k4', 'k5', 'k6'].map((id) => ({ ...KEY, id, key_hash: id, short_key: 'same' }))
      const made = await Promise.all(twins.map((key) => store.createKey(key, ACTOR)))
      expect(made.filter(Boolean)).toHaveLength(1)
    })

    it('act for members and in workspaces of their organization only', async () => {
      await addForeign()
      for (const wrong of [
        { workspace_ids: ['x1'] },
        { workspace_ids: ['w1', 'none'] },
        { default_workspace_id: 'x1' },
        { user_id: 'y1' },
        { user_id: 'none' },
      ]) {
        await expect(store.createKey({ ...KEY, ...wrong }, ACTOR)).rejects.toMatchObject({
          code: 'invalid_request',
        })
      }
      expect(await store.apiKeys('o1', 'service')).toEqual([])
    })

    it('are refused once deleted, and only by their own organization and kind', async () => {
      await store.createKey(KEY, ACTOR)
      expect(await store.deleteKey('o2', 'service', 'k2', ACTOR)).toBe(false)
      expect(await store.deleteKey('o1', 'personal', 'k2', ACTOR)).toBe(false)
      expect(await grantOf('h2')).toBeDefined()
      expect(await store.deleteKey('o1', 'service', 'k2', ACTOR)).toBe(true)
      expect(await store.deleteKey('o1', 'service', 'k2', ACTOR)).toBe(false)
      expect(await store.findKey('h2')).toBeUndefined()
      expect(await store.apiKeys('o1', 'service')).toEqual([])
      expect((await store.names('o1')).short_keys.get('k2')).toBe('s2')
    })

    it('record when they were used, to the minute', async () => {
      const last = async () => (await store.apiKeys('o1', 'personal'))[0]?.last_used_at
      await store.touchKey('k1', 1_700_000_000_000)
      expect(await last()).toBe(1_700_000_000_000)
      await store.touchKey('k1', 1_700_000_059_999)
      expect(await last()).toBe(1_700_000_000_000)
      await store.touchKey('k1', 1_700_000_060_000)
      expect(await last()).toBe(1_700_000_060_000)
      const ahead = 1_700_000_060_000 + 3_600_000
      for (const at of [ahead, 1_700_000_120_000]) await store.touchKey('k1', at)
      expect(await last()).toBe(1_700_000_120_000)
    })
  })

  describe('workspaces', () => {
    beforeEach(() => store.createFirst(FIRST))

    it('are listed oldest first, renamed, and their ids never used again', async () => {
      await addWorkspace('w3', 30)
      await addWorkspace('w2', 20)
      expect((await store.workspaces('o1')).map(({ id }) => id)).toEqual(['w1', 'w2', 'w3'])
      const renamed = { id: 'w2', organization_id: 'o1', display_name: 'Two', created_at: 20 }
      expect(await store.renameWorkspace('o1', 'w2', 'Two', ACTOR)).toEqual(renamed)
      expect((await store.workspaces('o1'))[1]).toEqual(renamed)
      expect(await store.renameWorkspace('o2', 'w2', 'Stolen', ACTOR)).toBeUndefined()
      await expect(addWorkspace('w2', 40)).rejects.toMatchObject({ code: 'conflict' })
      expect(await store.deleteWorkspace('o2', 'w2', ACTOR)).toBe(false)
      expect(await store.deleteWorkspace('o1', 'w2', ACTOR)).toBe(true)
      expect(await store.deleteWorkspace('o1', 'w2', ACTOR)).toBe(false)
      expect(await store.renameWorkspace('o1', 'w2', 'Late', ACTOR)).toBeUndefined()
      await expect(addWorkspace('w2', 40)).rejects.toMatchObject({ code: 'conflict' })
      expect((await store.names('o1')).workspaces.get('w2')).toBe('Two')
    })

    it('keep one, however many are deleted at once', async () => {
      await addWorkspace('w2', 20)
      const another = createIdentityStore(await engine.openAgain())
      await another.workspaces('o1') // opens its connection now, so that both calls start at the same time
      const deleted = await Promise.allSettled([
        store.deleteWorkspace('o1', 'w1', ACTOR),
        another.deleteWorkspace('o1', 'w2', ACTOR),
      ])
      expect(deleted.filter(({ status }) => status === 'rejected')).toMatchObject([
        { reason: { code: 'conflict' } },
      ])
      expect(await store.workspaces('o1')).toHaveLength(1)
    })
  })

  describe('members', () => {
    beforeEach(() => store.createFirst(FIRST))
    const personal = { ...KEY, user_id: 'u2', role: 'admin' } as const

    it('are added with their email in lower case, once', async () => {
      const added = { ...MEMBER, email: 'bea@example.org' }
      expect(await store.addMember(MEMBER, ACTOR)).toEqual(added)
      expect((await store.members('o1')).map(({ user_id }) => user_id)).toEqual(['u1', 'u2'])
      expect((await store.members('o1'))[1]).toEqual(added)
      await expect(store.addMember({ ...MEMBER, user_id: 'u9' }, ACTOR)).rejects.toMatchObject({
        code: 'conflict',
      })
      await expect(store.addMember({ ...MEMBER, user_id: 'u1' }, ACTOR)).rejects.toMatchObject({
        code: 'conflict',
      })
      await expect(
        store.addMember({ ...MEMBER, user_id: 'u3', email: 'c@d', workspace_ids: ['none'] }, ACTOR),
      ).rejects.toMatchObject({ code: 'invalid_request' })
      expect(await store.members('o1')).toHaveLength(2)
      expect(await store.members('o2')).toEqual([])
    })

    it('use the user with that email, who keeps the name', async () => {
      await addForeign()
      const taken = await store.addMember({ ...MEMBER, email: 'X@Y', full_name: 'Xy' }, ACTOR)
      expect(taken).toMatchObject({ user_id: 'y1', email: 'x@y', full_name: 'Xy' })
      await store.removeMember('o1', 'y1', ACTOR)
      const again = await store.addMember({ ...MEMBER, email: 'x@y', full_name: 'Other' }, ACTOR)
      expect(again).toMatchObject({ user_id: 'y1', full_name: 'Xy' })
      expect(await store.members('o2')).toHaveLength(1)
    })

    it('limit the permissions of their keys, from the moment of a change', async () => {
      await addWorkspace('w2', 20)
      await addWorkspace('w3', 25)
      await store.addMember({ ...MEMBER, workspace_ids: ['w2', 'w1'] }, ACTOR)
      await store.createKey({ ...personal, workspace_ids: ['w2', 'w3'], default_workspace_id: 'w3' }, ACTOR)
      expect(await grantOf('h2')).toMatchObject({
        role: 'admin',
        member_role: 'user',
        workspace_ids: ['w2'],
        all_workspaces: false,
        default_workspace_id: 'w2',
      })
      const changed = await store.changeMember(
        'o1',
        'u2',
        { role: 'viewer', workspace_ids: null, full_name: null },
        ACTOR,
      )
      expect(changed).toMatchObject({ role: 'viewer', workspace_ids: null, full_name: null })
      expect(await grantOf('h2')).toMatchObject({
        member_role: 'viewer',
        workspace_ids: ['w2', 'w3'],
        default_workspace_id: 'w3',
      })
      expect(await store.changeMember('o1', 'u2', { workspace_ids: [] }, ACTOR)).toMatchObject({
        workspace_ids: [],
      })
      expect(await grantOf('h2')).toMatchObject({ workspace_ids: [], default_workspace_id: null })
      expect(await store.changeMember('o2', 'u2', { role: 'admin' }, ACTOR)).toBeUndefined()
      await expect(store.changeMember('o1', 'u2', { workspace_ids: ['x'] }, ACTOR)).rejects.toMatchObject({
        code: 'invalid_request',
      })
    })

    it('lose their personal keys for good when they are removed', async () => {
      await addWorkspace('w2', 20)
      await store.addMember({ ...MEMBER, workspace_ids: ['w2'] }, ACTOR)
      await store.createKey(personal, ACTOR)
      await store.createKey({ ...KEY, id: 'k3', key_hash: 'h3', short_key: 's3' }, ACTOR)
      expect(await store.removeMember('o2', 'u2', ACTOR)).toBeUndefined()
      expect(await store.removeMember('o1', 'u2', ACTOR)).toEqual(['k2'])
      expect(await store.removeMember('o1', 'u2', ACTOR)).toBeUndefined()
      expect([await grantOf('h2'), (await grantOf('h3'))?.api_key_id]).toEqual([undefined, 'k3'])
      await store.addMember(MEMBER, ACTOR)
      expect(await grantOf('h2')).toBeUndefined()
      expect((await store.names('o1')).emails).toEqual(
        new Map([
          ['u1', 'a@b'],
          ['u2', 'bea@example.org'],
        ]),
      )
    })
  })

  describe('the audit', () => {
    beforeEach(() => store.createFirst(FIRST))

    it('has an entry for every change and none for a request without a change', async () => {
      await addWorkspace('w2', 20)
      await store.renameWorkspace('o1', 'w2', 'w2', ACTOR)
      await store.addMember(MEMBER, ACTOR)
      await store.changeMember('o1', 'u2', { role: 'user', full_name: 'Bea' }, ACTOR)
      await store.changeMember('o1', 'u2', { role: 'viewer', full_name: 'Bea' }, { ...ACTOR, at: 60 })
      await store.createKey({ ...KEY, user_id: 'u2' }, ACTOR)
      await store.createKey({ ...KEY, id: 'k9' }, ACTOR)
      await expect(store.removeMember('o1', 'u1', ACTOR)).rejects.toThrow()
      await store.removeMember('o1', 'u2', ACTOR)
      await store.deleteWorkspace('o1', 'w2', ACTOR)
      const lines = await store.audit('o1', { limit: 100 })
      expect(lines.map(({ action, subject_id }) => `${action} ${subject_id}`)).toEqual([
        'workspace.delete w2',
        'key.delete k2',
        'member.remove u2',
        'key.create k2',
        'member.change u2',
        'member.add u2',
        'workspace.create w2',
      ])
      const { id, ...change } = lines[4] ?? {}
      expect(id).toBeTypeOf('string')
      expect(change).toEqual({
        organization_id: 'o1',
        at: 60,
        actor_api_key_id: 'k1',
        actor_short_key: 'abcd...wxyz',
        actor_user_id: 'u1',
        action: 'member.change',
        subject_id: 'u2',
        details: { from: { role: 'user' }, to: { role: 'viewer' } },
      })
      expect(JSON.stringify(lines)).not.toContain('h2')
      expect(await store.audit('o2', { limit: 100 })).toEqual([])
    })

    it('N19: is read by action, author, subject and time', async () => {
      const other = { ...ACTOR, api_key_id: 'k7', user_id: 'u7', at: 60 }
      await addWorkspace('w2', 20)
      await store.addMember(MEMBER, ACTOR)
      await store.changeMember('o1', 'u2', { role: 'viewer' }, other)
      const read = async (query: Partial<AuditQuery>) =>
        (await store.audit('o1', { limit: 9, ...query })).map(({ action }) => action)
      expect(await read({ action: 'member' })).toEqual(['member.change', 'member.add'])
      expect(await read({ action: 'member.add' })).toEqual(['member.add'])
      expect(await read({ action: 'memb' })).toEqual([])
      expect(await read({ actor: 'u7' })).toEqual(['member.change'])
      expect(await read({ actor: 'k7', subject_id: 'u2' })).toEqual(['member.change'])
      expect(await read({ subject_id: 'u2' })).toEqual(['member.change', 'member.add'])
      expect(await read({ from: 60 })).toEqual(['member.change'])
      expect(await read({ to: 60, limit: 1 })).toEqual(['member.add'])
    })

    it('is read in pages, in the order of the changes though they were made at once', async () => {
      const ids = Array.from({ length: 12 }, (_, i) => `p${i}`)
      await Promise.all(ids.map((id) => addWorkspace(id, 20)))
      const all = await store.audit('o1', { limit: 100 })
      expect(new Set(all.map(({ subject_id }) => subject_id))).toEqual(new Set(ids))
      const first = await store.audit('o1', { limit: 5 })
      const second = await store.audit('o1', { limit: 100, before: first[4]?.id ?? '' })
      expect([...first, ...second]).toEqual(all)
      expect(await store.audit('o1', { limit: 5, before: 'none' })).toEqual([])
    })
  })

  it('returns the names for reports, of its own organization only', async () => {
    await store.createFirst(FIRST)
    await addForeign()
    expect(await store.names('o1')).toEqual({
      workspaces: new Map([['w1', 'Default']]),
      emails: new Map([['u1', 'a@b']]),
      short_keys: new Map([['k1', 'abcd...wxyz']]),
    })
  })
})
