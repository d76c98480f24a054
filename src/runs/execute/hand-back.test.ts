import { expect, it } from 'vitest'
import { openMemoryRunState, openRunWorld } from '../../../test/support/runs/world.ts'
import { AppError } from '../../base/errors.ts'

it('a stop while the event log is unreachable gives the run back at once', async () => {
  const state = await openMemoryRunState()
  const away = (): Promise<never> => Promise.reject(new AppError('store_unavailable'))
  const events = Object.assign(Object.create(state.events), { append: away, check: away })
  const world = await openRunWorld({ state: { ...state, events } })
  const run = await world.runs.create(world.call, await world.thread(), { assistant_id: 'agent' })
  const job = await world.fake.job(run.run_id)
  job.items(['values', 1])
  await world.worker.stop(0)
  expect(await state.store.getRun(world.call.tenant, null, run.run_id)).toMatchObject({
    status: 'pending',
    attempt: 2,
  })
})
