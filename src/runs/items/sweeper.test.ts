import { expect, it, onTestFinished } from 'vitest'
import { createKvStore } from '../../storage/sql/items/kv-store.ts'
import { openRunDatabase } from '../../storage/sql/driver/open-run-database.ts'
import { readUse } from '../../storage/sql/workspace-use.ts'
import { itemSweep } from './sweeper.ts'
import { settableClock } from '../../../test/support/faults/test-clock.ts'

const TENANT = { workspace_id: 'w', deployment_id: 'd' }

it('deletes expired items a few at a time, and yields in between', async () => {
  const clock = settableClock()
  const database = await openRunDatabase({ url: undefined, file: ':memory:' })
  onTestFinished(() => database.close())
  const items = createKvStore(database, clock, { default_ttl: 1, refresh_on_read: false })
  const sweep = () => itemSweep(items).work(new AbortController().signal)
  const put = (key: string, ttl: number | null) =>
    items.put(TENANT, { namespace: ['a'], key, value: { n: 1 }, ttl })
  for (let n = 0; n < 100; n++) await put(`k${n}`, 1)
  await put('stays', null)
  expect(await sweep()).toBe(0)
  clock.time += 60_000

  const left = async () => (await readUse(database, TENANT)).store_bytes / '{"n":1}'.length
  const counts: number[] = []
  const sweeping = sweep()
  while ((counts.at(-1) ?? 101) > 1) {
    await new Promise((turn) => setImmediate(turn))
    counts.push(await left())
  }
  expect(await sweeping).toBe(100)
  const steps = counts.map((count, at) => (counts[at - 1] ?? 101) - count)
  expect(Math.max(...steps)).toBeLessThan(40)
  expect(await items.get(TENANT, ['a'], 'stays')).toBeDefined()
})
