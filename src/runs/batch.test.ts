import { expect, it } from 'vitest'
import { doneWith } from '../../test/support/runs/hosts/fake-graph-host.ts'
import { openRunWorld } from '../../test/support/runs/world.ts'
import { newUuid } from '../base/ids.ts'

const REQUEST = { assistant_id: 'agent', input: { n: 1 } }
const NO_PAGE = { sort_by: 'created_at', sort_order: 'asc', limit: 0, offset: 0 } as const

it('several runs are not created when one of them is invalid', async () => {
  const { runs, store, call } = await openRunWorld()
  const batch = [REQUEST, { assistant_id: 'nope' }]
  await expect(runs.createBatch(call, batch)).rejects.toMatchObject({ code: 'not_found' })
  expect(await store.searchThreads(call.tenant, NO_PAGE)).toMatchObject({ total: 0 })
  const taken = [REQUEST, { ...REQUEST, run_id: newUuid() }]
  await runs.createBatch(call, taken.slice(1))
  await expect(runs.createBatch(call, taken)).rejects.toMatchObject({
    code: 'run_id_taken',
    message: expect.stringContaining('No run was created. Run 2:'),
  })
  expect(await store.searchThreads(call.tenant, NO_PAGE)).toMatchObject({ total: 1 })
})

it('several runs are executed as slots become free', async () => {
  const { runs, call, fake } = await openRunWorld({ concurrency: 2 })
  fake.play((job) => queueMicrotask(() => job.end(doneWith(1))))
  const made = await runs.createBatch(
    call,
    Array.from({ length: 5 }, () => REQUEST),
  )
  for (const { run_id } of made) await fake.job(run_id)
  expect(new Set(made.map(({ thread_id }) => thread_id)).size).toBe(5)
})
