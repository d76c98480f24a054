import { beforeEach, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import type { UsageLimitFields, UsageLimitStore } from '../../../src/usage/limits.ts'
import { createIdentityStore } from '../../../src/storage/sql/identity/identity-store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createIngestLimitStore } from '../../../src/storage/sql/identity/ingest-limit-store.ts'
import { createUsageLimitStore } from '../../../src/storage/sql/identity/usage-limit-store.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { NOW, testClock } from '../../support/faults/test-clock.ts'

describeOnSql('usage limits', (engine) => {
  const [organization_id, workspace_id, api_key_id] = [newUuid(), newUuid(), newUuid()]
  const whole: UsageLimitFields = {
    organization_id,
    workspace_id,
    api_key_id: null,
    limit_type: 'monthly_traces',
    limit_value: 10,
    mode: 'hard',
  }
  let database: Database
  let store: UsageLimitStore
  let now: number
  beforeEach(async () => {
    database = await engine.openPlatform()
    await createIdentityStore(database).createFirst({
      organization: { id: organization_id, display_name: 'o', created_at: 1 },
      workspace: { id: workspace_id, organization_id, display_name: 'w', created_at: 1 },
      user: { id: newUuid(), email: 'a@b', full_name: 'A' },
      key: { id: api_key_id, key_hash: 'h', short_key: 's', description: 'd' },
    })
    now = NOW
    store = createUsageLimitStore(
      database,
      testClock(() => now),
    )
  })

  /** A store that passes every read of limits through `read`. */
  function storeThatReads(read: (query: () => Promise<unknown[]>) => Promise<unknown[]>): UsageLimitStore {
    const query: Database['query'] = <Row>(...args: Parameters<Database['query']>) =>
      (args[0].startsWith('SELECT')
        ? read(() => database.query(...args))
        : database.query(...args)) as Promise<Row[]>
    return createUsageLimitStore(
      { ...database, query },
      testClock(() => now),
    )
  }

  it('stores one for each workspace and key, with its time of creation', async () => {
    const first = await store.put(whole)
    expect(first).toMatchObject({ ...whole, created_at: NOW, updated_at: NOW })
    now += 100
    const changed = await store.put({ ...whole, limit_value: 2 ** 40, mode: 'soft' })
    expect(changed).toEqual({ ...first, limit_value: 2 ** 40, mode: 'soft', updated_at: NOW + 100 })
    const ofKey = await store.put({ ...whole, workspace_id: null, api_key_id })
    expect(await store.list(organization_id)).toEqual([changed, ofKey])
    expect(await store.list(newUuid())).toEqual([])
  })

  it('removes limits of the organization, and no others', async () => {
    const limit = await store.put(whole)
    expect(await store.remove(newUuid(), limit.id)).toBe(false)
    expect(await store.remove(organization_id, limit.id)).toBe(true)
    expect(await store.remove(organization_id, limit.id)).toBe(false)
    expect(await store.list(organization_id)).toEqual([])
  })

  it('shows its own changes at once and those of another process within seconds', async () => {
    expect(await store.snapshot()).toEqual([])
    const limit = await store.put(whole)
    expect(await store.snapshot()).toEqual([limit])
    const other = createUsageLimitStore(
      await engine.openAgain(),
      testClock(() => now),
    )
    await other.remove(organization_id, limit.id)
    expect(await store.snapshot()).toEqual([limit])
    now += 5_000
    expect(await store.snapshot()).toEqual([])
  })

  it('discards a result that was read before a change, whenever it arrives', async () => {
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>()
    const slow = storeThatReads(async (query) => {
      const limits = await query()
      await mayAnswer
      return limits
    })
    const early = slow.snapshot()
    const limit = await slow.put(whole)
    answer()
    await early
    expect(await slow.snapshot()).toEqual([limit])
    const before = slow.snapshot()
    await slow.remove(organization_id, limit.id)
    await before
    expect(await slow.snapshot()).toEqual([])
  })

  it('uses known limits while they cannot be read, also after a change', async () => {
    let isDown = false
    const shaky = storeThatReads((query) => (isDown ? Promise.reject(new Error('down')) : query()))
    const limit = await shaky.put(whole)
    expect(await shaky.snapshot()).toEqual([limit])
    isDown = true
    const changed = await shaky.put({ ...whole, limit_value: 20 })
    expect(await shaky.snapshot()).toEqual([limit])
    isDown = false
    now += 5_000
    expect(await shaky.snapshot()).toEqual([changed])
  })

  it('stores limits a minute of workspaces and of keys, which other processes use within seconds', async () => {
    const clock = testClock(() => now)
    const own = createIngestLimitStore(database, clock)
    const other = createIngestLimitStore(database, clock)
    const ofAll = { workspace_id, api_key_id: null, runs_per_minute: 60, bytes_per_minute: 2 ** 40 }
    const ofKey = { workspace_id, api_key_id, runs_per_minute: null, bytes_per_minute: 5 }
    expect(await other.snapshot()).toEqual(new Map())
    await own.put(ofKey)
    await own.put({ ...ofAll, runs_per_minute: 1 })
    await own.put(ofAll)
    expect(await own.list(workspace_id)).toEqual([ofAll, ofKey])
    expect(await own.snapshot()).toEqual(new Map([[workspace_id, [ofAll, ofKey]]]))
    expect(await other.snapshot()).toEqual(new Map())
    now += 5_001
    expect(await other.snapshot()).toEqual(new Map([[workspace_id, [ofAll, ofKey]]]))
    await own.put({ ...ofAll, runs_per_minute: null, bytes_per_minute: null })
    expect(await own.list(workspace_id)).toEqual([ofKey])
  })
})
