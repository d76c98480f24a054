import { expect, it, onTestFinished } from 'vitest'
import { admissionOf, admitted } from '../../../test/support/runs/run-store.ts'
import { createMemoryEventLog } from '../../../test/support/runs/streams/memory-event-store.ts'
import { openRunDatabase } from '../../storage/sql/driver/open-run-database.ts'
import { createRunStore } from '../../storage/sql/runs/run-store.ts'
import { threadSweep } from './sweeper.ts'
import { settableClock } from '../../../test/support/faults/test-clock.ts'

const TENANT = { workspace_id: 'w', deployment_id: 'd' }

it('deletes or prunes expired threads, as their ttl says', async () => {
  const clock = settableClock()
  const database = await openRunDatabase({ url: undefined, file: ':memory:' })
  onTestFinished(() => database.close())
  const store = createRunStore(database, clock)
  const { work } = threadSweep({ store, events: createMemoryEventLog(clock), everyMs: 1 })
  const sweep = () => work(new AbortController().signal)
  const make = (thread_id: string, strategy: 'delete' | 'keep_latest', ttl_minutes: number) =>
    store.createThread(TENANT, { thread_id, metadata: {}, config: {}, ttl: { strategy, ttl_minutes } })
  await make('soon', 'delete', 1)
  await make('later', 'delete', 10)
  await make('pruned', 'keep_latest', 1)
  expect(await sweep()).toBe(0)
  clock.time += 60_000
  expect(await sweep()).toBe(2)
  const left = ['soon', 'later', 'pruned'].map(
    async (id) => (await store.getThread(TENANT, id)) !== undefined,
  )
  expect(await Promise.all(left)).toEqual([false, true, true])
  expect(await sweep()).toBe(0)
})

it('keeps a thread that is used between the list of expired threads and their deletion', async () => {
  const clock = settableClock()
  const database = await openRunDatabase({ url: undefined, file: ':memory:' })
  onTestFinished(() => database.close())
  const store = createRunStore(database, clock)
  const ttl = { strategy: 'delete', ttl_minutes: 1 } as const
  const ids = ['used', 'renewed', 'unused']
  for (const thread_id of ids) await store.createThread(TENANT, { thread_id, metadata: {}, config: {}, ttl })
  clock.time += 60_000
  const dropped: string[] = []
  const { work } = threadSweep({
    store: {
      ...store,
      async expiredThreads(limit) {
        const found = await store.expiredThreads(limit)
        await admitted(store, admissionOf('used'), TENANT)
        await store.updateThread(TENANT, 'renewed', { metadata: { seen: true } })
        return found
      },
    },
    events: { drop: async ({ thread_id }) => void dropped.push(thread_id) },
    everyMs: 1,
  })
  expect(await work(new AbortController().signal)).toBe(1)
  const left = ids.map(async (id) => (await store.getThread(TENANT, id))?.status)
  expect([await Promise.all(left), dropped]).toEqual([['busy', 'idle', undefined], ['unused']])
})
