import { expect, it } from 'vitest'
import { doneWith } from '../../test/support/runs/hosts/fake-graph-host.ts'
import { openRunWorld, staying } from '../../test/support/runs/world.ts'
import { AppError } from '../base/errors.ts'

const REQUEST = { assistant_id: 'agent', input: { n: 1 } }

it('new runs of every kind are refused at once on a full disk; active runs end', async () => {
  let isFull = false
  const assertRoom = async (): Promise<void> => {
    if (isFull) throw new AppError('disk_full')
  }
  const { runs, streams, call, fake, thread } = await openRunWorld({ assertRoom })
  const thread_id = await thread()
  const before = await runs.wait(call, thread_id, REQUEST, staying())
  const job = await fake.job(before.run.run_id)
  isFull = true
  const full = { code: 'disk_full' }
  await expect(runs.create(call, await thread(), REQUEST)).rejects.toMatchObject(full)
  await expect(runs.create(call, null, REQUEST)).rejects.toMatchObject(full)
  await expect(runs.createBatch(call, [REQUEST])).rejects.toMatchObject(full)
  await expect(runs.wait(call, null, REQUEST, staying())).rejects.toMatchObject(full)
  await expect(streams.create(call, null, REQUEST, staying())).rejects.toMatchObject(full)
  job.end(doneWith({ n: 2 }))
  expect(JSON.parse(await before.result)).toEqual({ n: 2 })
  isFull = false
  await runs.create(call, await thread(), REQUEST)
})
