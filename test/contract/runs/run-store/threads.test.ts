import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../src/schema/json.ts'
import type { RunStore, ThreadSearch } from '../../../../src/runs/run-store.ts'
import type { Database } from '../../../../src/storage/sql/driver/database.ts'
import { createRunStore } from '../../../../src/storage/sql/runs/run-store.ts'
import {
  addCheckpoint,
  admissionOf,
  admitted,
  countCheckpointRows,
  endOf,
  started,
  TENANT,
} from '../../../support/runs/run-store.ts'
import { describeOnSql } from '../../../support/stores/sql/sql-databases.ts'
import { testClock } from '../../../support/faults/test-clock.ts'

const MINUTE = 60_000

describeOnSql('threads', (engine) => {
  let database: Database
  let store: RunStore
  let now: number
  const clock = testClock(() => now)
  beforeEach(async () => {
    database = await engine.openRuns()
    now = 1_700_000_000_000
    store = createRunStore(database, clock)
  })
  const make = async (metadata: JsonObject = {}, thread_id: string = randomUUID()) => {
    await store.createThread(TENANT, { thread_id, metadata, config: {}, ttl: null })
    return thread_id
  }

  it('are created once', async () => {
    const fresh = { thread_id: randomUUID(), metadata: { a: 'ö\0\ud800' }, config: {}, ttl: null }
    const made = await store.createThread(TENANT, fresh)
    expect(made).toMatchObject({ kind: 'created', thread: { status: 'idle', values_json: null, ttl: null } })
    expect(await store.getThread(TENANT, fresh.thread_id)).toEqual(made.thread)
    now += 1
    const again = await store.createThread(TENANT, { ...fresh, metadata: {} })
    expect(again).toEqual({ kind: 'exists', thread: made.thread })
    const both = await Promise.all([1, 2].map(() => store.createThread(TENANT, { ...fresh, thread_id: 'x' })))
    expect(both.map(({ kind }) => kind).sort()).toEqual(['created', 'exists'])
  })

  describe('updateThread', () => {
    it('merges metadata and sets the state', async () => {
      const thread_id = await make({ a: 1, b: { c: 1 } })
      now += 5
      const state = { values_json: '{"n": 1}', next: ['node'], interrupts: { t: [{ id: 'i' }] } }
      const changed = await store.updateThread(TENANT, thread_id, { metadata: { b: { d: 2 } }, state })
      expect(changed).toMatchObject({
        metadata: { a: 1, b: { d: 2 } },
        values_json: '{"n": 1}',
        interrupts: state.interrupts,
        status: 'interrupted',
        updated_at: now,
        state_updated_at: now,
      })
      expect(changed?.metadata['b']).toEqual({ d: 2 })
      expect(await store.getThread(TENANT, thread_id)).toEqual(changed)
      const emptied = { values_json: null, next: [], interrupts: {} }
      expect(await store.updateThread(TENANT, thread_id, { state: emptied })).toMatchObject({
        status: 'idle',
        values_json: null,
      })
      expect(await store.updateThread(TENANT, randomUUID(), {})).toBeUndefined()
    })

    it('keeps the status of a failed thread, and does not change a running one', async () => {
      const thread_id = await make()
      await store.finish(await started(store, thread_id), endOf('error'))
      const state = { values_json: '{"n":2}', next: [], interrupts: {} }
      const failed = await store.updateThread(TENANT, thread_id, { state })
      expect(failed).toMatchObject({ status: 'error', values_json: '{"n":2}', error: { error: 'Error' } })
      await started(store, thread_id)
      const other = { ...state, values_json: '{"n":3}' }
      expect(await store.updateThread(TENANT, thread_id, { state: other })).toMatchObject({
        status: 'busy',
        values_json: '{"n":2}',
      })
    })

    it('RUN-23: counts the time to live from the last write', async () => {
      const thread_id = await make()
      const ttl = { strategy: 'delete', ttl_minutes: 1.5 } as const
      const changed = await store.updateThread(TENANT, thread_id, { ttl })
      expect(changed?.ttl).toEqual({ ...ttl, expires_at: now + 1.5 * MINUTE })
      now += MINUTE
      const claim = await started(store, thread_id)
      now += 2 * MINUTE
      expect(await store.expiredThreads(9)).toEqual([])
      await store.finish(claim, endOf('success'))
      expect((await store.getThread(TENANT, thread_id))?.ttl?.expires_at).toBe(now + 1.5 * MINUTE)
      now += 1.5 * MINUTE
      expect(await store.expiredThreads(9)).toEqual([{ ...TENANT, thread_id, strategy: 'delete' }])
      expect(await store.updateThread(TENANT, thread_id, { ttl: null })).toMatchObject({ ttl: null })
      expect(await store.expiredThreads(9)).toEqual([])
    })
  })

  it('are copied with state and checkpoints, without runs', async () => {
    const thread_id = await make({ a: 1 })
    const claim = await started(store, thread_id)
    await addCheckpoint(database, claim, '1')
    await store.finish(claim, endOf('success', { n: 1 }, ['node']))
    await admitted(store, admissionOf(thread_id))
    const new_id = randomUUID()
    const copy = await store.copyThread(TENANT, thread_id, new_id)
    expect(copy).toMatchObject({
      thread_id: new_id,
      metadata: { a: 1, thread_id: new_id },
      status: 'interrupted',
    })
    expect(copy).toMatchObject({ values_json: '{"n":1}', interrupts: { task: [] } })
    expect(await countCheckpointRows(database, new_id)).toBe(3)
    expect(await store.listRuns(TENANT, new_id, { limit: 9, offset: 0 })).toMatchObject({ runs: [] })
    await store.deleteThreads(TENANT, [thread_id], 'nothing')
    expect(await store.getThread(TENANT, new_id)).toEqual(copy)
    expect(await countCheckpointRows(database, new_id)).toBe(3)
    expect(await store.copyThread(TENANT, thread_id, randomUUID())).toBeUndefined()
    await expect(store.copyThread(TENANT, new_id, new_id)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('are deleted with all their records, and active runs lose their leases', async () => {
    const ids = [await make(), await make()]
    const claim = await started(store, ids[0] ?? '')
    await addCheckpoint(database, claim, '1')
    expect(await store.deleteThreads(TENANT, [...ids, ...ids, randomUUID()], 'nothing')).toBe(2)
    expect(await store.finish(claim, endOf('success'))).toEqual({ kind: 'lost' })
    expect(await store.getRun(TENANT, null, claim.run_id)).toBeUndefined()
    expect(await countCheckpointRows(database, ids[0] ?? '')).toBe(0)
    for (const table of ['threads', 'runs', 'thread_states']) {
      expect(await database.query(`SELECT * FROM ${table}`)).toEqual([])
    }
  })

  it('are pruned to their latest checkpoint, unless a run is running', async () => {
    const ttl = { strategy: 'keep_latest', ttl_minutes: 1 } as const
    const thread_id = randomUUID()
    await store.createThread(TENANT, { thread_id, metadata: {}, config: {}, ttl })
    const claim = await started(store, thread_id)
    await addCheckpoint(database, claim, '1')
    await addCheckpoint(database, claim, '2')
    expect(await store.deleteThreads(TENANT, [thread_id], 'latest_checkpoint')).toBe(1)
    expect(await countCheckpointRows(database, thread_id)).toBe(6)
    await store.finish(claim, endOf('success'))
    now += MINUTE
    expect(await store.expiredThreads(9)).toMatchObject([{ thread_id, strategy: 'keep_latest' }])
    await store.deleteThreads(TENANT, [thread_id], 'latest_checkpoint')
    expect(await countCheckpointRows(database, thread_id)).toBe(3)
    expect(await store.expiredThreads(9)).toEqual([])
    const thread = await store.getThread(TENANT, thread_id)
    expect(thread).toMatchObject({ values_json: '{"n":1}', ttl: { ...ttl, expires_at: null } })
  })

  describe('searchThreads', () => {
    const search = async (wanted: Partial<ThreadSearch> = {}) => {
      const page = { sort_by: 'created_at', sort_order: 'desc', limit: 10, offset: 0, ...wanted } as const
      const { threads, total } = await store.searchThreads(TENANT, page)
      return { ids: threads.map(({ thread_id }) => thread_id), total }
    }
    const several = async (count: number) => {
      const ids: string[] = []
      for (let n = 0; n < count; n++) {
        now += 1
        ids.unshift(await make({ n }))
      }
      return ids
    }

    it('returns the newest first, by pages, with the total number', async () => {
      const ids = await several(5)
      await store.createThread(
        { ...TENANT, workspace_id: 'other' },
        { thread_id: 'x', metadata: {}, config: {}, ttl: null },
      )
      expect(await search()).toEqual({ ids, total: 5 })
      expect(await search({ limit: 2, offset: 1 })).toEqual({ ids: ids.slice(1, 3), total: 5 })
      expect(await search({ sort_order: 'asc', limit: 2 })).toEqual({
        ids: ids.toReversed().slice(0, 2),
        total: 5,
      })
      expect(await search({ limit: 0 })).toEqual({ ids: [], total: 5 })
      expect(await search({ ids: [ids[3] ?? '', 'x', ids[1] ?? ''] })).toEqual({
        ids: [ids[1], ids[3]],
        total: 2,
      })
      expect(await search({ ids: [] })).toEqual({ ids: [], total: 0 })
    })

    it.each(['thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at'] as const)(
      'sorts by %s, then by id',
      async (sort_by) => {
        const ids = await several(6)
        now += 1
        await started(store, ids[4] ?? '')
        await store.finish(await started(store, ids[2] ?? ''), endOf('error'))
        for (const sort_order of ['asc', 'desc'] as const) {
          const { threads } = await store.searchThreads(TENANT, { sort_by, sort_order, limit: 10, offset: 0 })
          const keys = threads.map((thread) => `${thread[sort_by]} ${thread.thread_id}`)
          expect(keys).toEqual(sort_order === 'asc' ? keys.toSorted() : keys.toSorted().toReversed())
          expect(keys).toHaveLength(6)
        }
      },
    )

    it('finds by status, and by content of metadata and values', async () => {
      const found = await make({
        user: 'u1',
        tags: ['a', 'b'],
        deep: { x: 1, y: null },
        quote: '"user":"u2"',
      })
      now += 1
      const other = await make({ user: 'u10', quote: '"user":"u1"', tags: ['b', 'a'], deep: { y: null } })
      await store.finish(await started(store, other), endOf('success', { n: 1, list: [1] }, ['node']))
      const expectFound = async (wanted: Partial<ThreadSearch>, ids: string[]) =>
        expect({ wanted, ...(await search(wanted)) }).toEqual({ wanted, ids, total: ids.length })
      await expectFound({ metadata: { user: 'u1' } }, [found])
      await expectFound({ metadata: { user: 'u2' } }, [])
      await expectFound({ metadata: { user: 'u1', tags: ['a', 'b'] } }, [found])
      await expectFound({ metadata: { deep: { y: null, x: 1 } } }, [found])
      await expectFound({ metadata: { deep: { x: 1 } } }, [found])
      await expectFound({ metadata: { deep: { y: null } } }, [other, found])
      await expectFound({ metadata: { deep: {} } }, [other, found])
      await expectFound({ metadata: { tags: ['a'] } }, [other, found])
      await expectFound({ metadata: { tags: ['c'] } }, [])
      await expectFound({ metadata: { tags: 'a' } }, [])
      await expectFound({ metadata: { missing: null } }, [])
      await expectFound({ values: { n: 1 } }, [other])
      await expectFound({ values: { n: '1' } }, [])
      await expectFound({ values: { list: [1] }, metadata: { user: 'u10' }, status: 'interrupted' }, [other])
      await expectFound({ status: 'idle' }, [found])
      await expectFound({ status: 'busy' }, [])
    })

    it('finds values by keys that a graph has written as escapes', async () => {
      const found = await make({})
      const state = { values_json: '{"caf\\u00e9\\/": 1, "n": 1}', next: [], interrupts: {} }
      await store.updateThread(TENANT, found, { state })
      expect((await search({ values: { 'café/': 1 } })).ids).toEqual([found])
      expect((await search({ values: { 'café/': 1, n: 2 } })).ids).toEqual([])
    })

    it('searches all of very many threads', async () => {
      await several(2300)
      const { ids, total } = await search({ metadata: { n: 0 }, sort_by: 'updated_at' })
      expect([ids.length, total]).toEqual([1, 1])
      expect((await search({ status: 'idle', limit: 1 })).total).toBe(2300)
    })
  })
})
