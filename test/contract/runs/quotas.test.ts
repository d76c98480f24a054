import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import type { Cron } from '../../../src/runs/crons/store.ts'
import type { Tenant } from '../../../src/runs/model.ts'
import type { Quotas } from '../../../src/base/quotas.ts'
import { createAssistantStore } from '../../../src/storage/sql/runs/assistant-store.ts'
import { createCronStore } from '../../../src/storage/sql/runs/cron-store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createKvStore } from '../../../src/storage/sql/items/kv-store.ts'
import { createRunStore } from '../../../src/storage/sql/runs/run-store.ts'
import { countUse, readUse, repairUse } from '../../../src/storage/sql/workspace-use.ts'
import { admissionOf, TENANT } from '../../support/runs/run-store.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { testClock } from '../../support/faults/test-clock.ts'

const MINUTE = 60_000
const ELSEWHERE: Tenant = { ...TENANT, workspace_id: randomUUID() }
/** Another deployment of the same workspace. */
const OTHER_DEPLOYMENT: Tenant = { ...TENANT, deployment_id: randomUUID() }
const QUOTAS: Quotas = { threads: 3, crons: 2, assistants: 2, store_bytes: 100 }
/** An item of 40 bytes of JSON. */
const FORTY = { text: 'x'.repeat(29) }
const REFUSED = expect.objectContaining({ code: 'quota_reached', status: 429 })
const FULL = expect.objectContaining({ code: 'store_full', status: 507 })

