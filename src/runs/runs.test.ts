import { describe, expect, it } from 'vitest'
import { doneWith, stateOf } from '../../test/support/runs/hosts/fake-graph-host.ts'
import { eventually } from '../../test/support/eventually.ts'
import { openMemoryRunState, openRunWorld, staying } from '../../test/support/runs/world.ts'
import { newUuid } from '../base/ids.ts'

const REQUEST = { assistant_id: 'agent', input: { n: 1 } }

describe('wait and join', () => {
  it('return the last values of the run', async () => {
    const { runs, call, fake, thread } = await openRunWorld()
    fake.play((job) => job.end(doneWith({ n: 2 })))
    const { run, result } = await runs.wait(call, await thread(), REQUEST, staying())
    expect(JSON.parse(await result)).toEqual({ n: 2 })
    expect(await runs.get(call, run.thread_id, run.run_id)).toMatchObject({ status: 'success', attempt: 1 })
    const joined = await runs.join(call, run.thread_id, run.run_id, {
      gone: staying(),
      cancel_on_disconnect: false,
    })
    expect(JSON.parse(await joined.result)).toEqual({ n: 2 })
  })

  it('return an interrupt of the graph with its last values', async () => {
    const { runs, threads, call, fake, thread } = await openRunWorld()
    const values = '{"n":1,"__interrupt__":[{"id":"i","value":"?"}]}'
    fake.play((job) => job.end({ kind: 'done', state: stateOf({ n: 1 }, ['ask']), values }))
    const thread_id = await thread()
    const { run, result } = await runs.wait(call, thread_id, REQUEST, staying())
    expect(await result).toBe(values)
    expect((await runs.get(call, thread_id, run.run_id)).status).toBe('success')
    expect((await threads.get(call, thread_id)).status).toBe('interrupted')
  })

  it('return a failure once, as __error__', async () => {
    const { runs, threads, call, fake, thread, eventsOf } = await openRunWorld()
    fake.play((job) => {
      job.items(['metadata', {}], ['error', { error: 'ValueError', message: 'no' }])
      job.end({ kind: 'failed', error: 'ValueError', message: 'no', retryable: false, state: undefined })
    })
    const thread_id = await thread()
    const { run, result } = await runs.wait(call, thread_id, REQUEST, staying())
    expect(JSON.parse(await result)).toEqual({ __error__: { error: 'ValueError', message: 'no' } })
    expect(await runs.get(call, thread_id, run.run_id)).toMatchObject({
      status: 'error',
      error: { error: 'ValueError', message: 'no' },
    })
    expect((await threads.get(call, thread_id)).status).toBe('error')
    expect((await eventsOf(thread_id)).map(({ event }) => event)).toEqual(['metadata', 'error', 'run_done'])
  })

  it('work for any number of clients of a running run', async () => {
    const { runs, call, fake, thread } = await openRunWorld()
    const run = await runs.create(call, await thread(), REQUEST)
    const leaving = { gone: staying(), cancel_on_disconnect: false }
    const joins = await Promise.all([1, 2, 3].map(() => runs.join(call, run.thread_id, run.run_id, leaving)))
    ;(await fake.job(run.run_id)).end(doneWith('all'))
    expect(await Promise.all(joins.map(({ result }) => result))).toEqual(['"all"', '"all"', '"all"'])
  })

  it('refuse an unknown run', async () => {
    const { runs, call, thread } = await openRunWorld()
    const join = runs.join(call, await thread(), newUuid(), { gone: staying(), cancel_on_disconnect: false })
    await expect(join).rejects.toMatchObject({ code: 'not_found' })
  })

  it('CANCEL-14: cancel the run when its client disconnects, if the request says so', async () => {
    const { runs, call, fake, thread } = await openRunWorld()
    const gone = new AbortController()
    const request = { ...REQUEST, on_disconnect: 'cancel' } as const
    const { run } = await runs.wait(call, await thread(), request, gone.signal)
    await fake.job(run.run_id)
    gone.abort()
    await eventually(async () =>
      expect((await runs.get(call, run.thread_id, run.run_id)).status).toBe('interrupted'),
    )
  })

  it('do not cancel the run when its client disconnects, otherwise', async () => {
    const { runs, call, fake, thread } = await openRunWorld()
    const gone = new AbortController()
    const { run } = await runs.wait(call, await thread(), REQUEST, gone.signal)
    const job = await fake.job(run.run_id)
    gone.abort()
    job.end(doneWith(1))
    await eventually(async () =>
      expect((await runs.get(call, run.thread_id, run.run_id)).status).toBe('success'),
    )
    expect(job.signal.aborted).toBe(false)
  })
})

