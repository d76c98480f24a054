import { describe, expect, it } from 'vitest'
import { doneWith, stateOf } from '../../../../test/support/runs/hosts/fake-graph-host.ts'
import { openMemoryRunState, openRunWorld, type RunWorld } from '../../../../test/support/runs/world.ts'
import { EVERYTHING } from '../filter.ts'
import type { ProtocolEvent } from '../protocol-event.ts'

const REQUEST = { assistant_id: 'agent', input: { n: 1 } }
const LATER = { ...REQUEST, after_seconds: 60 }

/**
 * The events of a stream up to the end of the run; the stream begins after `after`, or has no position. `begun` is called
 * after the first events.
 */
async function shownUntilEndOf(
  world: RunWorld,
  thread_id: string,
  run_id: string,
  after?: number,
  begun = (): void => undefined,
): Promise<ProtocolEvent[]> {
  const gone = new AbortController()
  const stream = await world.streams.followThread(world.call, thread_id, {
    filter: EVERYTHING,
    after,
    gone: gone.signal,
  })
  const shown: ProtocolEvent[] = []
  for await (const items of stream.batches) {
    const isFirst = shown.length === 0
    shown.push(...items.filter((item) => 'seq' in item))
    if (isFirst && shown.length > 0) begun()
    const last = shown.findLast((event) => event.run_id === run_id)
    if (last?.method === 'lifecycle' && !last.data.includes('"running"')) gone.abort()
  }
  stream.close()
  return shown
}

async function endOf(...args: Parameters<typeof shownUntilEndOf>): Promise<ProtocolEvent | undefined> {
  return (await shownUntilEndOf(...args)).at(-1)
}

describe('a run that ends while it is pending', () => {
  it.each([
    ['interrupt', 0],
    ['rollback', 0],
    ['interrupt', undefined],
  ] as const)('V-18: has its end in a stream when it is cancelled: %s, after %s', async (action, after) => {
    const world = await openRunWorld()
    const thread_id = await world.thread()
    const { run_id } = await world.runs.create(world.call, thread_id, LATER)
    await world.runs.cancel(world.call, thread_id, run_id, { action, wait: true, early: false })
    expect(await endOf(world, thread_id, run_id, after)).toMatchObject({
      method: 'lifecycle',
      namespace: [],
      event_id: `synth:${run_id}:lc||interrupted`,
      data: '{"event":"interrupted","graph_name":"agent"}',
    })
  })

  it('V-18: has its end when a later run interrupts it', async () => {
    const world = await openRunWorld()
    const thread_id = await world.thread()
    const { run_id } = await world.runs.create(world.call, thread_id, LATER)
    await world.runs.create(world.call, thread_id, { ...REQUEST, multitask_strategy: 'interrupt' })
    expect((await endOf(world, thread_id, run_id, 0))?.event_id).toBe(`synth:${run_id}:lc||interrupted`)
  })

  it('V-29: does not hide the run that was active then from a stream that comes after both', async () => {
    const world = await openRunWorld()
    const thread_id = await world.thread()
    const { run_id } = await world.runs.create(world.call, thread_id, REQUEST)
    const job = await world.fake.job(run_id)
    job.items(['metadata', { run_id, attempt: 1 }])
    const next = await world.runs.create(world.call, thread_id, LATER)
    const options = { action: 'interrupt', wait: true, early: false } as const
    await world.runs.cancel(world.call, thread_id, next.run_id, options)
    job.items(['values', { n: 1 }])
    await world.runs.cancel(world.call, thread_id, run_id, options)
    expect((await endOf(world, thread_id, run_id))?.event_id).toBe(`synth:${run_id}:lc||interrupted`)
  })
})

it.each([true, false])(
  'V-13: the answers of a run are told once when its first attempt is lost; it had begun in the log: %s',
  async (hasBegun) => {
    const world = await openRunWorld()
    const thread_id = await world.thread()
    const lost = { error: 'HostLost', message: 'gone', culprit: false, state: undefined } as const
    world.fake.play((job) => {
      const { run_id, attempt } = job.job.run
      if (hasBegun || attempt > 1) job.items(['metadata', { run_id, attempt }])
      job.end(attempt === 1 ? { kind: 'lost', ...lost } : doneWith({ n: 1 }))
    })
    const id = 'a'.repeat(32)
    const request = { assistant_id: 'agent', command: { resume: { [id]: 'yes' } } }
    const { run_id } = await world.runs.create(world.call, thread_id, request)
    const shown = await shownUntilEndOf(world, thread_id, run_id, 0)
    const ids = [`synth:${run_id}:lc||running`, `synth:${run_id}:answered||${id}`]
    const second = `synth:${run_id}:lc||running|2`
    expect(shown.map(({ event_id }) => event_id)).toEqual([
      ...(hasBegun ? [...ids, second] : [second, ids[1]]),
      `synth:${run_id}:lc||completed`,
    ])
  },
)

