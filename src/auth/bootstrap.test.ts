import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createIdentityStore } from '../storage/sql/identity-store.ts'
import { migrate } from '../storage/sql/migrate.ts'
import { openSqlite } from '../storage/sql/sqlite.ts'
import { hashApiKey, isApiKey } from './api-keys.ts'
import { bootstrapIdentity } from './bootstrap.ts'
import type { IdentityStore } from './identity-store.ts'

const GIVEN = 'a-given-key_0123456789'
const clock = { now: () => 5 }
let dataDir: string
let store: IdentityStore
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'weir-'))
  const database = openSqlite(':memory:')
  await migrate(database)
  store = createIdentityStore(database)
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

const kept = (): Promise<string> => readFile(join(dataDir, 'api-key'), 'utf8')

describe('bootstrapIdentity', () => {
  it('makes organization, workspace and a key that it keeps for its owner only', async () => {
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

  it('takes BOOTSTRAP_API_KEY on an empty store, without writing it anywhere', async () => {
    const first = await bootstrapIdentity(store, { dataDir, bootstrapKey: GIVEN, clock })
    expect(first).toMatchObject({ created: true, key: GIVEN, grant: { short_key: 'a-gi...6789' } })
    await expect(kept()).rejects.toThrow('ENOENT')
    const second = await bootstrapIdentity(store, { dataDir, bootstrapKey: GIVEN, clock })
    expect(second).toMatchObject({ created: false, key: GIVEN, ignoredBootstrapKey: false })
    expect((await bootstrapIdentity(store, { dataDir, clock })).key).toBeUndefined()
  })

  it('ignores another BOOTSTRAP_API_KEY on a store that has its keys, and says so', async () => {
    const first = await bootstrapIdentity(store, { dataDir, clock })
    const second = await bootstrapIdentity(store, { dataDir, bootstrapKey: GIVEN, clock })
    expect(second).toEqual({ ...first, created: false, ignoredBootstrapKey: true })
    expect(await store.findKey(hashApiKey(GIVEN))).toBeUndefined()
  })

  it('takes up the kept key when the process died before the store knew it', async () => {
    const dying: IdentityStore = { ...store, createFirst: () => Promise.reject(new Error('killed')) }
    await expect(bootstrapIdentity(dying, { dataDir, clock })).rejects.toThrow('killed')
    const written = (await kept()).trim()
    expect(isApiKey(written)).toBe(true)
    expect((await bootstrapIdentity(store, { dataDir, clock })).key).toBe(written)
  })
})
