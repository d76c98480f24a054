import { expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../../base/log.ts'
import { createMemoryEventLog } from '../../../test/support/runs/streams/memory-event-store.ts'
import { openRunDatabase } from '../../storage/sql/driver/open-run-database.ts'
import { createRunStore } from '../../storage/sql/runs/run-store.ts'
import { startThreadSweeper } from './sweeper.ts'

const TENANT = { workspace_id: 'w', deployment_id: 'd' }

it('deletes or prunes expired threads, as their ttl says', async () => {
  const time = { now: 0 }
  const clock = { now: () => time.now }
  const database = await openRunDatabase({ url: undefined, file: ':memory:' })
  onTestFinished(() => database.close())
  const store = createRunStore(database, clock)
  const also: number[] = []
  const sweeper = startThreadSweeper({
    store,
    events: createMemoryEventLog(clock),
    everyMs: 1_000_000,
    logger: createLogger({ level: 'silent' }),
    also: async () => also.push(time.now),
  })
  onTestFinished(() => sweeper.stop())
  const make = (thread_id: string, strategy: 'delete' | 'keep_latest', ttl_minutes: number) =>
    store.createThread(TENANT, { thread_id, metadata: {}, config: {}, ttl: { strategy, ttl_minutes } })
  await make('soon', 'delete', 1)
  await make('later', 'delete', 10)
  await make('pruned', 'keep_latest', 1)
  expect(await sweeper.sweep()).toBe(0)
  time.now = 60_000
  expect(await sweeper.sweep()).toBe(2)
  const left = ['soon', 'later', 'pruned'].map(
    async (id) => (await store.getThread(TENANT, id)) !== undefined,
  )
  expect(await Promise.all(left)).toEqual([false, true, true])
  expect(await sweeper.sweep()).toBe(0)
  expect(also).toEqual([0, 60_000, 60_000])
})