describeOnSql('quotas of a workspace', (engine) => {
  let database: Database
  let now = 0
  const open = (on: Database) => {
    const clock = testClock(() => now)
    return {
      runs: createRunStore(on, clock, undefined, QUOTAS),
      assistants: createAssistantStore(on, clock, QUOTAS),
      crons: createCronStore(on, clock, QUOTAS),
      items: createKvStore(on, clock, { default_ttl: null, refresh_on_read: false, quotas: QUOTAS }),
    }
  }
  let stores: ReturnType<typeof open>
  beforeEach(async () => {
    now = 1_700_000_000_000
    database = await engine.openRuns()
    stores = open(database)
  })

  const thread = (tenant = TENANT, thread_id = randomUUID(), { runs } = stores) =>
    runs.createThread(tenant, { thread_id, metadata: {}, config: {}, ttl: null })
  const put = (key: string, value: object = FORTY, tenant = TENANT, { items } = stores) =>
    items.put(tenant, { namespace: ['a'], key, value: value as typeof FORTY })
  const use = (tenant = TENANT) => readUse(database, tenant)

  it.runIf(engine.name === 'Postgres')(
    'are counted without waiting for transactions that go on',
    async () => {
      const [counted, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const slow = database.tx('slow', async (session) => {
        await countUse(session, TENANT, 'threads', 1, QUOTAS)
        counted.resolve()
        await free.promise
      })
      await counted.promise
      await database.tx('quick', (session) => countUse(session, TENANT, 'threads', 2, QUOTAS))
      expect(await use()).toMatchObject({ threads: 2 })
      free.resolve()
      await slow
      expect(await use()).toMatchObject({ threads: 3 })
    },
  )

  it('limit threads, however they are created, over all its deployments', async () => {
    const first = randomUUID()
    await thread(TENANT, first)
    await thread(OTHER_DEPLOYMENT)
    await stores.runs.copyThread(TENANT, first, randomUUID())
    expect(await use()).toMatchObject({ threads: 3 })
    await expect(thread()).rejects.toEqual(REFUSED)
    await expect(stores.runs.copyThread(TENANT, first, randomUUID())).rejects.toEqual(REFUSED)
    await expect(stores.runs.admit(TENANT, admissionOf(randomUUID()))).rejects.toEqual(REFUSED)
    // Existing threads can still be found and can get runs. Other workspaces have separate quotas.
    expect(await thread(TENANT, first)).toMatchObject({ kind: 'exists' })
    expect(await stores.runs.admit(TENANT, admissionOf(first))).toMatchObject({ kind: 'created' })
    await thread(ELSEWHERE)
    expect(await use()).toMatchObject({ threads: 3 })
  })

  it('limit threads: several runs that do not all fit are not created', async () => {
    const batch = (count: number) => Array.from({ length: count }, () => admissionOf(randomUUID()))
    await thread()
    await expect(stores.runs.admitAll(TENANT, batch(3))).rejects.toEqual(REFUSED)
    expect(await use()).toMatchObject({ threads: 1 })
    expect(await database.query('SELECT run_id FROM runs')).toEqual([])
    const made = await stores.runs.admitAll(TENANT, batch(2))
    expect(made).toMatchObject({ kind: 'created', runs: [{ status: 'pending' }, { status: 'pending' }] })
    expect(await use()).toMatchObject({ threads: 3 })
  })

  it('limit threads: a deleted one no longer counts, and only then', async () => {
    const ids = [randomUUID(), randomUUID(), randomUUID()]
    for (const id of ids) await thread(TENANT, id)
    await stores.runs.deleteThreads(TENANT, [ids[0] ?? ''], 'latest_checkpoint')
    await stores.runs.deleteThreads(TENANT, [randomUUID()], 'nothing')
    await stores.runs.deleteThreads(ELSEWHERE, ids, 'nothing')
    expect(await use()).toMatchObject({ threads: 3 })
    await stores.runs.deleteThreads(TENANT, ids.slice(1), 'nothing')
    expect(await use()).toMatchObject({ threads: 1 })
    expect(await stores.runs.admit(TENANT, admissionOf(randomUUID()))).toMatchObject({ kind: 'created' })
    expect(await use()).toMatchObject({ threads: 2 })
  })

  it('limit crons', async () => {
    const thread_id = randomUUID()
    const [first, second] = [cron(thread_id), cron(randomUUID())]
    await stores.crons.create(TENANT, first)
    await stores.crons.create(TENANT, { ...second, thread_id: null })
    await expect(stores.crons.create(TENANT, cron())).rejects.toEqual(REFUSED)
    await stores.crons.create(ELSEWHERE, cron())
    expect(await stores.crons.update(TENANT, first.cron_id, (known) => known)).toBeDefined()
    await thread(TENANT, thread_id)
    await stores.runs.deleteThreads(TENANT, [thread_id], 'latest_checkpoint')
    expect(await use()).toMatchObject({ crons: 2 })
    await stores.runs.deleteThreads(TENANT, [thread_id], 'nothing')
    expect(await use()).toMatchObject({ crons: 1 })
    expect(await stores.crons.get(TENANT, first.cron_id)).toBeUndefined()
    expect(await stores.crons.remove(TENANT, second.cron_id)).toBe(true)
    expect(await stores.crons.remove(TENANT, second.cron_id)).toBe(false)
    expect(await use()).toMatchObject({ crons: 0 })
  })

  it('limit threads: a refused run leaves the date of its cron, a created one moves it', async () => {
    const made = { ...cron(), next_run_date: 100 }
    await stores.crons.create(TENANT, made)
    const date = { cron_id: made.cron_id, due_at: 100, next: 200 }
    const admit = () => stores.runs.admit(TENANT, admissionOf(randomUUID(), { cron: date }))
    const next = async () => (await stores.crons.get(TENANT, made.cron_id))?.next_run_date
    const ids = [randomUUID(), randomUUID(), randomUUID()]
    for (const id of ids) await thread(TENANT, id)
    await expect(admit()).rejects.toEqual(REFUSED)
    expect(await next()).toBe(100)
    await stores.runs.deleteThreads(TENANT, ids.slice(1), 'nothing')
    expect(await admit()).toMatchObject({ kind: 'created' })
    expect(await next()).toBe(200)
    expect(await admit()).toEqual({ kind: 'refused', reason: 'date_taken' })
    expect(await use()).toMatchObject({ threads: 2 })
  })

  it('limit assistants; the default assistants of graphs are always created', async () => {
    const made = assistant()
    await stores.assistants.create(TENANT, made)
    await stores.assistants.create(TENANT, assistant())
    await expect(stores.assistants.create(TENANT, assistant())).rejects.toEqual(REFUSED)
    expect(await stores.assistants.create(TENANT, made)).toMatchObject({ kind: 'exists' })
    await stores.assistants.ensure(TENANT, [assistant()])
    expect(await use()).toMatchObject({ assistants: 3 })
    expect(await stores.assistants.remove(TENANT, made.assistant_id)).toBe(true)
    expect(await use()).toMatchObject({ assistants: 2 })
  })

  it('limit bytes of its store: a replaced item counts once', async () => {
    await put('a')
    await put('b')
    expect(await use()).toMatchObject({ store_bytes: 80 })
    await expect(put('c')).rejects.toEqual(FULL)
    await expect(put('b', { text: 'x'.repeat(60) })).rejects.toEqual(FULL)
    await put('b', { text: 'x'.repeat(49) })
    await put('b', { n: 1 })
    await put('c', FORTY, ELSEWHERE)
    expect(await use()).toMatchObject({ store_bytes: 47 })
    await stores.items.remove(TENANT, ['a'], 'a')
    await stores.items.remove(TENANT, ['a'], 'none')
    expect(await use()).toMatchObject({ store_bytes: 7 })
    expect(await stores.items.get(TENANT, ['a'], 'b')).toMatchObject({ value_json: '{"n":1}' })
  })

  it('limit bytes of its store: expired items do not count, and text counts as UTF-8', async () => {
    await stores.items.put(TENANT, { namespace: ['a'], key: 'k', value: { text: 'é\ud800' }, ttl: 1 })
    const { store_bytes } = await use()
    const item = await stores.items.get(TENANT, ['a'], 'k')
    expect(store_bytes).toBe(Buffer.byteLength(item?.value_json ?? ''))
    now += 2 * MINUTE
    expect(await stores.items.sweep(10)).toBe(1)
    expect(await use()).toMatchObject({ store_bytes: 0 })
  })

  it('beyond a quota that was lowered allow reads, smaller values and deletes', async () => {
    const tight = { default_ttl: null, refresh_on_read: false, quotas: { ...QUOTAS, store_bytes: 10 } }
    await put('a')
    const items = createKvStore(
      database,
      testClock(() => now),
      tight,
    )
    expect(await items.get(TENANT, ['a'], 'a')).toBeDefined()
    await items.put(TENANT, { namespace: ['a'], key: 'a', value: { text: 'shorter, not short' } })
    await items.remove(TENANT, ['a'], 'a')
    expect(await use()).toMatchObject({ store_bytes: 0 })
  })

  it('are exact with concurrent writers', async () => {
    const others = open(await engine.openAgain())
    const at = (n: number) => (n % 2 === 0 ? stores : others)
    const outcomes = await Promise.allSettled([
      ...Array.from({ length: 12 }, (_, n) => thread(TENANT, randomUUID(), at(n))),
      ...Array.from({ length: 12 }, (_, n) => put(`k${n}`, FORTY, TENANT, at(n))),
      ...Array.from({ length: 12 }, (_, n) => at(n).crons.create(TENANT, cron())),
    ])
    const stored = outcomes.map(({ status }) => status === 'fulfilled')
    expect([stored.slice(0, 12), stored.slice(12, 24), stored.slice(24)].map(count)).toEqual([3, 2, 2])
    expect(await use()).toEqual({ threads: 3, crons: 2, assistants: 0, store_bytes: 80 })
    expect(await repairUse(database, TENANT)).toEqual([])
  })

  it('are counted again when a count is wrong', async () => {
    await thread()
    await put('a')
    await stores.crons.create(ELSEWHERE, cron())
    await database.query("UPDATE workspace_use SET used = 99 WHERE quota = 'threads'")
    await database.query("DELETE FROM workspace_use WHERE quota = 'store_bytes'")
    expect((await repairUse(database, TENANT)).toSorted((a, b) => a.localeCompare(b))).toEqual([
      'store_bytes',
      'threads',
    ])
    expect(await use()).toEqual({ threads: 1, crons: 0, assistants: 0, store_bytes: 40 })
    expect(await repairUse(database, TENANT)).toEqual([])
  })
})

function count(stored: readonly boolean[]): number {
  return stored.filter(Boolean).length
}

function assistant() {
  const about = { name: 'n', description: null, config: {}, context: {}, metadata: {} }
  return { ...about, assistant_id: randomUUID(), graph_id: 'g' }
}

function cron(thread_id: string | null = null): Cron {
  return {
    cron_id: randomUUID(),
    assistant_id: 'a',
    thread_id,
    on_run_completed: 'delete',
    schedule: '* * * * *',
    timezone: null,
    end_time: null,
    next_run_date: null,
    enabled: true,
    caller: { user_id: null, api_key_id: 'k' },
    payload: {},
    metadata: {},
    created_at: 1,
    updated_at: 1,
  }
}
