import { describe, expect, it } from 'vitest'
import { doneWith, playThree } from '../../../test/support/runs/hosts/fake-graph-host.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { has, names, watch } from '../../../test/support/runs/streams/watched-stream.ts'
import { openRunWorld, type RunWorld, staying } from '../../../test/support/runs/world.ts'
import { AppError } from '../../base/errors.ts'
import { newUuid } from '../../base/ids.ts'
import { isAfter } from '../../events/id.ts'
import { createLogger } from '../../base/log.ts'
import { createStreams } from './create-streams.ts'
import type { Joining, StreamStart } from './streams.ts'
import { systemClock } from '../../base/clock.ts'
import { testClock } from '../../../test/support/faults/test-clock.ts'

const REQUEST = { assistant_id: 'agent', input: { n: 1 } }
const NOW: Joining = { from: 'now', modes: null, gone: staying(), cancel_on_disconnect: false }

/** Streams whose clock is so late that every ended run ended long ago. */
function laterStreams(world: RunWorld) {
  const clock = testClock(() => Date.now() + 60_000)
  return createStreams({ ...world, clock, logger: createLogger({ level: 'silent' }) })
}

function joinAfter(world: RunWorld, run: { thread_id: string; run_id: string }, from: StreamStart) {
  return laterStreams(world).joinRun(world.call, run.thread_id, run.run_id, { ...NOW, from })
}

