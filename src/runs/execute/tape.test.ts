import { expect, it } from 'vitest'
import { doneWith } from '../../../test/support/runs/hosts/fake-graph-host.ts'
import { openMemoryRunState, openRunWorld, staying } from '../../../test/support/runs/world.ts'
import { AppError } from '../../base/errors.ts'
import type { EventLog } from '../../events/event-log.ts'

const REQUEST = { assistant_id: 'agent', input: { n: 1 } }

it('a run creates events again that could not be stored', async () => {
  const { store, events } = await openMemoryRunState()
  let failures = 1
  const flaky: EventLog = {
    append: async (...append) => {
      if (append[2] !== null && failures-- > 0) throw new AppError('store_unavailable')
      return await events.append(...append)
    },
    read: (...read) => events.read(...read),
    last: (thread) => events.last(thread),
    total: (thread) => events.total(thread),
    check: (thread) => events.check(thread),
    drop: (thread) => events.drop(thread),
  }
  const { runs, call, fake, thread, eventsOf } = await openRunWorld({ state: { store, events: flaky } })
  fake.play((job) => {
    job.items(['metadata', { attempt: job.job.run.attempt }], ['values', 1])
    job.end(doneWith(1))
  })
  const { run, result } = await runs.wait(call, await thread(), REQUEST, staying())
  expect(JSON.parse(await result)).toBe(1)
  expect(await runs.get(call, run.thread_id, run.run_id)).toMatchObject({ status: 'success', attempt: 2 })
  const told = (await eventsOf(run.thread_id)).map(({ event, data }) => [event, JSON.parse(data)])
  expect(told.slice(0, 2)).toEqual([
    ['metadata', { attempt: 2 }],
    ['values', 1],
  ])
})
