import { beforeEach, describe, expect, it } from 'vitest'
import type { IdentityStore } from '../../../src/identity/identity-store.ts'
import { createIdentityStore } from '../../../src/storage/sql/identity/identity-store.ts'
import { ACTOR, FIRST, KEY, MEMBER } from '../../support/stores/sql/identity-records.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'

describeOnSql('the admins of an organization', (engine) => {
  let store: IdentityStore
  beforeEach(async () => {
    const database = await engine.openPlatform()
    store = createIdentityStore(database)
    await store.createFirst(FIRST)
  })

  describe('the admin grant', () => {
    it('is that of the oldest admin key without an expiry, else of one that expires', async () => {
      const admin = { ...KEY, role: 'admin' } as const
      await store.createKey({ ...admin, read_only: true }, ACTOR)
      await store.createKey({ ...admin, id: 'k3', key_hash: 'h3', short_key: 's3', expires_at: 99 }, ACTOR)
      await store.createKey({ ...KEY, id: 'k4', key_hash: 'h4', short_key: 's4' }, ACTOR)
      await store.createKey({ ...admin, id: 'k5', key_hash: 'h5', short_key: 's5', created_at: 90 }, ACTOR)
      expect((await store.adminGrant('o1'))?.api_key_id).toBe('k1')
      await store.deleteKey('o1', 'personal', 'k1', ACTOR)
      expect((await store.adminGrant('o1'))?.api_key_id).toBe('k5')
      await store.deleteKey('o1', 'service', 'k5', ACTOR)
      expect(await store.adminGrant('o1')).toMatchObject({ api_key_id: 'k3', expires_at: 99 })
      await store.deleteKey('o1', 'service', 'k3', ACTOR)
      expect(await store.adminGrant('o1')).toBeUndefined()
    })

    it('is not that of a demoted member', async () => {
      await store.addMember({ ...MEMBER, role: 'admin' }, ACTOR)
      await store.changeMember('o1', 'u1', { role: 'user' }, ACTOR)
      expect(await store.adminGrant('o1')).toBeUndefined()
    })

    it('is of all workspaces, as are its key and the member that it acts for', async () => {
      await store.addMember({ ...MEMBER, role: 'admin' }, ACTOR)
      await store.changeMember('o1', 'u1', { workspace_ids: ['w1'] }, ACTOR)
      const admin = { ...KEY, role: 'admin' } as const
      await store.createKey({ ...admin, workspace_ids: ['w1'] }, ACTOR)
      expect(await store.adminGrant('o1')).toBeUndefined()
      await store.createKey({ ...admin, id: 'k3', key_hash: 'h3', short_key: 's3', user_id: 'u2' }, ACTOR)
      expect(await store.adminGrant('o1')).toMatchObject({ api_key_id: 'k3', all_workspaces: true })
    })
  })

  describe('members', () => {
    it('IDENTITY-11: always include one admin of all workspaces', async () => {
      await store.addMember({ ...MEMBER, role: 'admin', workspace_ids: ['w1'] }, ACTOR)
      const refused = { code: 'conflict' }
      for (const change of [{ workspace_ids: [] }, { workspace_ids: ['w1'] }, { role: 'user' } as const])
        await expect(store.changeMember('o1', 'u1', change, ACTOR)).rejects.toMatchObject(refused)
      await expect(store.removeMember('o1', 'u1', ACTOR)).rejects.toMatchObject(refused)
      expect((await store.members('o1'))[0]).toMatchObject({ role: 'admin', workspace_ids: null })
      await store.changeMember('o1', 'u2', { workspace_ids: null }, ACTOR)
      expect(await store.changeMember('o1', 'u1', { workspace_ids: [] }, ACTOR)).toMatchObject({
        workspace_ids: [],
      })
      await expect(store.removeMember('o1', 'u2', ACTOR)).rejects.toMatchObject(refused)
      expect(await store.removeMember('o1', 'u1', ACTOR)).toEqual(['k1'])
    })

    it('always include one admin, however many are removed at once', async () => {
      await expect(store.changeMember('o1', 'u1', { role: 'operator' }, ACTOR)).rejects.toMatchObject({
        code: 'conflict',
      })
      await expect(store.removeMember('o1', 'u1', ACTOR)).rejects.toMatchObject({ code: 'conflict' })
      await store.addMember({ ...MEMBER, role: 'admin' }, ACTOR)
      const another = createIdentityStore(await engine.openAgain())
      await another.members('o1')
      const gone = await Promise.allSettled([
        store.changeMember('o1', 'u1', { role: 'user' }, ACTOR),
        another.removeMember('o1', 'u2', ACTOR),
      ])
      expect(gone.filter(({ status }) => status === 'rejected')).toMatchObject([
        { reason: { code: 'conflict' } },
      ])
      expect((await store.members('o1')).filter(({ role }) => role === 'admin')).toHaveLength(1)
    })
  })
})
