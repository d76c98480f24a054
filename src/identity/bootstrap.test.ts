import { mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { createIdentityStore } from '../storage/sql/identity/identity-store.ts'
import { migrate } from '../storage/sql/driver/migrate.ts'
import type { Database } from '../storage/sql/driver/database.ts'
import { openSqlite } from '../storage/sql/driver/sqlite.ts'
import { hashApiKey, isApiKey } from './api-keys.ts'
import { bootstrapIdentity } from './bootstrap.ts'
import type { IdentityStore } from './identity-store.ts'
import { NOW, testClock } from '../../test/support/faults/test-clock.ts'
import { newFolder } from '../../test/support/folder.ts'

const GIVEN = 'a-given-key_0123456789'
const clock = testClock()
let dataDir: string
let database: Database
let store: IdentityStore
beforeEach(async () => {
  dataDir = await newFolder()
  database = openSqlite(':memory:')
  await migrate(database)
  store = createIdentityStore(database)
})

const kept = (): Promise<string> => readFile(join(dataDir, 'api-key'), 'utf8')

describe('bootstrapIdentity', () => {
  it('creates organization, workspace and a key, in a file that only its owner can read', async () => {
    const first = await bootstrapIdentity(store, { dataDir, clock })
    expect(first).toMatchObject({
      created: true,
      ignoredBootstrapKey: false,
      workspace: { display_name: 'Default' },
      grant: { workspace_ids: [first.workspace.id], default_workspace_id: first.workspace.id },
    })
    expect(first.key).toMatch(/^lsv2_pt_[0-9a-f]{32}_[0-9a-f]{10}$/)
    expect(await kept()).toBe(`${first.key}\n`)
    expect((await stat(join(dataDir, 'api-key'))).mode & 0o777).toBe(0o600)
    expect((await store.findKey(hashApiKey(first.key ?? '')))?.grant).toEqual(first.grant)
  })

  it('changes nothing at the next start', async () => {
    const first = await bootstrapIdentity(store, { dataDir, clock })
    const second = await bootstrapIdentity(store, { dataDir, clock })
    expect(second).toEqual({ ...first, created: false })
  })

  it('uses BOOTSTRAP_API_KEY on an empty store, without writing it to a file', async () => {
    const first = await bootstrapIdentity(store, { dataDir, bootstrapKey: GIVEN, clock })
    expect(first).toMatchObject({ created: true, key: GIVEN, grant: { short_key: 'a-gi...6789' } })
    await expect(kept()).rejects.toThrow('ENOENT')
    const second = await bootstrapIdentity(store, { dataDir, bootstrapKey: GIVEN, clock })
    expect(second).toMatchObject({ created: false, key: GIVEN, ignoredBootstrapKey: false })
    expect((await bootstrapIdentity(store, { dataDir, clock })).key).toBeUndefined()
  })

  it('ignores and reports another BOOTSTRAP_API_KEY on a store that has keys', async () => {
    const first = await bootstrapIdentity(store, { dataDir, clock })
    const second = await bootstrapIdentity(store, { dataDir, bootstrapKey: GIVEN, clock })
    expect(second).toEqual({ ...first, created: false, ignoredBootstrapKey: true })
    expect(await store.findKey(hashApiKey(GIVEN))).toBeUndefined()
  })

  it('uses the kept key when the process died before storing it', async () => {
    const dying: IdentityStore = { ...store, createFirst: () => Promise.reject(new Error('killed')) }
    await expect(bootstrapIdentity(dying, { dataDir, clock })).rejects.toThrow('killed')
    const written = (await kept()).trim()
    expect(isApiKey(written)).toBe(true)
    expect((await bootstrapIdentity(store, { dataDir, clock })).key).toBe(written)
  })

  it('uses the identity that another process created at the same time, and stores no unused key', async () => {
    const slower: IdentityStore = {
      ...store,
      async createFirst(identity) {
        await bootstrapIdentity(store, { dataDir: otherDir, bootstrapKey: GIVEN, clock })
        return await store.createFirst(identity)
      },
    }
    const otherDir = join(dataDir, 'other')
    await mkdir(otherDir)
    const late = await bootstrapIdentity(slower, { dataDir, clock })
    const early = await bootstrapIdentity(store, { dataDir: otherDir, bootstrapKey: GIVEN, clock })
    expect(late).toEqual({ ...early, created: false, key: undefined })
    await expect(kept()).rejects.toThrow('ENOENT')
  })

  it('does not show a kept key that was deleted, and makes a new one when no admin key is left', async () => {
    const first = await bootstrapIdentity(store, { dataDir, clock })
    const { organization_id, api_key_id, short_key, user_id } = first.grant
    const actor = { api_key_id, short_key, user_id, at: NOW + 2 }
    const spare = { key_hash: 'h', short_key: 's', description: '', role: 'admin' as const, read_only: false }
    await store.createKey(
      {
        ...spare,
        id: 'k2',
        organization_id,
        user_id: null,
        workspace_ids: null,
        default_workspace_id: null,
        created_at: NOW + 1,
        expires_at: NOW + 99,
        last_used_at: null,
      },
      actor,
    )
    await store.deleteKey(organization_id, 'personal', api_key_id, actor)
    const second = await bootstrapIdentity(store, { dataDir, clock })
    expect(second).toMatchObject({
      key: undefined,
      grant: { api_key_id: 'k2' },
      created: false,
      replaced: false,
    })
    await store.deleteKey(organization_id, 'service', 'k2', actor)
    const third = await bootstrapIdentity(store, { dataDir, clock })
    expect(third.key).not.toBe(first.key)
    expect(await kept()).toBe(`${third.key}\n`)
    expect((await store.findKey(hashApiKey(third.key ?? '')))?.grant).toEqual(third.grant)
    expect(third.grant).toMatchObject({ user_id, role: 'admin', workspace_ids: [first.workspace.id] })
    expect(third.replaced).toBe(true)
    expect(await bootstrapIdentity(store, { dataDir, clock })).toEqual({ ...third, replaced: false })
  })

  it('IDENTITY-11: gives a new key to an admin of all workspaces, and makes an admin one if there is none', async () => {
    const first = await bootstrapIdentity(store, { dataDir, clock })
    const { organization_id, api_key_id, short_key, user_id } = first.grant
    const actor = { api_key_id, short_key, user_id, at: NOW + 2 }
    const bea = { organization_id, user_id: 'u2', email: 'b@c', full_name: null, created_at: NOW + 4 }
    await store.addMember({ ...bea, role: 'admin', workspace_ids: null }, actor)
    await store.changeMember(organization_id, user_id ?? '', { workspace_ids: [] }, actor)
    const second = await bootstrapIdentity(store, { dataDir, clock })
    expect(second).toMatchObject({ replaced: true, grant: { user_id: 'u2', all_workspaces: true } })
    // The state that data directories of older versions may have.
    await database.query('UPDATE members SET all_workspaces = 0')
    const third = await bootstrapIdentity(store, { dataDir, clock })
    expect(third).toMatchObject({ replaced: true, grant: { user_id, all_workspaces: true } })
    const anew = await store.findKey(hashApiKey(third.key ?? ''))
    expect(anew?.grant).toMatchObject({ user_id, role: 'admin', all_workspaces: true, read_only: false })
    expect(await store.audit(organization_id, { limit: 1 })).toMatchObject([{ action: 'key.create' }])
  })
})
