import { beforeEach, expect, it } from 'vitest'
import { parseUuid } from '../../../src/base/ids.ts'
import type { ProjectStore } from '../../../src/ingest/project-store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createProjectStore } from '../../../src/storage/sql/projects/store.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { eventually } from '../../support/eventually.ts'
import { NOW, testClock } from '../../support/faults/test-clock.ts'

const ID = '018f0000-0000-7000-8000-000000000001'

describeOnSql('projects', (engine) => {
  let database: Database
  let store: ProjectStore
  let now: number
  beforeEach(async () => {
    database = await engine.openPlatform()
    now = NOW
    store = createProjectStore(
      database,
      testClock(() => now++),
    )
  })
  const byName = (session_name: string | null) => store.resolve('w', { session_name, session_id: null })
  const byId = (session_id: string, session_name: string | null = null) =>
    store.resolve('w', { session_name, session_id })

  it('creates a project the first time its name is used and finds it afterwards', async () => {
    expect(store.known('w', 'p')).toBeUndefined()
    const ids = await Promise.all([byName('p'), byName('p'), byName('p')])
    expect(new Set(ids).size).toBe(1)
    expect(parseUuid(ids[0])).toBe(ids[0])
    expect(store.known('w', 'p')).toBe(ids[0])
    const fresh = createProjectStore(database, testClock())
    expect(await fresh.resolve('w', { session_name: 'p', session_id: null })).toBe(ids[0])
    expect((await store.list('w', { limit: 9, offset: 0 })).projects).toHaveLength(1)
  })

  it('uses "default" without a name, and separates workspaces', async () => {
    const id = await byName(null)
    expect(await store.get('w', id)).toMatchObject({ name: 'default' })
    expect(await store.get('other', id)).toBeUndefined()
    expect(store.known('other', 'default')).toBeUndefined()
    expect(await store.resolve('other', { session_name: 'default', session_id: null })).not.toBe(id)
  })

  it('accepts the id of a client, with a name, or the id for a name', async () => {
    expect(await byId(ID, 'named')).toBe(ID)
    expect(await store.get('w', ID)).toMatchObject({ name: 'named' })
    expect(await byName('named')).toBe(ID)
    expect(await byId(ID, 'another name')).toBe(ID)
    const second = ID.replace(/1$/, '2')
    expect(await byId(second, 'named')).toBe(second)
    expect(await store.get('w', second)).toMatchObject({ name: second })
    expect(await store.resolve('other', { session_name: null, session_id: ID })).toBe(ID)
    expect(await store.get('other', ID)).toMatchObject({ name: ID })
  })

  it.each(['', ' ', 'a\0b', 'emoji 🙂', "quote ' --", 'lone \ud800 surrogate', 'x'.repeat(2000)])(
    'accepts %j as a name',
    async (name) => {
      const id = await byName(name)
      expect(await byName(name)).toBe(id)
      const fresh = createProjectStore(database, testClock())
      expect(await fresh.resolve('w', { session_name: name, session_id: null })).toBe(id)
      expect(await store.get('w', id)).toMatchObject({
        name: name.toWellFormed().replace('\0', '\ufffd'),
      })
    },
  )

  it('creates, refuses a taken name or id, and upserts', async () => {
    const made = await store.create(
      'w',
      { id: ID, name: 'p', extra: { a: 1 }, description: null },
      { upsert: false },
    )
    expect(made).toMatchObject({ id: ID, name: 'p', extra: { a: 1 }, start_time: NOW, end_time: null })
    expect(await store.get('w', ID)).toEqual(made)
    await expect(store.create('w', { name: 'p' }, { upsert: false })).rejects.toMatchObject({
      code: 'conflict',
    })
    await expect(store.create('w', { id: ID, name: 'q' }, { upsert: true })).rejects.toMatchObject({
      code: 'conflict',
    })
    const changed = await store.create('w', { name: 'p', description: 'd', extra: null }, { upsert: true })
    expect(changed).toEqual({ ...made, description: 'd' })
    expect(await store.get('w', ID)).toEqual(changed)
  })

  it('gives new projects the default retention, unless another one is sent', async () => {
    const daily = createProjectStore(database, testClock(), { retention_days: 30 })
    const days = async (id: string) => (await store.get('w', id))?.retention_days
    const old = await byName('kept before')
    const named = await daily.resolve('w', { session_name: 'by ingest', session_id: null })
    await daily.resolve('w', { session_name: null, session_id: ID })
    const forever = await daily.create('w', { name: 'for ever', retention_days: 0 }, { upsert: false })
    const sent = await daily.create('w', { name: 'sent', retention_days: 3 }, { upsert: false })
    const made = await daily.create('w', { name: 'made' }, { upsert: false })
    expect(await daily.resolve('w', { session_name: 'kept before', session_id: null })).toBe(old)
    const all = [old, named, ID, forever.id, sent.id, made.id].map(days)
    expect(await Promise.all(all)).toEqual([null, 30, 30, 0, 3, 30])
  })

  it('changes the given fields and frees the old name', async () => {
    await byId(ID, 'old')
    await byName('old')
    await byName('taken')
    expect(await store.update('w', ID, { name: 'new', end_time: 7 })).toMatchObject({
      name: 'new',
      end_time: 7,
    })
    expect(await byName('old')).not.toBe(ID)
    expect(await byName('new')).toBe(ID)
    await expect(store.update('w', ID, { name: 'taken' })).rejects.toMatchObject({ code: 'conflict' })
    expect(await store.update('other', ID, { name: 'x' })).toBeUndefined()
  })

  it('sees within seconds what another process renamed, and uses its cache while the database fails', async () => {
    const id = await byName('old')
    const other = createProjectStore(
      await engine.openAgain(),
      testClock(() => now),
    )
    await other.update('w', id, { name: 'new' })
    expect(store.known('w', 'old')).toBe(id)
    now += 5_001
    expect(store.known('w', 'old')).toBeUndefined()
    expect(await byName('new')).toBe(id)
    const second = await byName('old')
    expect(second).not.toBe(id)
    await database.close()
    now += 5_001
    expect([await byName('old'), await byName('new'), await byId(id)]).toEqual([second, id, id])
    await expect(byName('unheard of')).rejects.toThrow()
  })

  it('returns the filters of projects: a change at once, that of another process within seconds', async () => {
    const { id } = await store.create('w', { name: 'p', span_filters: [{ scope: 'a' }] }, { upsert: false })
    await byName('none')
    const found = (filters: object[]) => [{ project_id: id, project_name: 'p', filters }]
    expect(await store.spanFilters('w')).toEqual(found([{ scope: 'a' }]))
    expect(await store.spanFilters('other')).toEqual([])
    await store.update('w', id, { description: 'd', span_filters: null })
    expect(await store.spanFilters('w')).toEqual(found([{ scope: 'a' }]))
    await store.create('w', { name: 'p', span_filters: [{ name: 'b' }] }, { upsert: true })
    expect(await store.spanFilters('w')).toEqual(found([{ name: 'b' }]))
    const other = createProjectStore(
      await engine.openAgain(),
      testClock(() => now),
    )
    await other.update('w', id, { span_filters: [] })
    expect(await store.spanFilters('w')).toEqual(found([{ name: 'b' }]))
    now += 5_001
    expect(await store.spanFilters('w')).toEqual([])
    await database.close()
    now += 5_001
    expect(await store.spanFilters('w')).toEqual([])
    await expect(store.spanFilters('unheard of')).rejects.toThrow()
  })

  it('creates a project once, however many processes use its name at once', async () => {
    const again = await engine.openAgain()
    const stores = [store, createProjectStore(again, testClock()), createProjectStore(again, testClock())]
    const names = Array.from({ length: 20 }, (_, i) => `p${i % 5}`)
    const resolved = await Promise.all(
      stores.flatMap((one) =>
        names.map((name) => one.resolve('w', { session_name: name, session_id: null })),
      ),
    )
    expect(new Set(resolved).size).toBe(5)
  })

  it('does not remember what was read before a project was deleted or its filters changed', async () => {
    const [gone, changed] = [await byName('gone'), await byName('changed')]
    const gate = Promise.withResolvers<void>()
    let reads = 0
    const slow: Database = {
      ...database,
      tx: (...asked) => database.tx(...asked),
      async query(sql, ...more) {
        const rows = await database.query(sql, ...more)
        if (sql.includes('FROM projects')) {
          reads++
          await gate.promise
        }
        return rows as never
      },
    }
    const other = createProjectStore(
      slow,
      testClock(() => now),
    )
    const reading = other.resolve('w', { session_name: 'gone', session_id: null })
    const filters = other.spanFilters('w')
    await eventually(async () => expect(reads).toBe(2))
    await other.revise('w', changed, () => ({ span_filters: [{ action: 'drop' }] as never }))
    await other.delete('w', gone)
    gate.resolve()
    await Promise.all([reading, filters])
    expect(await other.resolve('w', { session_name: 'gone', session_id: null })).not.toBe(gone)
    expect((await other.spanFilters('w')).map(({ project_id }) => project_id)).toEqual([changed])
  })

  it('returns names of all projects of some workspaces for reports', async () => {
    const id = await byName('p')
    await store.resolve('v', { session_name: 'q', session_id: ID })
    await store.resolve('other', { session_name: 'hidden', session_id: null })
    expect(await store.names(['w', 'v', 'none'])).toEqual(
      new Map([
        [`w/${id}`, 'p'],
        [`v/${ID}`, 'q'],
      ]),
    )
    expect(await store.names([])).toEqual(new Map())
  })

  it('lists the newest first, by ids, name and part of a name', async () => {
    for (const name of ['a%b', 'ab', 'AB c', 'zz']) await byName(name)
    const names = async (query: object) =>
      (await store.list('w', { limit: 10, offset: 0, ...query })).projects.map(({ name }) => name)
    expect(await names({})).toEqual(['zz', 'AB c', 'ab', 'a%b'])
    expect(await names({ limit: 2, offset: 1 })).toEqual(['AB c', 'ab'])
    expect(await names({ name: 'ab' })).toEqual(['ab'])
    expect(await names({ name_contains: 'AB' })).toEqual(['AB c', 'ab'])
    expect(await names({ name_contains: '%' })).toEqual(['a%b'])
    expect(await names({ ids: [await byName('zz'), ID] })).toEqual(['zz'])
    expect(await names({ ids: [] })).toEqual([])
  })

  it('lists no more bytes than fit into a response, and says that there are more', async () => {
    const extra = { text: 'x'.repeat(1000) }
    for (let n = 0; n < 5; n++) await store.create('w', { name: `p${n}`, extra }, { upsert: false })
    const seen: string[] = []
    for (let offset = 0, more = true; more; ) {
      const page = await store.list('w', { limit: 4, offset, max_bytes: 2500 })
      expect(page.projects.length).toBeLessThanOrEqual(2)
      seen.push(...page.projects.map(({ name }) => name))
      offset += page.projects.length
      more = page.more
    }
    expect(seen.toSorted((a, b) => a.localeCompare(b))).toEqual(['p0', 'p1', 'p2', 'p3', 'p4'])
    expect(await store.list('w', { limit: 5, offset: 0 })).toMatchObject({ more: false })
    expect((await store.list('w', { limit: 1, offset: 0, max_bytes: 1 })).projects).toHaveLength(1)
  })
})