describe('the stream of a new run', () => {
  it('has all events of the run and none of others, and ends with it', async () => {
    const { streams, call, fake, thread } = await openRunWorld()
    fake.play(playThree)
    const thread_id = await thread()
    for (let turn = 0; turn < 3; turn++) {
      const { run, stream } = await streams.create(call, thread_id, REQUEST, staying())
      const seen = watch(stream)
      await seen.ended
      expect(seen.events).toEqual([
        ['metadata', { run_id: run.run_id, attempt: 1 }],
        ['values', 1],
        ['updates', 2],
        ['values', 3],
      ])
    }
  })

  it('has only events of its run also when a run with that id was on the thread before', async () => {
    const { streams, runs, call, fake, thread } = await openRunWorld()
    fake.play(playThree)
    const thread_id = await thread()
    const named = { ...REQUEST, run_id: newUuid() }
    const first = await streams.create(call, thread_id, named, staying())
    await watch(first.stream).ended
    const known = watch((await streams.create(call, thread_id, named, staying())).stream)
    await known.ended
    expect(known.events).toHaveLength(4)
    await runs.remove(call, thread_id, named.run_id)
    const again = watch((await streams.create(call, thread_id, named, staying())).stream)
    await again.ended
    const [earlier] = known.ids.slice(-1)
    expect(again.events).toEqual(known.events)
    expect(again.ids.every((id) => isAfter(id, earlier ?? id))).toBe(true)
  })

  it('is refused when the server cannot find out whether the run is new', async () => {
    const world = await openRunWorld()
    const { call, thread } = world
    const thread_id = await thread()
    const get = () => Promise.reject(new AppError('store_unavailable'))
    const logger = createLogger({ level: 'silent' })
    const streams = createStreams({
      ...world,
      runs: { ...world.runs, get },
      clock: systemClock,
      logger,
    })
    const named = { ...REQUEST, run_id: newUuid() }
    await expect(streams.create(call, thread_id, named, staying())).rejects.toMatchObject({
      code: 'store_unavailable',
    })
    const page = { limit: 1, offset: 0 }
    expect(await world.store.listRuns(call.tenant, thread_id, page)).toEqual({ runs: [], more: false })
  })

  it('of a stateless run ends too, and can be resumed after the run was deleted', async () => {
    const world = await openRunWorld()
    const { streams, store, call, fake } = world
    fake.play(playThree)
    const { run, stream } = await streams.create(call, null, REQUEST, staying())
    const seen = watch(stream)
    await seen.ended
    await eventually(async () => expect(await store.getRun(call.tenant, null, run.run_id)).toBeUndefined())
    const again = watch(
      await streams.joinRun(call, null, run.run_id, { ...NOW, from: { after: seen.ids[1] ?? '' } }),
    )
    await again.ended
    expect(again.events).toEqual(seen.events.slice(2))
    const stranger = { ...call, caller: { ...call.caller, api_key_id: newUuid() } }
    await expect(streams.joinRun(stranger, null, run.run_id, NOW)).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('that broke off before anything was sent starts at its beginning for its creator, once', async () => {
    const { streams, call, fake, thread } = await openRunWorld()
    const thread_id = await thread()
    const client = new AbortController()
    const request = { ...REQUEST, on_disconnect: 'continue' } as const
    const { run, stream } = await streams.create(call, thread_id, request, client.signal)
    const broken = watch(stream)
    client.abort()
    await broken.ended
    const job = await fake.job(run.run_id)
    job.items(['metadata', { run_id: run.run_id, attempt: 1 }], ['values', 1])
    const witness = watch(await streams.joinRun(call, thread_id, run.run_id, { ...NOW, from: 'start' }))
    await has(witness, 2)
    const stranger = { ...call, caller: { ...call.caller, api_key_id: newUuid() } }
    const joins = []
    for (const by of [stranger, call, call]) {
      joins.push(watch(await streams.joinRun(by, thread_id, run.run_id, NOW)))
    }
    job.items(['values', 3])
    job.end(doneWith({ n: 3 }))
    await Promise.all(joins.map(({ ended }) => ended))
    expect(joins.map(names)).toEqual([['values'], ['metadata', 'values', 'values'], ['values']])
  })

  it('that broke off later does not: a client that joins without an id gets what follows', async () => {
    const { streams, call, fake, thread } = await openRunWorld()
    const thread_id = await thread()
    const client = new AbortController()
    const request = { ...REQUEST, on_disconnect: 'continue' } as const
    const { run, stream } = await streams.create(call, thread_id, request, client.signal)
    const broken = watch(stream)
    const job = await fake.job(run.run_id)
    job.items(['metadata', { run_id: run.run_id, attempt: 1 }], ['values', 1])
    await has(broken, 2)
    client.abort()
    await broken.ended
    const again = watch(await streams.joinRun(call, thread_id, run.run_id, NOW))
    job.items(['values', 3])
    job.end(doneWith({ n: 3 }))
    await again.ended
    expect(names(again)).toEqual(['values'])
  })

  it('opens at once for a run that waits for another, and shows only its own events', async () => {
    const { streams, runs, call, fake, thread } = await openRunWorld()
    const thread_id = await thread()
    const first = await runs.create(call, thread_id, REQUEST)
    const { run, stream } = await streams.create(call, thread_id, REQUEST, staying())
    const seen = watch(stream)
    playThree(await fake.job(first.run_id))
    playThree(await fake.job(run.run_id))
    await seen.ended
    expect(seen.events[0]).toEqual(['metadata', { run_id: run.run_id, attempt: 1 }])
    expect(names(seen)).toEqual(['metadata', 'values', 'updates', 'values'])
  })

  it('has an error as its last event, and no event for a cancel', async () => {
    const { streams, runs, call, fake, thread } = await openRunWorld()
    const thread_id = await thread()
    const failing = await streams.create(call, thread_id, REQUEST, staying())
    const failed = watch(failing.stream)
    const job = await fake.job(failing.run.run_id)
    job.items(['metadata', {}], ['error', { error: 'E', message: 'm' }])
    job.end({ kind: 'failed', error: 'E', message: 'm', retryable: false, state: undefined })
    await failed.ended
    expect(failed.events.at(-1)).toEqual(['error', { error: 'E', message: 'm' }])
    for (const action of ['interrupt', 'rollback'] as const) {
      const { run, stream } = await streams.create(call, thread_id, REQUEST, staying())
      const seen = watch(stream)
      ;(await fake.job(run.run_id)).items(['metadata', {}], ['values', 1])
      await has(seen, 2)
      await runs.cancel(call, thread_id, run.run_id, { action, wait: false, early: false })
      await seen.ended
      expect(names(seen)).toEqual(['metadata', 'values'])
    }
  })

  it('ends when the run is cancelled before it begins, or its thread deleted', async () => {
    const { streams, runs, threads, call, thread } = await openRunWorld()
    const thread_id = await thread()
    const request = { ...REQUEST, after_seconds: 3600 }
    for (const action of ['interrupt', 'rollback'] as const) {
      const { run, stream } = await streams.create(call, thread_id, request, staying())
      await runs.cancel(call, thread_id, run.run_id, { action, wait: false, early: false })
      await watch(stream).ended
    }
    const { stream } = await streams.create(call, thread_id, request, staying())
    await threads.remove(call, thread_id)
    await watch(stream).ended
  })

  it('with an existing run_id begins where that run began', async () => {
    const { streams, call, fake, thread } = await openRunWorld()
    fake.play(playThree)
    const thread_id = await thread()
    const request = { ...REQUEST, run_id: newUuid() }
    const first = watch((await streams.create(call, thread_id, request, staying())).stream)
    await first.ended
    const second = watch((await streams.create(call, thread_id, request, staying())).stream)
    await second.ended
    expect([second.events, second.ids]).toEqual([first.events, first.ids])
  })

  it('cancels its run when the client disconnects, if the request says so', async () => {
    const { streams, runs, call, fake, thread } = await openRunWorld()
    for (const on_disconnect of ['cancel', 'continue'] as const) {
      const gone = new AbortController()
      const thread_id = await thread()
      const { run, stream } = await streams.create(
        call,
        thread_id,
        { ...REQUEST, on_disconnect },
        gone.signal,
      )
      const seen = watch(stream)
      const job = await fake.job(run.run_id)
      gone.abort()
      await seen.ended
      if (on_disconnect === 'continue') job.end(doneWith({}))
      const status = on_disconnect === 'cancel' ? 'interrupted' : 'success'
      await eventually(async () => expect((await runs.get(call, thread_id, run.run_id)).status).toBe(status))
    }
  })

  it('is refused like an invalid run', async () => {
    const { streams, call } = await openRunWorld()
    await expect(streams.create(call, newUuid(), REQUEST, staying())).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})

describe('joining a run', () => {
  it('returns what follows to each client, and after a given event what the client has missed', async () => {
    const { streams, call, fake, thread } = await openRunWorld()
    const { run, stream } = await streams.create(call, await thread(), REQUEST, staying())
    const creator = watch(stream)
    const job = await fake.job(run.run_id)
    job.items(['metadata', {}], ['values', 1])
    await has(creator, 2)
    const join = (joining: Partial<Joining>) =>
      streams.joinRun(call, run.thread_id, run.run_id, { ...NOW, ...joining }).then(watch)
    const late = await Promise.all([1, 2, 3].map(() => join({})))
    const whole = await join({ from: 'start' })
    const resumed = await join({ from: { after: creator.ids[0] ?? '' } })
    const some = await join({ from: 'start', modes: ['updates'] })
    const future = await join({ from: { after: '999999999999999-0' } })
    playThree(job)
    await Promise.all([creator, whole, ...late].map(({ ended }) => ended))
    for (const one of [...late, future]) {
      await one.ended
      expect([one.events, one.ids]).toEqual([creator.events.slice(2), creator.ids.slice(2)])
    }
    expect(whole.events).toEqual(creator.events)
    await resumed.ended
    expect(resumed.events).toEqual(creator.events.slice(1))
    await some.ended
    expect(names(some)).toEqual(['metadata', 'metadata', 'updates'])
  })

  it('that has ended returns nothing, or the stored events after the given one', async () => {
    const world = await openRunWorld()
    const { streams, call, fake, thread } = world
    fake.play(playThree)
    const { run, stream } = await streams.create(call, await thread(), REQUEST, staying())
    const seen = watch(stream)
    await seen.ended
    const now = watch(await streams.joinRun(call, run.thread_id, run.run_id, NOW))
    await now.ended
    expect(now.events).toEqual([])
    for (const [from, count] of [
      ['start', 4],
      [{ after: seen.ids[1] ?? '' }, 2],
      [{ after: seen.ids[3] ?? '' }, 0],
      [{ after: '999999999999999-0' }, 0],
    ] as const) {
      const joined = watch(await joinAfter(world, run, from))
      await joined.ended
      expect([from, joined.events]).toEqual([from, seen.events.slice(4 - count)])
    }
  })

  it('that has ended ends, even when its end is no longer stored', async () => {
    const world = await openRunWorld()
    const { streams, call, fake, thread, events } = world
    fake.play(playThree)
    const thread_id = await thread()
    const { run, stream } = await streams.create(call, thread_id, REQUEST, staying())
    const seen = watch(stream)
    await seen.ended
    await events.drop({ ...call.tenant, thread_id })
    for (const from of ['start', { after: seen.ids[1] ?? '' }] as const) {
      const joined = watch(await joinAfter(world, run, from))
      await joined.ended
      expect(joined.events).toEqual([])
    }
    const mark = { event: 'values', data: '0', run_id: newUuid() }
    await events.append({ ...call.tenant, thread_id }, [mark], null)
    const joined = watch(await joinAfter(world, run, { after: seen.ids[1] ?? '' }))
    await joined.ended
    expect(names(joined)).not.toContain('values')
  })

  it('is refused for an unknown run', async () => {
    const { streams, call, thread } = await openRunWorld()
    const join = streams.joinRun(call, await thread(), newUuid(), { ...NOW, from: 'start' })
    await expect(join).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('the stream of a thread', () => {
  it('continues over runs, in three views, until the thread is deleted', async () => {
    const { streams, threads, call, fake, thread } = await openRunWorld()
    fake.play(playThree)
    const thread_id = await thread()
    const join = (modes: Parameters<typeof streams.joinThread>[2]['modes'], from: StreamStart = 'now') =>
      streams.joinThread(call, thread_id, { modes, from, gone: staying() }).then(watch)
    const all = await join(['run_modes'])
    const lifecycle = await join(['lifecycle'])
    const states = await join(['state_update'])
    const made: string[] = []
    for (let turn = 0; turn < 2; turn++) {
      const { run, stream } = await streams.create(call, thread_id, REQUEST, staying())
      made.push(run.run_id)
      await watch(stream).ended
    }
    const done = (run_id: string) => ({ status: 'run_done', run_id, run_status: 'success' })
    const begin = (run_id: string) => ({ run_id, attempt: 1 })
    await has(states, 2)
    await has(all, 10)
    await has(lifecycle, 4)
    expect(names(all)).toEqual([1, 2].flatMap(() => ['metadata', 'values', 'updates', 'values', 'run_done']))
    expect(lifecycle.events.map(([, data]) => data)).toEqual(
      made.flatMap((run_id) => [begin(run_id), done(run_id)]),
    )
    expect(states.events.map(([, data]) => data)).toEqual(
      made.map(() => ({ thread_id, state: { values: { n: 3 }, next: [] } })),
    )
    const replayed = await join(['run_modes', 'state_update'], 'start')
    await has(replayed, 12)
    expect(replayed.ids).toEqual([...all.ids, ...states.ids].sort((a, b) => (isAfter(a, b) ? 1 : -1)))
    const resumed = await join(['lifecycle'], { after: lifecycle.ids[1] ?? '' })
    await has(resumed, 2)
    expect(resumed.ids).toEqual(lifecycle.ids.slice(2))
    await threads.remove(call, thread_id)
    await Promise.all([all, lifecycle, states, replayed, resumed].map(({ ended }) => ended))
  })

  it('has the state that a run had reached when its host died', async () => {
    const { streams, runs, call, fake, thread } = await openRunWorld()
    const state = { values: { n: 7 }, next: ['a'], tasks: [], created_at: '2026-01-01T00:00:00Z' }
    fake.answers = () => ({ body: JSON.stringify(state) })
    const thread_id = await thread()
    const joining = { from: 'now', modes: ['state_update', 'lifecycle'], gone: staying() } as const
    const seen = watch(await streams.joinThread(call, thread_id, joining))
    const { run_id } = await runs.create(call, thread_id, REQUEST)
    ;(await fake.job(run_id)).end({
      kind: 'lost',
      culprit: true,
      error: 'HostLost',
      message: 'gone',
      state: undefined,
    })
    await has(seen, 3)
    expect(seen.events.slice(1)).toEqual([
      ['run_done', { status: 'run_done', run_id, run_status: 'error' }],
      ['state_update', { state, thread_id }],
    ])
  })

  it('is refused for an unknown thread', async () => {
    const { streams, call } = await openRunWorld()
    const join = streams.joinThread(call, newUuid(), { from: 'start', modes: ['run_modes'], gone: staying() })
    await expect(join).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('the end of the server', () => {
  it('closes streams without cancelling their runs, and opens no more', async () => {
    const { streams, runs, call, fake, thread } = await openRunWorld()
    const thread_id = await thread()
    const request = { ...REQUEST, on_disconnect: 'cancel' } as const
    const { run, stream } = await streams.create(call, thread_id, request, staying())
    const seen = watch(stream)
    await fake.job(run.run_id)
    streams.close()
    await expect(seen.ended).rejects.toMatchObject({ code: 'shutting_down' })
    expect((await runs.get(call, thread_id, run.run_id)).status).toBe('running')
    await expect(streams.create(call, thread_id, REQUEST, staying())).rejects.toMatchObject({
      code: 'shutting_down',
    })
    const joining = { from: 'now', modes: ['run_modes'], gone: staying() } as const
    await expect(streams.joinThread(call, thread_id, joining)).rejects.toMatchObject({
      code: 'shutting_down',
    })
  })
})
