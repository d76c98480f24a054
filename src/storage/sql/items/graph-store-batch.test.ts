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
  const brokered = createBrokeredStore(async () => ({ body: {}, parts: [] }) as never)
  const words = /^The value of "bad" cannot be stored: .*BigInt/
  await expect(direct([GOOD, BAD])).rejects.toThrow(words)
  await expect(brokered.batch([GOOD, BAD])).rejects.toThrow(words)
})

it('errors of the store stay as they are', async () => {
  const full = new Error('full')
  const put = () => Promise.reject(full)
  await expect(createGraphStoreBatch({ put } as unknown as KvStore, TENANT)([GOOD])).rejects.toBe(full)
})
