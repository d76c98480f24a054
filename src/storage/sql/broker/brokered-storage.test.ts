import { expect, it } from 'vitest'
import { createBrokeredRowStore } from './brokered-storage.ts'

it('HOST-17: the rows of many tasks are sent in several frames', async () => {
  const frames: number[] = []
  const rows = createBrokeredRowStore(async (_op, { body }) => {
    frames.push((body['writes'] as unknown[]).length)
    return { body: {}, parts: [] }
  })
  const tenant = { workspace_id: 'w', deployment_id: 'd' }
  const key = { thread_id: 't', checkpoint_ns: '', checkpoint_id: 'c', channel: 'x', type: 'json' as const }
  const write = { ...key, task_id: 'k', idx: 0, written_at: 1, value: '1' }
  const fence = { tenant, thread_id: 't', lease: null }
  await Promise.all(Array.from({ length: 5_000 }, () => rows.queue.add(fence, { writes: [write] }, true)))
  expect(frames.reduce((sum, one) => sum + one, 0)).toBe(5_000)
  expect(Math.max(...frames)).toBeLessThanOrEqual(1_000)
})
