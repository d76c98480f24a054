import { expect, it } from 'vitest'
import type { KvStore } from '../../../runs/items/kv-store.ts'
import { createBrokeredStore } from '../broker/brokered-storage.ts'
import { createGraphStoreBatch } from './graph-store-batch.ts'

const GOOD = { namespace: ['a'], key: 'good', value: { n: 1 } }
const BAD = { namespace: ['a'], key: 'bad', value: { n: 10n } }
const TENANT = { workspace_id: 'w', deployment_id: 'd' }

it('RUN-38: an item that JSON cannot have is refused with its key, in the server and in a host', async () => {
  const put = async (_tenant: unknown, { value }: { value: object }) => void JSON.stringify(value)
  const direct = createGraphStoreBatch({ put } as unknown as KvStore, TENANT)
  const brokered = createBrokeredStore(async () => ({ body: {}, parts: [] }))
  const words = /^The value of "bad" cannot be stored: .*BigInt/
  await expect(direct([GOOD, BAD])).rejects.toThrow(words)
  await expect(brokered.batch([GOOD, BAD])).rejects.toThrow(words)
})

it('errors of the store stay as they are', async () => {
  const full = new Error('full')
  const put = () => Promise.reject(full)
  await expect(createGraphStoreBatch({ put } as unknown as KvStore, TENANT)([GOOD])).rejects.toBe(full)
})

it('RUN-30: operations of Python graphs say when items expire, and whether reading puts that off', async () => {
  const calls: unknown[][] = []
  const store = {
    put: async (_tenant: unknown, { key, ttl }: { key: string; ttl?: number | null }) =>
      void calls.push([key, ttl]),
    get: async (...[, , key, refresh]: unknown[]) => void calls.push([key, refresh]),
    search: async (_tenant: unknown, { refresh_ttl }: { refresh_ttl?: boolean }) => {
      calls.push(['search', refresh_ttl])
      return { items: [], more: false, expiring: [] }
    },
  }
  const batch = createGraphStoreBatch(store as unknown as KvStore, TENANT)
  const item = { namespace: ['a'], key: 'k' }
  const operations = [
    { ...item, value: {}, ttl: 5 },
    { ...item, key: 'never', value: {}, ttl: null },
    { ...item, key: 'default', value: {} },
    { ...item, refresh_ttl: true },
    item,
    { namespacePrefix: [], refresh_ttl: false },
  ]
  await batch(operations as unknown as Parameters<typeof batch>[0])
  const reads = [
    ['k', true],
    ['k', undefined],
    ['search', false],
  ]
  const writes = [
    ['k', 5],
    ['never', null],
    ['default', undefined],
  ]
  expect(calls).toEqual([...reads, ...writes])
})
