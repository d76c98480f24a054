import { expect, it } from 'vitest'
import { eventually } from '../../test/support/eventually.ts'
import { openRunWorld } from '../../test/support/runs/world.ts'

it('D-45: a run whose graph did not begin has a trace with its input and the error', async () => {
  const { runs, call, fake, traces, thread } = await openRunWorld()
  const metadata = { made_by: 'test' }
  for (const input of [{ n: 'text' }, ['text'], null]) {
    const run = await runs.create(call, await thread(), { assistant_id: 'agent', input, metadata })
    const job = await fake.job(run.run_id)
    const failed = { kind: 'failed', error: 'ValidationError', message: 'n is no number' } as const
    job.end({ ...failed, retryable: false, state: undefined })
    await eventually(async () => expect(traces.map(({ run_id }) => run_id)).toContain(run.run_id))
    const { body = '' } = traces.find(({ run_id }) => run_id === run.run_id) ?? {}
    expect(JSON.parse(body)).toMatchObject({
      post: [
        {
          id: run.run_id,
          name: 'agent',
          session_name: 'test',
          inputs: Array.isArray(input) || input === null ? { input } : input,
          error: 'ValidationError: n is no number',
          extra: { metadata: { ...metadata, run_id: run.run_id } },
        },
      ],
    })
  }
})

it('D-45: an attempt after which another follows leaves no error in the trace of a run that succeeds', async () => {
  const { runs, call, fake, traces, thread } = await openRunWorld({ rules: { max_attempts: 2 } })
  const failed = { kind: 'failed', error: 'ConnectionError', message: 'away', retryable: true } as const
  const [good, bad] = [
    await runs.create(call, await thread(), { assistant_id: 'agent', input: {} }),
    await runs.create(call, await thread(), { assistant_id: 'agent', input: {} }),
  ]
  for (const run of [good, bad]) (await fake.job(run.run_id)).end({ ...failed, state: undefined })
  ;(await fake.job(good.run_id, 2)).end({ kind: 'done', state: undefined, values: null })
  ;(await fake.job(bad.run_id, 2)).end({ ...failed, state: undefined })
  await eventually(async () => expect(traces.map(({ run_id }) => run_id)).toEqual([bad.run_id]))
})

it('D-45: a run that ends its host has a trace, whose root ends with the reason', async () => {
  const { runs, call, fake, traces, thread } = await openRunWorld()
  const error = 'HostLost: The graph ended its process with code 3.'
  for (const isTraced of [false, true]) {
    const { run_id } = await runs.create(call, await thread(), { assistant_id: 'agent', input: { n: 1 } })
    const job = await fake.job(run_id)
    if (isTraced) job.trace('{"post":[{}]}')
    const message = 'The graph ended its process with code 3.'
    job.end({ kind: 'lost', culprit: true, error: 'HostLost', message, state: undefined })
    const expected = isTraced
      ? { post: [], patch: [{ id: run_id, error }] }
      : { post: [{ id: run_id, inputs: { n: 1 }, error }], patch: [] }
    await eventually(async () => {
      const [last] = traces.filter((one) => one.run_id === run_id).slice(-1)
      expect(JSON.parse(last?.body ?? '{}')).toMatchObject(expected)
    })
  }
})
