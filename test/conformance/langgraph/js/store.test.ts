import { describe, expect, it } from 'vitest'
import { eventually } from '../../../support/eventually.ts'
import { refusal, useDeployment } from '../../deployments/use-deployment.ts'
import { inLong } from '../../../support/length.ts'
import { jsonBody } from '../../../support/servers/weir-process.ts'

describe('the store of the SDK', () => {
  const setup = useDeployment()
  const store = () => setup().client.store

  it('stores, replaces, reads and deletes items', async () => {
    const place = ['users', 'ada']
    expect(await store().getItem(place, 'likes')).toBeNull()
    await store().putItem(place, 'likes', { colour: 'blue' })
    const first = await store().getItem(place, 'likes')
    expect(first).toMatchObject({ namespace: place, key: 'likes', value: { colour: 'blue' } })
    expect(new Date(first!.createdAt).toISOString()).toBe(first!.createdAt)
    await store().putItem(place, 'likes', { colour: 'red', nested: { deep: [1, null, 'ü'] } })
    const second = await store().getItem(place, 'likes')
    expect(second).toMatchObject({
      value: { colour: 'red', nested: { deep: [1, null, 'ü'] } },
      createdAt: first!.createdAt,
    })
    await store().deleteItem(place, 'likes')
    expect(await store().getItem(place, 'likes')).toBeNull()
    await store().deleteItem(place, 'likes')
  })

  it('finds items below a namespace, by filter, in pages', async () => {
    for (const [index, key] of ['a', 'b', 'c'].entries()) {
      await store().putItem(['find', key], key, { index, kind: index === 1 ? 'odd' : 'even' })
    }
    const { items } = await store().searchItems(['find'])
    expect(items.map(({ key, score }) => [key, score])).toEqual([
      ['c', null],
      ['b', null],
      ['a', null],
    ])
    const keysOf = async (
      options: Parameters<ReturnType<typeof store>['searchItems']>[1],
    ): Promise<string[]> => (await store().searchItems(['find'], options)).items.map(({ key }) => key)
    expect(await keysOf({ filter: { kind: 'odd' } })).toEqual(['b'])
    expect(await keysOf({ filter: { index: { $gte: 1 } } })).toEqual(['c', 'b'])
    expect(await keysOf({ limit: 1, offset: 1 })).toEqual(['b'])
    expect(await keysOf({ query: 'ignored where nothing can be embedded' })).toHaveLength(3)
    expect((await store().searchItems(['find', 'b'])).items).toHaveLength(1)
    expect((await store().searchItems(['fin'])).items).toEqual([])
    expect((await store().searchItems([], { filter: { kind: 'odd' } })).items).toHaveLength(1)
  })

  it('lists namespaces', async () => {
    for (const namespace of [
      ['list', 'ada', 'notes'],
      ['list', 'bob', 'notes'],
      ['list', 'bob', 'todo'],
    ])
      await store().putItem(namespace, 'k', {})
    const list = async (options: object) =>
      (await store().listNamespaces({ prefix: ['list'], ...options })).namespaces
    expect(await list({})).toEqual([
      ['list', 'ada', 'notes'],
      ['list', 'bob', 'notes'],
      ['list', 'bob', 'todo'],
    ])
    expect(await list({ suffix: ['notes'], limit: 1, offset: 1 })).toEqual([['list', 'bob', 'notes']])
    expect(await list({ maxDepth: 2 })).toEqual([
      ['list', 'ada'],
      ['list', 'bob'],
    ])
    expect(await list({ prefix: ['list', '*', 'todo'] })).toEqual([['list', 'bob', 'todo']])
  })

  it('deletes expired items', async () => {
    await store().putItem(['ttl'], 'short', {}, { ttl: 0.01 })
    await store().putItem(['ttl'], 'long', {}, { ttl: null, index: false })
    await eventually(async () => {
      expect(await store().getItem(['ttl'], 'short', { refreshTtl: false })).toBeNull()
    })
    expect((await store().searchItems(['ttl'], { refreshTtl: false })).items.map(({ key }) => key)).toEqual([
      'long',
    ])
  })

  it('RUN-29: refuses labels that are empty or have periods', async () => {
    const detail = 'Namespace labels cannot be empty or contain periods. Received: '
    const { request } = setup()
    const put = (body: object): Promise<Response> =>
      request('/store/items', jsonBody('PUT', { key: 'k', value: {}, ...body }))
    const dotted = await put({ namespace: ['a.b'] })
    expect([dotted.status, await dotted.json()]).toEqual([
      422,
      { detail: `${detail}a.b`, code: 'invalid_request' },
    ])
    expect(await refusal(store().putItem(['a', ''], 'k', {}))).toMatchObject({
      status: 422,
      detail: `${detail}a.`,
    })
    expect(await refusal(store().getItem(['', 'b'], 'k'))).toMatchObject({
      status: 422,
      detail: `${detail}.b`,
    })
    expect(await refusal(store().deleteItem([''], 'k'))).toMatchObject({ status: 422 })
    expect(await refusal(store().searchItems(['']))).toMatchObject({ status: 422 })
    expect(await refusal(store().listNamespaces({ prefix: ['a.b'] }))).toMatchObject({ status: 422 })
  })

  it('refuses an invalid item', async () => {
    const { request } = setup()
    const wrong = [
      {},
      { namespace: [], key: 'k', value: {} },
      { namespace: 'a', key: 'k', value: {} },
      { namespace: ['a'], value: {} },
      { namespace: ['a'], key: 'k', value: [] },
      { namespace: ['a'], key: 'k', value: {}, ttl: 0 },
      { namespace: ['a'], key: 'k', value: {}, index: true },
      { namespace: ['a'], key: 'nul \u0000', value: {} },
    ]
    for (const body of wrong) {
      const headers = { 'content-type': 'application/json' }
      const answer = await request('/store/items', { method: 'PUT', headers, body: JSON.stringify(body) })
      expect([body, answer.status]).toEqual([body, 422])
      expect(await answer.json()).toMatchObject({ code: 'invalid_request', detail: expect.any(String) })
    }
    for (const query of ['', '?namespace=a', '?key=k', '?namespace=a&key=%00']) {
      expect((await request(`/store/items${query}`)).status).toBe(422)
    }
  })

  it('RUN-29: is the store that graphs use', async () => {
    const input = { kind: 'store' }
    const { client } = setup()
    const values = (await client.runs.wait(null, 'kinds', { input })) as { answer: unknown }
    expect(values.answer).toEqual({ text: 'kept' })
    expect(await store().getItem(['notes'], 'one')).toMatchObject({ value: { text: 'kept' } })
  })
})

inLong(() => {
  describe('a store with an index', () => {
    const setup = useDeployment('store-index')
    const store = () => setup().client.store

    it('can be searched by meaning, by clients and graphs', async () => {
      const { client } = setup()
      await store().putItem(['client'], 'a', { text: 'aaa' })
      await store().putItem(['client'], 'mixed', { text: 'abb' })
      await store().putItem(['client'], 'unseen', { text: 'bbb' }, { index: false })
      const { found } = (await client.runs.wait(null, 'agent', { input: {} })) as { found: string[] }
      expect(found).toEqual(['kept', 'mixed'])
      const { items } = await store().searchItems([], { query: 'bb' })
      expect(items.map(({ key }) => key)).toEqual(['kept', 'mixed', 'a', 'unseen'])
      expect(items.map(({ score }) => score)).toEqual([1, expect.closeTo(0.894), 0, null])
    })
  })
})
