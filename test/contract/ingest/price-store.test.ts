import { beforeEach, expect, it } from 'vitest'
import type { PriceFields, PriceStore } from '../../../src/ingest/prices/price-store.ts'
import type { RepriceJob } from '../../../src/ingest/prices/reprice-jobs.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createPriceStore } from '../../../src/storage/sql/prices/price-store.ts'
import { createRepriceJobStore } from '../../../src/storage/sql/prices/reprice-job-store.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { NOW, testClock } from '../../support/faults/test-clock.ts'

const FIELDS: PriceFields = {
  name: 'n',
  match_pattern: 'p',
  match_path: ['model'],
  provider: null,
  start_time: null,
  prompt_token_threshold: null,
  conditions: {},
  prompt_cost: '0.000001',
  completion_cost: '0.000002',
  prompt_cost_details: { cache_read: '0.0000001' },
  completion_cost_details: {},
}

describeOnSql('prices', (engine) => {
  let database: Database
  let store: PriceStore
  let now: number
  const clock = testClock(() => now)
  beforeEach(async () => {
    database = await engine.openPlatform()
    now = NOW
    store = createPriceStore(database, clock)
  })

  it('stores entries completely and separates workspaces', async () => {
    const entry = await store.create('w', { ...FIELDS, start_time: 1_700_000_000_000_001, provider: 'x' })
    expect(await store.list('w')).toEqual([entry])
    expect(await store.list('other')).toEqual([])
    expect(await store.replace('other', entry.id, FIELDS)).toBeUndefined()
    expect(await store.remove('other', entry.id)).toBe(false)
    const changed = await store.replace('w', entry.id, FIELDS)
    expect(changed).toEqual({ ...FIELDS, id: entry.id, workspace_id: 'w' })
    expect(await store.list('w')).toEqual([changed])
    expect(await store.remove('w', entry.id)).toBe(true)
    expect(await store.list('w')).toEqual([])
  })

  it('refuses an entry with the same conditions, nulls included', async () => {
    const entry = await store.create('w', FIELDS)
    await expect(store.create('w', { ...FIELDS, prompt_cost: '9' })).rejects.toMatchObject({
      code: 'conflict',
    })
    await store.create('other', FIELDS)
    const second = await store.create('w', { ...FIELDS, prompt_token_threshold: 0 })
    await expect(store.replace('w', second.id, FIELDS)).rejects.toMatchObject({ code: 'conflict' })
    expect(await store.replace('w', entry.id, { ...FIELDS, prompt_cost: '9' })).toMatchObject({
      prompt_cost: '9',
    })
  })

  it('limits the entries of a workspace', async () => {
    for (let i = 0; i < 300; i++) await store.create('w', { ...FIELDS, name: `n${i}` })
    await expect(store.create('w', FIELDS)).rejects.toMatchObject({ code: 'conflict' })
    await store.create('other', FIELDS)
  })

  it('returns a snapshot that changes with the entries, at once in this process', async () => {
    const empty = await store.snapshot()
    expect(empty.entries).toEqual([])
    const entry = await store.create('w', FIELDS)
    const one = await store.snapshot()
    expect(one.entries).toEqual([entry])
    expect(one.version).not.toBe(empty.version)
    expect(await store.snapshot()).toBe(one)
    now += 60_000
    expect(await store.snapshot()).toBe(one)
  })

  it('sees changes of another process within seconds', async () => {
    const before = await store.snapshot()
    await createPriceStore(
      database,
      testClock(() => now),
    ).create('w', FIELDS)
    expect(await store.snapshot()).toBe(before)
    now += 5_001
    const after = await store.snapshot()
    expect(after.entries).toHaveLength(1)
    expect(after.version).not.toBe(before.version)
  })

  it('uses the last snapshot while the database fails, and throws without one', async () => {
    const held = await store.snapshot()
    const fresh = createPriceStore(database, clock)
    await database.close()
    now += 60_000
    expect(await store.snapshot()).toBe(held)
    await expect(fresh.snapshot()).rejects.toMatchObject({ code: 'store_unavailable' })
  })
})

describeOnSql('reprice jobs', (engine) => {
  it('stores jobs and their progress', async () => {
    const database = await engine.openPlatform()
    const store = createRepriceJobStore(database)
    const job: RepriceJob = {
      workspace_id: 'w',
      id: 'a',
      status: 'queued',
      start_time: 1,
      end_time: 2,
      project_ids: ['p'],
      position: null,
      progress: 0,
      examined: 0,
      changed: 0,
      error: null,
      created_at: 5,
      finished_at: null,
    }
    await store.add(job)
    await store.add({ ...job, id: 'b', created_at: 4, project_ids: null })
    expect((await store.unfinished()).map(({ id }) => id)).toEqual(['b', 'a'])
    expect(await store.get('w', 'a')).toEqual(job)
    expect(await store.get('other', 'a')).toBeUndefined()
    const moved: RepriceJob = {
      ...job,
      status: 'running',
      position: { project_id: 'p', after: { sort_time: 9, run_id: 'r' } },
      progress: 0.25,
      examined: 7,
      changed: 3,
    }
    await store.save(moved)
    expect(await store.get('w', 'a')).toEqual(moved)
    await store.save({ ...moved, status: 'done', finished_at: 8 })
    expect((await store.unfinished()).map(({ id }) => id)).toEqual(['b'])
  })
})
