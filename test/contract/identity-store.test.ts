import { beforeEach, describe, expect, it } from 'vitest'
import type { FirstIdentity, IdentityStore } from '../../src/auth/identity-store.ts'
import type { Database } from '../../src/storage/sql/database.ts'
import { createIdentityStore } from '../../src/storage/sql/identity-store.ts'
import { migrate } from '../../src/storage/sql/migrate.ts'
import { openSqlite } from '../../src/storage/sql/sqlite.ts'

const FIRST: FirstIdentity = {
  organization: { id: 'o1', display_name: 'Org', created_at: 10 },
  workspace: { id: 'w1', organization_id: 'o1', display_name: 'Default', created_at: 10 },
  user: { id: 'u1', email: 'a@b', full_name: 'A' },
  key: { id: 'k1', key_hash: 'h1', short_key: 'abcd...wxyz', description: 'first' },
}

/** Databases that the identity store promises the same on. */
const DATABASES: [string, () => Database][] = [['SQLite', () => openSqlite(':memory:')]]

describe.each(DATABASES)('identity on %s', (_name, open) => {
  let database: Database
  let store: IdentityStore
  beforeEach(async () => {
    database = open()
    await migrate(database)
    store = createIdentityStore(database)
  })

  it('knows nothing at first', async () => {
    expect(await store.firstOrganization()).toBeUndefined()
    expect(await store.organization('o1')).toBeUndefined()
    expect(await store.findKey('h1')).toBeUndefined()
    expect(await store.adminGrant('o1')).toBeUndefined()
    expect(await store.workspaces('o1')).toEqual([])
  })

  it('makes the first identity once, whoever else tries', async () => {
    const other = { ...FIRST, organization: { ...FIRST.organization, id: 'o2' } }
    const outcomes = await Promise.all([store.createFirst(FIRST), store.createFirst(other)])
    expect(outcomes).toEqual([true, false])
    expect(await store.firstOrganization()).toEqual(FIRST.organization)
    expect(await store.workspaces('o1')).toEqual([FIRST.workspace])
  })

  it('finds a key by its hash, with all it may do', async () => {
    await store.createFirst(FIRST)
    const grant = {
      organization_id: 'o1',
      user_id: 'u1',
      api_key_id: 'k1',
      short_key: 'abcd...wxyz',
      workspace_ids: ['w1'],
      default_workspace_id: 'w1',
      expires_at: null,
    }
    expect(await store.findKey('h1')).toEqual({ key_hash: 'h1', grant })
    expect(await store.adminGrant('o1')).toEqual(grant)
    expect(await store.findKey('H1')).toBeUndefined()
  })

  it('gives a key of all workspaces the later ones too, one of some only those, and none a deleted one', async () => {
    await store.createFirst(FIRST)
    await database.query(
      `INSERT INTO workspaces VALUES ('w2', 'o1', 'Two', 20, NULL), ('w3', 'o1', 'Gone', 30, 40)`,
    )
    await database.query(
      `INSERT INTO api_keys (id, organization_id, user_id, key_hash, short_key, description, role, read_only,
         all_workspaces, created_at, expires_at) VALUES ('k2', 'o1', NULL, 'h2', 's2', '', 'user', 0, 0, 20, 99)`,
    )
    await database.query(`INSERT INTO api_key_workspaces VALUES ('k2', 'w2'), ('k2', 'w3')`)
    expect((await store.findKey('h1'))?.grant.workspace_ids).toEqual(['w1', 'w2'])
    expect((await store.findKey('h2'))?.grant).toMatchObject({
      user_id: null,
      workspace_ids: ['w2'],
      default_workspace_id: 'w2',
      expires_at: 99,
    })
    await database.query(`INSERT INTO api_key_workspaces VALUES ('k2', 'w1')`)
    expect((await store.findKey('h2'))?.grant.default_workspace_id).toBeNull()
  })

  it('notes when a key was used and hides deleted keys', async () => {
    await store.createFirst(FIRST)
    await store.touchKey('k1', 77)
    expect(await database.query('SELECT last_used_at FROM api_keys')).toEqual([{ last_used_at: 77 }])
    await database.query('UPDATE api_keys SET deleted_at = 80')
    expect(await store.findKey('h1')).toBeUndefined()
    expect(await store.adminGrant('o1')).toBeUndefined()
  })
})
