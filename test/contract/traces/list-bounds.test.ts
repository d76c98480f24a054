import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import type { ListRequest } from '../../../src/runs/lists/lists.ts'
import { type ListStores, readList } from '../../../src/runs/lists/read-list.ts'
import { createAssistantStore } from '../../../src/storage/sql/runs/assistant-store.ts'
import { createCronStore } from '../../../src/storage/sql/runs/cron-store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createKvStore } from '../../../src/storage/sql/items/kv-store.ts'
import { createRunStore } from '../../../src/storage/sql/runs/run-store.ts'
import { admissionOf, admitted, TENANT } from '../../support/runs/run-store.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { testClock } from '../../support/faults/test-clock.ts'

const KB = 1024
/** Text in each record: five records exceed the limits of a statement and of a page of `MAX`. */
const BIG = 'x'.repeat(400 * KB)
const MAX = 1000 * KB
const COUNT = 7
const THREAD = randomUUID()
const ASSISTANT = randomUUID()
const SORTED = { sort_by: 'created_at', sort_order: 'asc' } as const

/** Records the size of the largest result of any statement. */
function watched(database: Database) {
  let most = 0
  const query: Database['query'] = async <Row>(...asked: Parameters<Database['query']>) => {
    const rows = await database.query<Row>(...asked)
    const texts = rows
      .flatMap((row) => Object.values(Object(row) as Record<string, unknown>))
      .filter((text) => typeof text === 'string')
    most = Math.max(most, texts.join('').length)
    return rows
  }
  return { database: { ...database, query }, most: () => most }
}

describeOnSql('lists of large records', (engine) => {
  let stores: ListStores
  let most: () => number
  beforeEach(async () => {
    const database = await engine.openRuns()
    const seen = watched(database)
    most = seen.most
    let now = 1_700_000_000_000
    const clock = testClock(() => now)
    const store = createRunStore(seen.database, clock)
    const assistants = createAssistantStore(seen.database, clock)
    const crons = createCronStore(seen.database, clock)
    const items = createKvStore(seen.database, clock, { default_ttl: null, refresh_on_read: false })
    stores = { store, assistants, crons, items }
    const about = { graph_id: 'g', name: 'n', description: null, context: {}, metadata: { n: 0 } }
    await store.createThread(TENANT, { thread_id: THREAD, metadata: {}, config: {}, ttl: null })
    await assistants.create(TENANT, { ...about, assistant_id: ASSISTANT, config: {} })
    for (let n = 0; n < COUNT; n++) {
      now++
      const metadata = { n, big: BIG }
      await store.createThread(TENANT, { thread_id: randomUUID(), metadata, config: {}, ttl: null })
      await admitted(store, admissionOf(THREAD, { run: { metadata } }))
      await assistants.create(TENANT, { ...about, assistant_id: randomUUID(), metadata, config: {} })
      await assistants.update(TENANT, ASSISTANT, { config: { n, big: BIG } })
      await crons.create(TENANT, cronOf(now, metadata))
      await items.put(TENANT, { namespace: ['a', String(n % 2)], key: `k${n}`, value: metadata })
    }
  })

  const page = { limit: 100, offset: 0, max_bytes: MAX }
  it.each([
    ['threads', { list: 'threads', search: { ...SORTED, ...page }, select: [], extract: [] }, COUNT + 1],
    ['runs', { list: 'runs', thread_id: THREAD, page, select: [] }, COUNT],
    [
      'assistants',
      { list: 'assistants', search: { ...SORTED, ...page }, select: [], unavailable: {} },
      COUNT + 1,
    ],
    ['versions', { list: 'versions', assistant_id: ASSISTANT, page, unavailable: {} }, COUNT + 1],
    ['crons', { list: 'crons', search: { ...SORTED, ...page }, select: [], now: null }, COUNT],
    ['items', { list: 'items', search: { namespace_prefix: ['a'], ...page } }, COUNT],
  ] as [string, ListRequest, number][])(
    'of %s are returned in pages of limited size, read one megabyte at a time',
    async (_name, first, all) => {
      const bodies: string[] = []
      let request: ListRequest | undefined = first
      for (let offset = 0; request !== undefined; ) {
        const found = await readList(stores, TENANT, request, null)
        expect(found.shown).toBeGreaterThan(0)
        expect(found.body.length).toBeLessThan(MAX + 20 * KB)
        const whole: unknown = JSON.parse(found.body)
        bodies.push(...(Array.isArray(whole) ? whole : (whole as { items: unknown[] }).items).map(asText))
        offset += found.shown
        request = found.more ? at(first, offset) : undefined
      }
      expect(new Set(bodies).size).toBe(all)
      expect(bodies).toHaveLength(all)
      expect(most()).toBeLessThan(1100 * KB)
    },
  )

  it.each([
    [
      'threads',
      { list: 'threads', search: { ...SORTED, ...page, metadata: { n: -1 } }, select: [], extract: [] },
    ],
    [
      'assistants',
      {
        list: 'assistants',
        search: { ...SORTED, ...page, metadata: { n: -1 } },
        select: [],
        unavailable: {},
      },
    ],
    ['crons', { list: 'crons', search: { ...SORTED, ...page, metadata: { n: -1 } }, select: [], now: null }],
    ['items', { list: 'items', search: { namespace_prefix: [], ...page, filter: { n: -1 } } }],
  ] as [string, ListRequest][])(
    'of %s are scanned one megabyte at a time when a filter matches nothing',
    async (_name, request) => {
      expect(await readList(stores, TENANT, request, null)).toMatchObject({ shown: 0, more: false })
      expect(most()).toBeLessThan(1100 * KB)
    },
  )

  it('of threads without metadata and values have the requested length', async () => {
    const select = ['thread_id']
    const search = { ...SORTED, limit: 100, offset: 0 }
    const found = await readList(stores, TENANT, { list: 'threads', search, select, extract: [] }, null)
    expect(found).toMatchObject({ shown: COUNT + 1, more: false })
  })

  it('RUN-4: return the first record whatever its size', async () => {
    const small = { ...page, max_bytes: 10 }
    const search = { namespace_prefix: ['a'], ...small }
    expect(await readList(stores, TENANT, { list: 'items', search }, null)).toMatchObject({
      shown: 1,
      more: true,
    })
  })
})

function asText(record: unknown): string {
  return JSON.stringify(record)
}

/** The same list, from another offset. */
function at(request: ListRequest, offset: number): ListRequest {
  const moved = structuredClone(request)
  if ('search' in moved) moved.search.offset = offset
  else if ('page' in moved) moved.page.offset = offset
  return moved
}

function cronOf(created_at: number, metadata: { n: number; big: string }) {
  return {
    cron_id: randomUUID(),
    assistant_id: ASSISTANT,
    thread_id: null,
    on_run_completed: 'delete' as const,
    schedule: '@daily',
    timezone: null,
    end_time: null,
    next_run_date: null,
    enabled: false,
    caller: { user_id: null, api_key_id: 'key' },
    payload: {},
    metadata,
    created_at,
    updated_at: created_at,
  }
}