describe('stateless runs', () => {
  it('are deleted with their threads, unless they are to be kept', async () => {
    const { runs, threads, call, fake } = await openRunWorld()
    fake.play((job) => job.end(doneWith(7)))
    const { run, result } = await runs.wait(call, null, REQUEST, staying())
    expect(await result).toBe('7')
    await eventually(() =>
      expect(threads.get(call, run.thread_id)).rejects.toMatchObject({ code: 'not_found' }),
    )
    const kept = await runs.wait(call, null, { ...REQUEST, on_completion: 'keep' }, staying())
    await kept.result
    expect((await threads.get(call, kept.run.thread_id)).values_json).toBe('7')
  })

  it('leave their threads to the sweeper if a server of an earlier version does not delete them', async () => {
    const { runs, threads, call } = await openRunWorld()
    const later = { ...REQUEST, after_seconds: 60 }
    const run = await runs.create(call, null, later)
    const { ttl } = await threads.get(call, run.thread_id)
    expect(ttl).toMatchObject({ strategy: 'delete', ttl_minutes: 1 })
    const kept = await runs.create(call, null, { ...later, on_completion: 'keep' })
    expect((await threads.get(call, kept.thread_id)).ttl).toBeNull()
  })

  it('are deleted with their threads when they are cancelled before they have begun', async () => {
    const { runs, threads, call } = await openRunWorld()
    for (const action of ['interrupt', 'rollback'] as const) {
      const run = await runs.create(call, null, { ...REQUEST, after_seconds: 60 })
      await runs.cancel(call, null, run.run_id, { action, wait: true, early: false })
      await eventually(() =>
        expect(threads.get(call, run.thread_id)).rejects.toMatchObject({ code: 'not_found' }),
      )
    }
  })
})

