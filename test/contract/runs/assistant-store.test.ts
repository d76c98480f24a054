import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import type { AssistantSearch, AssistantStore, NewAssistant } from '../../../src/runs/assistants/store.ts'
import { systemAssistants } from '../../../src/runs/assistants/system.ts'
import { createAssistantStore } from '../../../src/storage/sql/runs/assistant-store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { TENANT } from '../../support/runs/run-store.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { testClock } from '../../support/faults/test-clock.ts'

const NEW: NewAssistant = {
  assistant_id: randomUUID(),
  graph_id: 'agent',
  name: 'Untitled',
  description: null,
  config: { configurable: { model: 'a' } },
  context: {},
  metadata: { team: 'x', nested: { a: 1, b: 2 } },
}
const ALL: AssistantSearch = { sort_by: 'created_at', sort_order: 'desc', limit: 10, offset: 0 }

const AGENT = {
  graph_id: 'agent',
  language: 'javascript',
  description: 'first',
  config: {},
  context: {},
  unavailable: null,
} as const

describeOnSql('assistants', (engine) => {
  let database: Database
  let store: AssistantStore
  let now: number
  const clock = testClock(() => now)
  beforeEach(async () => {
    database = await engine.openRuns()
    now = 1_700_000_000_000
    store = createAssistantStore(database, clock)
  })
  const names = async (search: Partial<AssistantSearch>): Promise<string[]> => {
    const { assistants } = await store.search(TENANT, { ...ALL, ...search })
    return assistants.map(({ name }) => name)
  }

  it('are created once', async () => {
    const made = await store.create(TENANT, NEW)
    const assistant = { ...NEW, version: 1, created_at: now, updated_at: now }
    expect(made).toEqual({ kind: 'created', assistant })
    now += 1
    expect(await store.create(TENANT, { ...NEW, name: 'other' })).toEqual({ kind: 'exists', assistant })
    expect(await store.get(TENANT, NEW.assistant_id)).toEqual(assistant)
    expect(await store.get({ ...TENANT, deployment_id: 'other' }, NEW.assistant_id)).toBeUndefined()
  })

  it('exist for each graph, and keep their changes', async () => {
    const graphs = systemAssistants([AGENT, { ...AGENT, graph_id: 'other', description: null }])
    await store.ensure(TENANT, graphs)
    const [agent] = graphs
    const id = agent?.assistant_id ?? ''
    await store.update(TENANT, id, { name: 'mine' })
    await store.ensure(TENANT, graphs)
    expect(await store.get(TENANT, id)).toMatchObject({
      name: 'mine',
      version: 2,
      metadata: { created_by: 'system' },
    })
    expect((await store.search(TENANT, ALL)).total).toBe(2)
  })

  it('of graphs have their current defaults until a client changes them', async () => {
    const begin = (model: string) => {
      const context = { model }
      return systemAssistants([{ ...AGENT, config: { configurable: context }, context }])
    }
    const [{ assistant_id } = NEW] = begin('a')
    await store.ensure(TENANT, begin('a'))
    now += 1
    await store.ensure(TENANT, begin('b'))
    const renewed = { version: 1, config: { configurable: { model: 'b' } }, context: { model: 'b' } }
    expect(await store.get(TENANT, assistant_id)).toMatchObject({ ...renewed, updated_at: now })
    const { versions } = (await store.versions(TENANT, assistant_id, { limit: 9, offset: 0 }))!
    expect(versions).toMatchObject([renewed])
    await store.update(TENANT, assistant_id, { context: { model: 'mine' } })
    await store.setLatest(TENANT, assistant_id, 1)
    await store.ensure(TENANT, begin('c'))
    expect(await store.get(TENANT, assistant_id)).toMatchObject(renewed)
  })

  it('RUN-27: have versions, each of which can be made current', async () => {
    await store.create(TENANT, NEW)
    now += 10
    const second = await store.update(TENANT, NEW.assistant_id, {
      name: 'two',
      metadata: { more: 1 },
      config: {},
    })
    expect(second).toEqual({
      ...NEW,
      name: 'two',
      config: {},
      metadata: { ...NEW.metadata, more: 1 },
      version: 2,
      created_at: now - 10,
      updated_at: now,
    })
    now += 10
    const back = await store.setLatest(TENANT, NEW.assistant_id, 1)
    expect(back).toEqual({ ...NEW, version: 1, created_at: now - 20, updated_at: now })
    const third = await store.update(TENANT, NEW.assistant_id, { description: 'three' })
    expect(third).toMatchObject({ version: 3, name: 'Untitled', description: 'three' })
    const page = { limit: 10, offset: 0 }
    const all = await store.versions(TENANT, NEW.assistant_id, page)
    expect(all?.versions.map(({ version, name, created_at }) => [version, name, created_at])).toEqual([
      [3, 'Untitled', now],
      [2, 'two', now - 10],
      [1, 'Untitled', now - 20],
    ])
    expect(
      await store.versions(TENANT, NEW.assistant_id, { metadata: { more: 1 }, limit: 1, offset: 0 }),
    ).toEqual({ versions: [{ ...second, created_at: now - 10 }], more: false })
    expect(await store.setLatest(TENANT, NEW.assistant_id, 9)).toBeUndefined()
    expect(await store.get(TENANT, NEW.assistant_id)).toEqual(third)
  })

  it('get a new version for each of many concurrent changes', async () => {
    await store.create(TENANT, NEW)
    const elsewhere = createAssistantStore(
      await engine.openAgain(),
      testClock(() => now),
    )
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? store : elsewhere).update(TENANT, NEW.assistant_id, { metadata: { [`k${i}`]: i } }),
      ),
    )
    const latest = await store.get(TENANT, NEW.assistant_id)
    expect(latest?.version).toBe(21)
    expect(Object.keys(latest?.metadata ?? {})).toHaveLength(22)
  })

  it('are undefined when they are unknown or removed', async () => {
    const id = randomUUID()
    const page = { limit: 1, offset: 0 }
    await store.create(TENANT, NEW)
    expect(await store.remove({ ...TENANT, workspace_id: 'other' }, NEW.assistant_id)).toBe(false)
    expect([await store.remove(TENANT, NEW.assistant_id), await store.remove(TENANT, id)]).toEqual([
      true,
      false,
    ])
    for (const gone of [NEW.assistant_id, id]) {
      expect(await store.get(TENANT, gone)).toBeUndefined()
      expect(await store.update(TENANT, gone, { name: 'x' })).toBeUndefined()
      expect(await store.setLatest(TENANT, gone, 1)).toBeUndefined()
      expect(await store.versions(TENANT, gone, page)).toBeUndefined()
    }
    expect(await store.create(TENANT, NEW)).toMatchObject({ kind: 'created', assistant: { version: 1 } })
    expect(await store.versions(TENANT, NEW.assistant_id, { limit: 9, offset: 0 })).toMatchObject({
      versions: [{}],
      more: false,
    })
  })

  it('are found by graph, part of the name and metadata, sorted, in pages', async () => {
    for (const [i, name] of ['beta', 'Alpha', 'alpha two', 'Beta'].entries()) {
      now += 1
      const metadata = { n: i, nested: { a: i % 2, b: 2 }, tags: ['t', `t${i}`] }
      await store.create(TENANT, {
        ...NEW,
        assistant_id: randomUUID(),
        graph_id: i < 3 ? 'agent' : 'other',
        name,
        metadata,
      })
    }
    expect(await names({})).toEqual(['Beta', 'alpha two', 'Alpha', 'beta'])
    expect(await names({ sort_by: 'name', sort_order: 'asc' })).toEqual([
      'Alpha',
      'Beta',
      'alpha two',
      'beta',
    ])
    expect(await names({ graph_id: 'other' })).toEqual(['Beta'])
    expect(await names({ name: 'ALPHA' })).toEqual(['alpha two', 'Alpha'])
    expect(await names({ metadata: { nested: { a: 1 } } })).toEqual(['Beta', 'Alpha'])
    expect(await names({ metadata: { tags: ['t2', 't'] } })).toEqual(['alpha two'])
    expect(await names({ metadata: { n: '2' } })).toEqual([])
    expect(await names({ limit: 2, offset: 1 })).toEqual(['alpha two', 'Alpha'])
    expect(await store.search(TENANT, { ...ALL, name: 'a', limit: 0 })).toEqual({ assistants: [], total: 4 })
    expect((await store.search({ ...TENANT, deployment_id: 'other' }, ALL)).total).toBe(0)
  })
})
