import { InMemoryStore, type Operation } from '@langchain/langgraph-checkpoint'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { FoundItem, ItemSearch, KvStore } from '../../../src/runs/items/kv-store.ts'
import type { JsonObject } from '../../../src/schema/json.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createGraphStore } from '../../../src/storage/sql/items/graph-store.ts'
import { createKvStore, type KvStoreOptions } from '../../../src/storage/sql/items/kv-store.ts'
import { TENANT } from '../../support/runs/run-store.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { tries } from '../../support/properties.ts'
import { testClock } from '../../support/faults/test-clock.ts'

const MINUTE = 60_000
const OPTIONS: KvStoreOptions = { default_ttl: null, refresh_on_read: true }

// '.' and ':' separate labels in other stores. '*' is left out, because it has a meaning in patterns.
const label = fc.constantFrom('a', 'b', 'a.b', 'a:b', 'A', 'é', '%', '_', '"', '\\')
const labels = fc.array(label, { minLength: 1, maxLength: 3 })
const scalar = fc.constantFrom<(string | number | boolean | null)[]>(
  null,
  true,
  0,
  1,
  2.5,
  '1',
  '10',
  '9',
  'x',
  '',
)
const value = fc.dictionary(fc.constantFrom('f', 'g'), scalar, { noNullPrototype: true })
const operator = fc.constantFrom('$eq', '$ne', '$gt', '$gte', '$lt', '$lte')
const compared = fc.constantFrom(0, 1, 2.5, 9, '9', 'x', '', null, true)
const filter = fc.dictionary(
  fc.constantFrom('f', 'g'),
  fc.oneof(
    scalar,
    fc.dictionary(operator, compared, { maxKeys: 2, noNullPrototype: true }),
    fc.record({ $in: fc.array(scalar), $nin: fc.array(scalar) }, { requiredKeys: [], noNullPrototype: true }),
  ),
  { noNullPrototype: true },
)
const pattern = fc.array(fc.oneof(label, fc.constant('*')), { maxLength: 3 })
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ namespace: labels, key: label, value: fc.oneof(value, fc.constant(null)) }),
  },
  fc.record({ namespace: labels, key: label }),
  fc.record({ namespacePrefix: fc.array(label, { maxLength: 3 }), filter, limit: fc.constant(1_000) }),
  fc
    .record({
      prefix: pattern,
      suffix: pattern,
      maxDepth: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    })
    .map(({ prefix, suffix, maxDepth }) => ({
      matchConditions: [
        { matchType: 'prefix' as const, path: prefix },
        { matchType: 'suffix' as const, path: suffix },
      ],
      ...(maxDepth === undefined ? {} : { maxDepth }),
      limit: 1_000,
      offset: 0,
    })),
)

/** Texts that are not numbers are not ordered, not even relative to each other. Found with seed 150846474. */
const UNORDERED: Operation[] = [
  { namespace: ['a'], key: 'a', value: { g: 'x' } },
  { namespacePrefix: [], filter: { g: { $gt: '9' } }, limit: 1_000 },
]

/** The result without order and times. */
function outline(result: unknown): unknown {
  if (!Array.isArray(result)) {
    const item = result as { namespace: string[]; key: string; value: object } | null | undefined
    return item ? { namespace: item.namespace, key: item.key, value: item.value } : null
  }
  return result.map((one) => JSON.stringify(Array.isArray(one) ? one : outline(one))).sort()
}

/**
 * A model of the store: a map of items. It compares namespaces itself, and LangChain's store in memory evaluates
 * filters.
 */
