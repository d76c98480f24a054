import { describe, expect, it } from 'vitest'
import { doneWith, stateOf } from '../../../test/support/runs/hosts/fake-graph-host.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { openRunWorld, staying } from '../../../test/support/runs/world.ts'
import { AppError } from '../../base/errors.ts'
import { newUuid } from '../../base/ids.ts'

const REQUEST = { assistant_id: 'agent', input: null }
const EVERYTHING = { limit: 10, before: null, metadata: null, checkpoint: null, select: null }

describe('a thread', () => {
  it('is created once: the second request is refused, or returns the existing thread', async () => {
    const { threads, call } = await openRunWorld()
    const thread_id = newUuid()
    await threads.create(call, { thread_id, metadata: { a: 1 } })
    await expect(threads.create(call, { thread_id })).rejects.toMatchObject({
      code: 'conflict',
      message: 'Thread already exists',
    })
    expect(await threads.create(call, { thread_id, if_exists: 'do_nothing' })).toMatchObject({
      metadata: { a: 1 },
    })
    await expect(threads.create(call, { thread_id: 'x' })).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('that does not exist is 404 for every request', async () => {
    const { threads, runs, call } = await openRunWorld()
    const id = newUuid()
    const missing = { code: 'not_found', message: `Thread with ID ${id} not found` }
    await expect(threads.get(call, id)).rejects.toMatchObject(missing)
    await expect(threads.update(call, id, { metadata: {} })).rejects.toMatchObject(missing)
    await expect(threads.remove(call, id)).rejects.toMatchObject(missing)
    await expect(threads.copy(call, id)).rejects.toMatchObject(missing)
    await expect(threads.state(call, id, { subgraphs: false })).rejects.toMatchObject(missing)
    await expect(threads.history(call, id, EVERYTHING)).rejects.toMatchObject(missing)
    await expect(runs.create(call, id, REQUEST)).rejects.toMatchObject(missing)
  })

  it('has the default time to live, whichever request creates it', async () => {
    const defaultTtl = { strategy: 'keep_latest', ttl_minutes: 90 } as const
    const { threads, runs, call } = await openRunWorld({ defaultTtl })
    const later = { ...REQUEST, after_seconds: 60 }
    const made = await threads.create(call, {})
    const named = await runs.create(call, newUuid(), { ...later, if_not_exists: 'create' })
    const stateless = await runs.create(call, null, { ...later, on_completion: 'keep' })
    for (const { thread_id } of [made, named, stateless]) {
      expect((await threads.get(call, thread_id)).ttl).toMatchObject(defaultTtl)
    }
    const own = { strategy: 'delete', ttl_minutes: 1 } as const
    expect((await threads.create(call, { ttl: own })).ttl).toMatchObject(own)
    expect((await threads.create(call, { ttl: null })).ttl).toBeNull()
  })

  it('of another tenant is treated as unknown', async () => {
    const { threads, runs, call, thread } = await openRunWorld()
    const id = await thread()
    const stranger = { ...call, tenant: { workspace_id: newUuid(), deployment_id: newUuid() } }
    await expect(threads.get(stranger, id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(runs.create(stranger, id, REQUEST)).rejects.toMatchObject({ code: 'not_found' })
    expect((await threads.search(stranger, SEARCH)).total).toBe(0)
  })

  it('is deleted with its runs, which are rolled back first', async () => {
    const { threads, runs, call, fake, thread } = await openRunWorld()
    const thread_id = await thread()
    const { run, result } = await runs.wait(call, thread_id, REQUEST, staying())
    const pending = await runs.create(call, thread_id, REQUEST)
    const job = await fake.job(run.run_id)
    await threads.remove(call, thread_id)
    expect(job.signal.aborted).toBe(true)
    expect(JSON.parse(await result)).toMatchObject({ __error__: { error: 'UserRollback' } })
    for (const { run_id } of [run, pending]) {
      await expect(runs.get(call, null, run_id)).rejects.toMatchObject({ code: 'not_found' })
    }
    expect(fake.jobs.length).toBe(1)
  })

  it('gets graph and assistant of its runs', async () => {
    const { threads, runs, call, fake, thread } = await openRunWorld()
    fake.play((job) => job.end(doneWith({})))
    const { run, result } = await runs.wait(call, await thread(), REQUEST, staying())
    await result
    expect((await threads.get(call, run.thread_id)).metadata).toMatchObject({
      graph_id: 'agent',
      assistant_id: run.assistant_id,
    })
  })
})

describe('the state of a thread', () => {
  it('is empty, and cannot be changed, before a graph has run on the thread', async () => {
    const { threads, call, thread } = await openRunWorld()
    const thread_id = await thread()
    expect(JSON.parse(await threads.state(call, thread_id, { subgraphs: false }))).toMatchObject({
      values: {},
      next: [],
      checkpoint: null,
    })
    expect(await threads.history(call, thread_id, EVERYTHING)).toEqual({ body: '[]' })
    await expect(threads.updateState(call, thread_id, { values: {}, as_node: null })).rejects.toMatchObject({
      code: 'invalid_request',
      message: `Thread ${thread_id} has no graph ID`,
    })
  })

  it('can be changed by a client: the change is stored, and sent to streams', async () => {
    const { threads, call, fake, eventsOf } = await openRunWorld()
    const { thread_id } = await threads.create(call, { metadata: { graph_id: 'agent' } })
    fake.answers = () => ({ body: '{"checkpoint":{}}', state: stateOf({ n: 1 }, ['next']) })
    expect(await threads.updateState(call, thread_id, { values: { n: 1 }, as_node: null })).toBe(
      '{"checkpoint":{}}',
    )
    expect(await threads.get(call, thread_id)).toMatchObject({
      values_json: '{"n":1}',
      status: 'interrupted',
    })
    expect((await eventsOf(thread_id)).map(({ event, data }) => [event, JSON.parse(data)])).toEqual([
      ['state_update', { state: { values: { n: 1 }, next: ['next'] }, thread_id }],
    ])
  })

  it('is read from the graph that a factory makes for a run', async () => {
    const { threads, runs, call, fake, thread } = await openRunWorld()
    const thread_id = await thread()
    fake.play((job) => job.end(doneWith({})))
    const config = { tags: ['t'], configurable: { model: 'm', checkpoint_id: 'c' } }
    const { run, result } = await runs.wait(call, thread_id, { ...REQUEST, config }, staying())
    await result
    const asked: unknown[] = []
    fake.answers = (_name, { config, ...rest }) => {
      asked.push({ config, made_with: 'made_with' in rest && rest.made_with })
      return { body: '{}' }
    }
    const reader = { ...call, headers: { 'x-mine': '1' } }
    await threads.state(reader, thread_id, { subgraphs: false })
    await threads.history(reader, thread_id, EVERYTHING)
    await threads.updateState(reader, thread_id, { values: {}, as_node: null })
    const { graph_id, assistant_id } = run
    const configurable = { model: 'm', 'x-mine': '1', thread_id, graph_id, assistant_id }
    const each = {
      config: { configurable: { checkpoint_ns: '', thread_id } },
      made_with: { tags: ['t'], configurable, metadata: {} },
    }
    expect(asked).toEqual([each, each, each])
  })

  it('cannot be changed while a run is active', async () => {
    const { threads, runs, call, fake, thread } = await openRunWorld()
    const run = await runs.create(call, await thread(), REQUEST)
    await fake.job(run.run_id)
    const update = threads.updateState(call, run.thread_id, { values: {}, as_node: null })
    await expect(update).rejects.toMatchObject({ code: 'thread_busy' })
  })

  it('may be given with the thread, which is not created when the state cannot be set', async () => {
    const { threads, call, fake } = await openRunWorld()
    const request = { metadata: { graph_id: 'agent' }, supersteps: [{ updates: [] }] }
    fake.answers = () => {
      throw new AppError('invalid_request')
    }
    await expect(threads.create(call, request)).rejects.toMatchObject({ code: 'invalid_request' })
    expect((await threads.search(call, SEARCH)).total).toBe(0)
    fake.answers = () => ({ body: '{}', state: stateOf({ n: 2 }) })
    expect(await threads.create(call, request)).toMatchObject({ values_json: '{"n":2}' })
    await expect(threads.create(call, { supersteps: [{}] })).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })

  it('is read again when a run ended its host', async () => {
    const { threads, runs, call, fake, thread } = await openRunWorld()
    fake.answers = () => ({
      body: JSON.stringify({
        values: { n: 3 },
        next: ['ask'],
        tasks: [{ id: 'task', interrupts: [{ id: 'i', value: '?' }] }],
        created_at: '2026-01-01T00:00:00Z',
      }),
    })
    const { run, result } = await runs.wait(call, await thread(), REQUEST, staying())
    const end = {
      kind: 'lost',
      culprit: true,
      error: 'HostLost',
      message: 'The node called process.exit.',
      state: undefined,
    } as const
    ;(await fake.job(run.run_id)).end(end)
    await result
    await eventually(async () =>
      expect(await threads.get(call, run.thread_id)).toMatchObject({
        status: 'error',
        values_json: '{"n":3}',
        interrupts: { task: [{ id: 'i', value: '?' }] },
      }),
    )
  })
})

describe('many threads', () => {
  it('are counted, copied and pruned', async () => {
    const { threads, runs, call, fake } = await openRunWorld()
    fake.play((job) => job.end(doneWith({ n: 1 })))
    const made = await Promise.all([1, 2, 3].map((n) => threads.create(call, { metadata: { n } })))
    const first = made[0]?.thread_id ?? ''
    await (await runs.wait(call, first, REQUEST, staying())).result
    expect((await threads.search(call, { ...SEARCH, metadata: { n: 2 } })).total).toBe(1)
    const copy = await threads.copy(call, first)
    expect(copy).toMatchObject({ values_json: '{"n":1}', status: 'idle' })
    const ids = made.map(({ thread_id }) => thread_id)
    expect(await threads.prune(call, [...ids, newUuid()], 'keep_latest')).toBe(3)
    expect(await threads.prune(call, [...ids, newUuid()], 'delete')).toBe(3)
    expect((await threads.search(call, SEARCH)).threads.map(({ thread_id }) => thread_id)).toEqual([
      copy.thread_id,
    ])
  })
})

const SEARCH = { sort_by: 'created_at', sort_order: 'desc', limit: 10, offset: 0 } as const