describe('cancel', () => {
  it('CANCEL-8, D-46: interrupts: the streamed messages are kept on the run, the thread is idle', async () => {
    const { runs, threads, call, fake, thread } = await openRunWorld()
    const run = await runs.create(call, await thread(), { ...REQUEST, stream_mode: 'messages-tuple' })
    const job = await fake.job(run.run_id)
    for (const content of ['Hel', 'lo']) job.items(['messages', [{ id: 'm1', content, type: 'ai' }, {}]])
    await runs.cancel(call, run.thread_id, run.run_id, { action: 'interrupt', wait: true, early: false })
    expect(await runs.get(call, run.thread_id, run.run_id)).toMatchObject({
      status: 'interrupted',
      partial_messages: [{ id: 'm1', content: 'Hello', type: 'ai' }],
    })
    expect((await threads.get(call, run.thread_id)).status).toBe('idle')
  })

  it('rolls back: the run is deleted, and waiting clients get a response', async () => {
    const { runs, call, fake, thread } = await openRunWorld()
    const { run, result } = await runs.wait(call, await thread(), REQUEST, staying())
    await fake.job(run.run_id)
    await runs.cancel(call, run.thread_id, run.run_id, { action: 'rollback', wait: true, early: false })
    await expect(runs.get(call, run.thread_id, run.run_id)).rejects.toMatchObject({ code: 'not_found' })
    expect(JSON.parse(await result)).toMatchObject({ __error__: { error: 'UserRollback' } })
  })

  it('CANCEL-5: ends the run as cancelled although the graph succeeds at the same moment', async () => {
    const { runs, call, fake, thread } = await openRunWorld({ stubborn: true })
    const run = await runs.create(call, await thread(), REQUEST)
    const job = await fake.job(run.run_id)
    const cancelled = runs.cancel(call, run.thread_id, run.run_id, {
      action: 'rollback',
      wait: true,
      early: false,
    })
    job.end(doneWith(1))
    await cancelled
    await expect(runs.get(call, run.thread_id, run.run_id)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('refuses a run that has ended, and an unknown one', async () => {
    const { runs, call, fake, thread } = await openRunWorld()
    fake.play((job) => job.end(doneWith(1)))
    const { run, result } = await runs.wait(call, await thread(), REQUEST, staying())
    await result
    const options = { action: 'interrupt', wait: false, early: false } as const
    await expect(runs.cancel(call, run.thread_id, run.run_id, options)).rejects.toMatchObject({
      code: 'run_not_active',
      message: `Run ${run.run_id} is not pending or running (status: success)`,
    })
    await expect(runs.cancel(call, run.thread_id, newUuid(), options)).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('may arrive before its run', async () => {
    const { runs, call, fake, thread } = await openRunWorld()
    const thread_id = await thread()
    const run_id = newUuid()
    await runs.cancel(call, thread_id, run_id, { action: 'interrupt', wait: false, early: true })
    const run = await runs.create(call, thread_id, { ...REQUEST, run_id })
    await eventually(async () =>
      expect((await runs.get(call, thread_id, run.run_id)).status).toBe('interrupted'),
    )
    expect(fake.jobs.every(({ signal }) => signal.aborted)).toBe(true)
  })

  it('of many returns each outcome', async () => {
    const { runs, call, fake, thread } = await openRunWorld()
    const thread_id = await thread()
    const running = await runs.create(call, thread_id, REQUEST)
    const pending = await runs.create(call, thread_id, REQUEST)
    await fake.job(running.run_id)
    const unknown = newUuid()
    const selector = { thread_id, run_ids: [running.run_id, pending.run_id, unknown] }
    const results = await runs.cancelMany(call, selector, { action: 'interrupt', wait: true })
    expect(
      Object.fromEntries(results.map((result) => [result.run_id, [result.outcome, result.status]])),
    ).toEqual({
      [running.run_id]: ['requested', 'interrupted'],
      [pending.run_id]: ['ended', 'interrupted'],
      [unknown]: ['not_found', null],
    })
    const none = runs.cancelMany(call, { status: 'all' }, { action: 'interrupt', wait: false })
    await expect(none).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('a chosen run id', () => {
  it('returns the same run on its thread, and is refused on another', async () => {
    const { runs, call, fake, thread } = await openRunWorld()
    const thread_id = await thread()
    const run_id = newUuid()
    const first = await runs.create(call, thread_id, { ...REQUEST, run_id })
    const again = await runs.wait(call, thread_id, { ...REQUEST, run_id }, staying())
    expect(again.run.run_id).toBe(first.run_id)
    ;(await fake.job(run_id)).end(doneWith(3))
    expect(await again.result).toBe('3')
    expect(fake.jobs.length).toBe(1)
    const late = await runs.wait(call, thread_id, { ...REQUEST, run_id }, staying())
    expect(await late.result).toBe('3')
    const elsewhere = runs.create(call, await thread(), { ...REQUEST, run_id })
    await expect(elsewhere).rejects.toMatchObject({ code: 'run_id_taken' })
  })
})

describe('several runs on a thread', () => {
  it('execute one after the other, in order', async () => {
    const { runs, call, fake, thread } = await openRunWorld()
    const order: unknown[] = []
    fake.play((job) => {
      order.push(job.job.run.kwargs.input)
      queueMicrotask(() => job.end(doneWith(job.job.run.kwargs.input)))
    })
    const thread_id = await thread()
    const all = []
    for (let n = 0; n < 20; n++)
      all.push(await runs.wait(call, thread_id, { ...REQUEST, input: n }, staying()))
    await Promise.all(all.map(({ result }) => result))
    expect(order).toEqual(all.map((_, n) => n))
  })

  it('multitask: reject, interrupt and rollback', async () => {
    const { runs, call, fake, thread } = await openRunWorld()
    const thread_id = await thread()
    const first = await runs.create(call, thread_id, REQUEST)
    await fake.job(first.run_id)
    const rejected = runs.create(call, thread_id, { ...REQUEST, multitask_strategy: 'reject' })
    await expect(rejected).rejects.toMatchObject({ code: 'thread_busy' })
    const second = await runs.create(call, thread_id, { ...REQUEST, multitask_strategy: 'interrupt' })
    await fake.job(second.run_id)
    expect((await runs.get(call, thread_id, first.run_id)).status).toBe('interrupted')
    const third = await runs.create(call, thread_id, { ...REQUEST, multitask_strategy: 'rollback' })
    ;(await fake.job(third.run_id)).end(doneWith(3))
    await expect(runs.get(call, thread_id, second.run_id)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('RUN-12: wait when the deployment executes as many as it may', async () => {
    const { runs, call, fake } = await openRunWorld({ concurrency: 2 })
    const all = await Promise.all([1, 2, 3, 4, 5].map(() => runs.wait(call, null, REQUEST, staying())))
    const most: number[] = []
    for (let ended = 0; ended < 5; ended++) {
      const next = await eventually(async () => fake.jobs.find((job) => !job.ended) ?? Promise.reject())
      most.push(fake.jobs.filter((job) => !job.ended).length)
      next.end(doneWith(1))
    }
    await Promise.all(all.map(({ result }) => result))
    expect(fake.jobs.length).toBe(5)
    expect(Math.max(...most)).toBe(2)
  })

  it('after_seconds starts when it is due, and does not delay others', async () => {
    const { runs, call, fake, thread } = await openRunWorld()
    fake.play((job) => job.end(doneWith(1)))
    const thread_id = await thread()
    const far = await runs.create(call, thread_id, { ...REQUEST, after_seconds: 3600 })
    const asked = Date.now()
    const later = await runs.create(call, thread_id, { ...REQUEST, after_seconds: 0.2 })
    expect(later.status).toBe('pending')
    const now = await runs.create(call, thread_id, REQUEST)
    await fake.job(now.run_id)
    await fake.job(later.run_id)
    expect(Date.now() - asked).toBeGreaterThanOrEqual(195)
    expect((await runs.get(call, thread_id, far.run_id)).status).toBe('pending')
  })
})

describe('attempts', () => {
  it('RUN-10: a temporary failure is tried again, and reported only when it remains', async () => {
    const { runs, call, fake, thread, eventsOf } = await openRunWorld()
    fake.play((job) => {
      const { attempt } = job.job.run
      job.items(['metadata', { attempt }])
      if (attempt === 3) return job.end(doneWith('third time'))
      job.items(['error', { error: 'Overloaded', message: 'later' }])
      job.end({ kind: 'failed', error: 'Overloaded', message: 'later', retryable: true, state: undefined })
    })
    const thread_id = await thread()
    const { run, result } = await runs.wait(call, thread_id, REQUEST, staying())
    expect(await result).toBe('"third time"')
    expect(await runs.get(call, thread_id, run.run_id)).toMatchObject({ status: 'success', attempt: 3 })
    const told = (await eventsOf(thread_id)).map(({ event }) => event)
    expect(told).toEqual(['metadata', 'metadata', 'metadata', 'run_done', 'state_update'])
  })

  it('RUN-10: end after three', async () => {
    const { runs, call, fake, thread } = await openRunWorld()
    fake.play((job) =>
      job.end({ kind: 'failed', error: 'Overloaded', message: 'later', retryable: true, state: undefined }),
    )
    const { result } = await runs.wait(call, await thread(), REQUEST, staying())
    expect(JSON.parse(await result)).toEqual({ __error__: { error: 'Overloaded', message: 'later' } })
    expect(fake.jobs.length).toBe(3)
  })

  it('a run whose host died is tried again, but not the one that caused it', async () => {
    const { runs, call, fake, thread } = await openRunWorld()
    const { run, result } = await runs.wait(call, await thread(), REQUEST, staying())
    const lost = { kind: 'lost', error: 'HostLost', message: 'The host is gone.', state: undefined } as const
    ;(await fake.job(run.run_id)).end({ ...lost, culprit: false })
    ;(await fake.job(run.run_id, 2)).end({ ...lost, culprit: true })
    expect(JSON.parse(await result)).toEqual({
      __error__: { error: 'HostLost', message: 'The host is gone.' },
    })
  })

  it('have traces of their own, the first with the id of the run', async () => {
    const { runs, call, fake, traces, thread } = await openRunWorld()
    const run = await runs.create(call, await thread(), REQUEST)
    const first = await fake.job(run.run_id)
    expect(first.job.trace_id).toBe(run.run_id)
    first.trace('{"post":[]}')
    first.end({ kind: 'lost', culprit: false, error: 'HostLost', message: '', state: undefined })
    const second = await fake.job(run.run_id, 2)
    expect(second.job.trace_id).not.toBe(run.run_id)
    expect(traces).toEqual([{ run_id: run.run_id, body: '{"post":[]}' }])
  })

  it('RUN-11: time out', async () => {
    const { runs, call, thread } = await openRunWorld({ rules: { timeout_ms: 30 } })
    const { run, result } = await runs.wait(call, await thread(), REQUEST, staying())
    expect(JSON.parse(await result)).toMatchObject({ __error__: { error: 'TimeoutError' } })
    expect((await runs.get(call, run.thread_id, run.run_id)).status).toBe('timeout')
  })
})

describe('stop and start', () => {
  it('RUN-33: releases runs, which continue with the next start', async () => {
    const state = await openMemoryRunState()
    const before = await openRunWorld({ state, owner: 'a' })
    const run = await before.runs.create(before.call, await before.thread(), REQUEST)
    await before.fake.job(run.run_id)
    await before.worker.stop(0)
    const after = await openRunWorld({ state, owner: 'a' })
    ;(await after.fake.job(run.run_id, 2)).end(doneWith(2))
    await eventually(async () =>
      expect((await after.runs.get(after.call, run.thread_id, run.run_id)).status).toBe('success'),
    )
  })

  it('recovers the runs of a killed process of the same instance at once', async () => {
    const state = await openMemoryRunState()
    const killed = await openRunWorld({ state, owner: 'a', stubborn: true })
    const thread_id = await killed.thread()
    const run = await killed.runs.create(killed.call, thread_id, REQUEST)
    const next = await killed.runs.create(killed.call, thread_id, REQUEST)
    const left = await killed.fake.job(run.run_id)
    const after = await openRunWorld({ state, owner: 'a' })
    const again = await after.fake.job(run.run_id, 2)
    // The old process continues, and its writes are refused.
    left.end(doneWith('old'))
    again.end(doneWith('new'))
    ;(await after.fake.job(next.run_id)).end(doneWith('next'))
    await eventually(async () =>
      expect((await after.threads.get(after.call, thread_id)).values_json).toBe('"next"'),
    )
    expect(await after.runs.get(after.call, thread_id, run.run_id)).toMatchObject({
      status: 'success',
      attempt: 2,
    })
  })
})