function createModel() {
  const store = new InMemoryStore()
  const live = new Map<string, unknown>()
  return {
    async run(one: Operation): Promise<unknown> {
      if ('value' in one) {
        const id = JSON.stringify([one.namespace, one.key])
        if (one.value === null) live.delete(id)
        else live.set(id, one.value)
        return undefined
      }
      const items = [...live].map(([id, stored]) => {
        const [namespace, itemKey] = JSON.parse(id) as [string[], string]
        return { namespace, key: itemKey, value: stored as JsonObject }
      })
      if ('namespacePrefix' in one) {
        // Prefixes are not given to LangChain's store: it compares them as texts, which may end within a label.
        const under = items.filter((item) =>
          one.namespacePrefix.every((part, i) => item.namespace[i] === part),
        )
        await store.batch(under.map((item, i) => ({ ...item, namespace: ['model'], key: String(i) })))
        const found = await store.search(['model'], {
          ...(one.filter ? { filter: one.filter } : {}),
          limit: 1_000,
        })
        const kept = found.map((item) => under[Number(item.key)])
        await store.batch(under.map((_, i) => ({ namespace: ['model'], key: String(i), value: null })))
        return kept
      }
      if ('key' in one) {
        return items.find(
          (item) => JSON.stringify([item.namespace, item.key]) === JSON.stringify([one.namespace, one.key]),
        )
      }
      const [prefix = [], suffix = []] = (one.matchConditions ?? []).map(({ path }) => path)
      const fits = (part: string | undefined, wanted: string): boolean => wanted === '*' || part === wanted
      const namespaces = items
        .map((item) => item.namespace)
        .filter((ns) => ns.length >= prefix.length && prefix.every((part, i) => fits(ns[i], part)))
        .filter(
          (ns) =>
            ns.length >= suffix.length && suffix.every((part, i) => fits(ns.at(i - suffix.length), part)),
        )
        .map((ns) => JSON.stringify(ns.slice(0, one.maxDepth)))
      return [...new Set(namespaces)].map((text) => JSON.parse(text) as string[])
    },
  }
}