it('V-13: a run whose graph cannot be loaded has given no answers', async () => {
  const world = await openRunWorld()
  const thread_id = await world.thread()
  const failed = { error: 'GraphLoadError', message: 'no', retryable: false, state: undefined } as const
  world.fake.play((job) => job.end({ kind: 'failed', ...failed }))
  const request = { assistant_id: 'agent', command: { resume: { ['a'.repeat(32)]: 'yes' } } }
  const { run_id } = await world.runs.create(world.call, thread_id, request)
  const shown = await shownUntilEndOf(world, thread_id, run_id, 0)
  expect(shown.map(({ method }) => method)).toEqual(['lifecycle', 'lifecycle'])
})

it('V-13, V-32: interrupts that wait again after a failed answer are sent again before its end, and no others', async () => {
  const world = await openRunWorld()
  const thread_id = await world.thread()
  const [answered, other] = ['a'.repeat(32), 'b'.repeat(32)]
  const interrupts = { task: [answered, other].map((id) => ({ id, value: '?' })) }
  const state = { ...stateOf({}, ['ask']), interrupts }
  const request = { assistant_id: 'agent', command: { resume: { [answered]: 'yes' } } }
  const { run_id } = await world.runs.create(world.call, thread_id, request)
  const job = await world.fake.job(run_id)
  job.items(['metadata', { run_id, attempt: job.job.run.attempt }])
  // A stream that begins after the end would also ask again what was not answered.
  const shown = await shownUntilEndOf(world, thread_id, run_id, 0, () =>
    job.end({ kind: 'failed', error: 'ValueError', message: 'no', retryable: false, state }),
  )
  expect(shown.map(({ event_id }) => event_id)).toEqual([
    `synth:${run_id}:lc||running`,
    `synth:${run_id}:answered||${answered}`,
    `synth:${run_id}:input||${answered}`,
    `synth:${run_id}:lc||failed`,
  ])
})

it('V-13: the end of a run whose answers were refused has the reason and the interrupts', async () => {
  const world = await openRunWorld()
  const thread_id = await world.thread()
  const [answered, other] = ['a'.repeat(32), 'b'.repeat(32)]
  const [error, message] = ['UnknownInterruptError', 'Unknown or already-consumed interrupt']
  const refusal = { reason: 'not_pending', interrupt_ids: [answered], pending_ids: [other] }
  const request = { assistant_id: 'agent', command: { resume: { [answered]: 'yes' } } }
  const { run_id } = await world.runs.create(world.call, thread_id, request)
  const job = await world.fake.job(run_id)
  job.items(['metadata', { run_id, attempt: job.job.run.attempt }])
  // A stream that begins after the end would also ask again what was not answered.
  const shown = await shownUntilEndOf(world, thread_id, run_id, 0, () => {
    job.items(['error', { error, message, ...refusal }])
    const state = { ...stateOf({}, ['ask']), interrupts: { task: [{ id: other, value: '?' }] } }
    job.end({ kind: 'failed', error, message, retryable: false, state })
  })
  expect(shown.map(({ method }) => method)).toEqual(['lifecycle', 'input.answered', 'lifecycle'])
  expect(JSON.parse(shown.at(-1)?.data ?? '')).toEqual({
    event: 'failed',
    graph_name: 'agent',
    error: message,
    ...refusal,
  })
})

it('V-18: a run whose graph cannot be loaded has its end, with the reason', async () => {
  const world = await openRunWorld()
  const thread_id = await world.thread()
  const message = 'Graph "agent" cannot be loaded: agent.ts:1: no such module'
  world.fake.play((job) =>
    job.end({ kind: 'failed', error: 'GraphLoadError', message, retryable: false, state: undefined }),
  )
  const { run_id } = await world.runs.create(world.call, thread_id, REQUEST)
  expect(await endOf(world, thread_id, run_id, 0)).toMatchObject({
    event_id: `synth:${run_id}:lc||failed`,
    data: JSON.stringify({ event: 'failed', graph_name: 'agent', error: message }),
  })
})

it.each([true, false])(
  'V-18: a run whose last attempt is lost with its server has its end, with the reason; it had begun in the log: %s',
  async (hasBegun) => {
    const state = await openMemoryRunState()
    const dead = await openRunWorld({ state, owner: 'dead' })
    const thread_id = await dead.thread()
    const { run_id } = await dead.runs.create(dead.call, thread_id, REQUEST)
    const job = await dead.fake.job(run_id)
    if (hasBegun) job.items(['metadata', { run_id, attempt: 1 }], ['values', { n: 1 }])
    const world = await openRunWorld({ state, owner: 'dead', rules: { max_attempts: 1 } })
    expect(await endOf(world, thread_id, run_id, 0)).toMatchObject({
      event_id: `synth:${run_id}:lc||failed`,
      data: JSON.stringify({
        event: 'failed',
        graph_name: 'agent',
        error: 'The process that executed the run is gone.',
      }),
    })
  },
)