describeOnSql('the long-term memory', (engine) => {
  let database: Database
  let now: number
  beforeEach(async () => {
    database = await engine.openRuns()
    now = 1_700_000_000_000
  })
  const open = (options: Partial<KvStoreOptions> = {}): KvStore =>
    createKvStore(
      database,
      testClock(() => now),
      { ...OPTIONS, ...options },
    )
  const keys = async (store: KvStore, search: Partial<ItemSearch> = {}): Promise<string[]> => {
    const found = await store.search(TENANT, { namespace_prefix: [], limit: 10, offset: 0, ...search })
    return found.items.map(({ key }) => key)
  }

  it('behaves like a store in memory for any operations', async () => {
    let count = 0
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 30 }), async (operations) => {
        const store = createGraphStore(open(), { ...TENANT, deployment_id: `d${count++}` })
        const model = createModel()
        for (const one of operations) {
          const [found] = await store.batch([one])
          expect([one, outline(found)]).toEqual([one, outline(await model.run(one))])
        }
      }),
      { ...tries(engine.name === 'SQLite' ? 40 : 6), examples: [[UNORDERED]] },
    )
  })

  it('keeps the time of creation of an item, and updates that of its last change', async () => {
    const store = open()
    await store.put(TENANT, { namespace: ['a'], key: 'k', value: { n: 1 } })
    now += 5
    await store.put(TENANT, { namespace: ['a'], key: 'k', value: { n: 2 } })
    const item = { namespace: ['a'], key: 'k', value_json: '{"n":2}', created_at: now - 5, updated_at: now }
    expect(await store.get(TENANT, ['a'], 'k')).toEqual(item)
    expect(await store.get({ ...TENANT, workspace_id: 'other' }, ['a'], 'k')).toBeUndefined()
    await store.remove(TENANT, ['a'], 'k')
    await store.remove(TENANT, ['a'], 'k')
    expect(await store.get(TENANT, ['a'], 'k')).toBeUndefined()
  })

  it('finds the last changed items first, in pages, also with a filter', async () => {
    const store = open()
    const many = Array.from({ length: 1_203 }, (_, i) => i)
    for (const i of many)
      await store.put(TENANT, {
        namespace: ['a', String(i % 3)],
        key: `k${i}`,
        value: { i, even: i % 2 === 0 },
      })
    expect(await keys(store, { limit: 2 })).toEqual(['k1202', 'k1201'])
    expect(await keys(store, { limit: 2, offset: 1_202 })).toEqual(['k0'])
    expect(await keys(store, { limit: 2, offset: 600, filter: { even: true } })).toEqual(['k2', 'k0'])
    expect(await keys(store, { namespace_prefix: ['a', '1'], limit: 2, filter: { i: { $lt: 7 } } })).toEqual([
      'k4',
      'k1',
    ])
    await store.put(TENANT, { namespace: ['a', '0'], key: 'k0', value: {} })
    expect(await keys(store, { limit: 1 })).toEqual(['k0'])
  })

  it('compares with operators and nested values', async () => {
    const store = open()
    const values: JsonObject[] = [
      { at: 1, day: 'Monday', tags: ['a', 'b'], o: { x: 1, y: 2 } },
      { at: '2', day: 'Tuesday', o: { x: 2 } },
    ]
    for (const [i, one] of values.entries())
      await store.put(TENANT, { namespace: ['n'], key: String(i), value: one })
    expect(await keys(store, { filter: { at: { $gt: 1 } } })).toEqual(['1'])
    expect(await keys(store, { filter: { day: { $gt: 'A' } } })).toEqual([])
    expect(await keys(store, { filter: { day: { $in: ['Monday', 'x'] } } })).toEqual(['0'])
    expect(await keys(store, { filter: { tags: ['b'] } })).toEqual(['0'])
    expect(await keys(store, { filter: { o: { x: 1 } } })).toEqual(['0'])
    expect(await keys(store, { filter: { o: { $what: 1 } } })).toEqual([])
  })

  it('lists namespaces in order, in pages', async () => {
    const store = open()
    for (const namespace of [['b'], ['a', 'z'], ['a'], ['a', 'B', 'c']]) {
      await store.put(TENANT, { namespace, key: 'k', value: {} })
    }
    expect(await store.listNamespaces(TENANT, { limit: 10, offset: 0 })).toEqual([
      ['a'],
      ['a', 'B', 'c'],
      ['a', 'z'],
      ['b'],
    ])
    expect(await store.listNamespaces(TENANT, { limit: 2, offset: 1, max_depth: 2 })).toEqual([
      ['a', 'B'],
      ['a', 'z'],
    ])
  })

  describe('items that expire', () => {
    it('RUN-30: expire on time, and with them their namespace', async () => {
      const store = open({ default_ttl: 2, refresh_on_read: false })
      await store.put(TENANT, { namespace: ['a'], key: 'default', value: {} })
      await store.put(TENANT, { namespace: ['a'], key: 'short', value: {}, ttl: 0.5 })
      await store.put(TENANT, { namespace: ['b'], key: 'stays', value: {}, ttl: null })
      now += 0.5 * MINUTE
      expect(await keys(store)).toEqual(['stays', 'default'])
      now += 1.5 * MINUTE
      expect(await keys(store)).toEqual(['stays'])
      expect(await store.get(TENANT, ['a'], 'default')).toBeUndefined()
      expect(await store.listNamespaces(TENANT, { limit: 10, offset: 0 })).toEqual([['b']])
      expect([await store.sweep(1), await store.sweep(10), await store.sweep(10)]).toEqual([1, 1, 0])
      expect(await database.query('SELECT item_key FROM store_items')).toEqual([{ item_key: 'stays' }])
      expect(await database.query('SELECT DISTINCT namespace FROM store_prefixes')).toEqual([
        { namespace: '["b"]' },
      ])
    })

    it('are hidden, and deleted an hour later, when the clock is set forwards', async () => {
      let [wall, steady] = [now, 5.996]
      const store = createKvStore(database, { now: () => wall, steady: () => steady }, OPTIONS)
      await store.put(TENANT, { namespace: ['a'], key: 'k', value: {}, ttl: 30 })
      const find = () => store.get(TENANT, ['a'], 'k')
      wall += 48 * 60 * MINUTE
      expect([await find(), await store.sweep(10)]).toEqual([undefined, 0])
      wall -= 48 * 60 * MINUTE
      expect([await find(), await store.sweep(10)]).toMatchObject([{ key: 'k' }, 0])
      wall += 48 * 60 * MINUTE
      expect(await store.sweep(10)).toBe(0)
      steady += 60 * MINUTE
      expect(await store.sweep(10)).toBe(1)
    })

    it('are extended by reading, if requested', async () => {
      const store = open({ default_ttl: 1 })
      await store.put(TENANT, { namespace: ['a'], key: 'k', value: {} })
      for (const refresh of [undefined, true, undefined]) {
        now += 0.9 * MINUTE
        expect(await store.get(TENANT, ['a'], 'k', refresh)).toBeDefined()
      }
      now += 0.9 * MINUTE
      expect(await keys(store)).toEqual(['k'])
      now += 0.9 * MINUTE
      expect(await store.get(TENANT, ['a'], 'k', false)).toBeDefined()
      now += 0.2 * MINUTE
      expect(await store.get(TENANT, ['a'], 'k')).toBeUndefined()
    })

    it('are new when they are written again', async () => {
      const store = open({ default_ttl: 1 })
      await store.put(TENANT, { namespace: ['a'], key: 'k', value: {} })
      now += 2 * MINUTE
      await store.put(TENANT, { namespace: ['a'], key: 'k', value: {} })
      expect(await store.get(TENANT, ['a'], 'k')).toMatchObject({ created_at: now })
    })
  })

  describe('a search by meaning', () => {
    /** Counts of the letters a, b and c. */
    const embed = async (texts: readonly string[]) =>
      texts.map((text) => ['a', 'b', 'c'].map((letter) => text.split(letter).length - 1))
    const scores = ({ items }: { items: readonly FoundItem[] }) =>
      items.map(({ key, score }) => [key, score === null ? null : Math.round(score * 100) / 100])

    it('finds the nearest first, by the best of an item’s fields', async () => {
      const store = open({ index: { embed, fields: ['text', 'more[*].text'] } })
      const put = (key: string, one: JsonObject, index?: false | string[]) =>
        store.put(TENANT, { namespace: ['n'], key, value: one, index })
      await put('aa', { text: 'aa' })
      await put('ab', { text: 'b', more: [{ text: 'x' }, { text: 'ab' }] })
      await put('b', { text: 'b', other: 'aa' })
      await put('other', { text: 'c', other: 'aab' }, ['other'])
      await put('none', { text: 'aa' }, false)
      const search = { namespace_prefix: ['n'], query: 'a', limit: 10, offset: 0 }
      expect(scores(await store.search(TENANT, search))).toEqual([
        ['aa', 1],
        ['other', 0.89],
        ['ab', 0.71],
        ['b', 0],
        ['none', null],
      ])
      expect(scores(await store.search(TENANT, { ...search, limit: 1, offset: 1 }))).toEqual([
        ['other', 0.89],
      ])
      expect(scores(await store.search(TENANT, { ...search, filter: { text: 'b' } }))).toEqual([
        ['ab', 0.71],
        ['b', 0],
      ])
      await put('aa', { text: 'c' })
      await store.remove(TENANT, ['n'], 'other')
      expect((await store.search(TENANT, { ...search, limit: 1 })).items.map(({ key }) => key)).toEqual([
        'ab',
      ])
    })

    it('is ordered by time without an embedding function', async () => {
      const store = open()
      for (const key of ['1', '2']) await store.put(TENANT, { namespace: ['n'], key, value: { text: 'a' } })
      const found = await store.search(TENANT, { namespace_prefix: [], query: 'a', limit: 10, offset: 0 })
      expect(scores(found)).toEqual([
        ['2', null],
        ['1', null],
      ])
    })
  })
})
