import { describe, expect, it } from 'vitest'
import { refusal, useDeployment } from '../../deployments/use-deployment.ts'

const NOWHERE = 'a5a5a5a5-0000-4000-8000-000000000000'
const setup = useDeployment()
const threads = () => setup().client.threads

/** A thread with one finished run. */
async function used(metadata: Record<string, string> = {}) {
  const { thread_id } = await threads().create({ metadata })
  const values = await setup().client.runs.wait(thread_id, 'tokens', { input: { tokens: 2 } })
  return { thread_id, values: values as Record<string, unknown> }
}

describe('threads of the SDK', () => {
  it('are created with defaults, or with the given fields', async () => {
    const plain = await threads().create()
    expect(plain).toEqual({
      thread_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      created_at: expect.stringMatching(/Z$/),
      updated_at: plain.created_at,
      state_updated_at: plain.created_at,
      metadata: {},
      status: 'idle',
      config: {},
      values: null,
      interrupts: {},
      error: null,
    })
    const threadId = crypto.randomUUID()
    const given = await threads().create({ threadId, metadata: { a: 1 }, graphId: 'tokens', ttl: 60 })
    expect(given).toMatchObject({ thread_id: threadId, metadata: { a: 1, graph_id: 'tokens' } })
    expect(given).not.toHaveProperty('ttl')
    expect(await threads().get(threadId, { include: ['ttl'] })).toMatchObject({
      ttl: { strategy: 'delete', ttl_minutes: 60, expires_at: expect.stringMatching(/Z$/) },
    })
    expect(await threads().get(plain.thread_id, { include: ['ttl'] })).toMatchObject({ ttl: null })
  })

  it('are refused a second time, unless the request allows it', async () => {
    const { thread_id: threadId } = await threads().create({ metadata: { first: true } })
    expect(await refusal(threads().create({ threadId }))).toEqual({
      status: 409,
      detail: 'Thread already exists',
      code: 'conflict',
    })
    const same = await threads().create({ threadId, ifExists: 'do_nothing', metadata: { second: true } })
    expect(same.metadata).toEqual({ first: true })
  })

  it('that do not exist are 404, and invalid ids 422', async () => {
    const missing = { status: 404, detail: `Thread with ID ${NOWHERE} not found`, code: 'not_found' }
    const calls = [
      () => threads().get(NOWHERE),
      () => threads().update(NOWHERE, { metadata: {} }),
      () => threads().delete(NOWHERE),
      () => threads().copy(NOWHERE),
      () => threads().getState(NOWHERE),
      () => threads().getHistory(NOWHERE),
      () => threads().updateState(NOWHERE, { values: {} }),
      () => threads().patchState(NOWHERE, {}),
      () => setup().client.runs.create(NOWHERE, 'tokens'),
      () => setup().client.runs.list(NOWHERE),
    ]
    for (const call of calls) expect(await refusal(call())).toEqual(missing)
    expect(await refusal(threads().get('mine'))).toMatchObject({ status: 422, code: 'invalid_request' })
    expect(await refusal(threads().create({ threadId: 'mine' }))).toMatchObject({ status: 422 })
  })

  it('change metadata and ttl, key by key', async () => {
    const { thread_id } = await threads().create({ metadata: { a: 1, b: 1 } })
    const changed = await threads().update(thread_id, {
      metadata: { b: 2 },
      ttl: { ttl: 5, strategy: 'delete' },
    })
    expect(changed.metadata).toEqual({ a: 1, b: 2 })
    expect(await threads().update(thread_id, { metadata: { c: 3 }, returnMinimal: true })).toBeUndefined()
    expect(await threads().patchState(thread_id, { d: 4 })).toEqual({})
    expect(await threads().get(thread_id, { include: ['ttl'] })).toMatchObject({
      metadata: { a: 1, b: 2, c: 3, d: 4 },
      ttl: { ttl_minutes: 5 },
    })
    await setup().request(`/threads/${thread_id}`, {
      method: 'PATCH',
      body: '{"ttl":null}',
      headers: { 'content-type': 'application/json' },
    })
    expect(await threads().get(thread_id, { include: ['ttl'] })).toMatchObject({ ttl: null })
  })

  it('are found by ids, metadata, values and status, in pages', async () => {
    const { thread_id } = await used({ mark: 'search' })
    const others = [await threads().create({ metadata: { mark: 'search' } }), await threads().create()]
    const metadata = { mark: 'search' }
    expect(await threads().count({ metadata })).toBe(2)
    expect(await threads().count({ metadata, values: { tokens: 2 } })).toBe(1)
    expect(await threads().count({ metadata, status: 'busy' })).toBe(0)
    expect(await threads().search({ ids: [thread_id, NOWHERE] })).toMatchObject([
      { thread_id, status: 'idle' },
    ])
    const sorted = await threads().search({ metadata, sortBy: 'created_at', sortOrder: 'asc' })
    expect(sorted.map((thread) => thread.thread_id)).toEqual([thread_id, others[0]?.thread_id])
    expect(await threads().search({ metadata, limit: 1, offset: 1 })).toHaveLength(1)
    const selected = await threads().search({
      ids: [thread_id],
      select: ['thread_id', 'values'],
      extract: { text: 'values.messages[-1].content', none: 'values.nothing[0]', mark: 'metadata.mark' },
    })
    expect(selected).toEqual([
      {
        thread_id,
        values: expect.objectContaining({ tokens: 2, done: true }),
        extracted: { text: expect.any(String), none: null, mark: 'search' },
      },
    ])
    const page = await setup().request('/threads/search', {
      method: 'POST',
      body: JSON.stringify({ metadata, limit: 1 }),
      headers: { 'content-type': 'application/json' },
    })
    expect([page.headers.get('x-pagination-total'), page.headers.get('x-pagination-next')]).toEqual([
      '2',
      '1',
    ])
    const wrong = [
      { limit: 0 },
      { limit: 1001 },
      { sort_by: 'name' },
      { extract: { a: '..' } },
      { ids: ['x'] },
    ]
    for (const body of wrong) {
      const answer = await setup().request('/threads/search', {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      })
      expect([body, answer.status]).toEqual([body, 422])
    }
  })

  it('are copied with their checkpoints', async () => {
    const { thread_id, values } = await used({ mark: 'copy' })
    const copy = await threads().copy(thread_id)
    expect(copy).toMatchObject({ metadata: { mark: 'copy', thread_id: copy.thread_id }, status: 'idle' })
    expect((await threads().getState(copy.thread_id)).values).toEqual(values)
    const [original, copied] = await Promise.all(
      [thread_id, copy.thread_id].map((id) => threads().getHistory(id)),
    )
    expect(copied).toHaveLength(original?.length ?? 0)
    const owners = copied?.map(({ metadata }) => (metadata as { thread_id?: string }).thread_id)
    expect(new Set(owners)).toEqual(new Set([copy.thread_id]))
  })

  it('RUN-22: are deleted with an active run, which is rolled back', async () => {
    const { client } = setup()
    const { thread_id } = await threads().create()
    const run = await client.runs.create(thread_id, 'tokens', { input: { sleep: 600_000 } })
    await threads().delete(thread_id)
    expect(await refusal(threads().get(thread_id))).toMatchObject({ status: 404 })
    expect(await refusal(client.runs.get(thread_id, run.run_id))).toMatchObject({ status: 404 })
  })

  it('are pruned', async () => {
    const kept = await used()
    const { thread_id: gone } = await threads().create()
    expect(await threads().prune([kept.thread_id, NOWHERE], { strategy: 'keep_latest' })).toEqual({
      pruned_count: 1,
    })
    expect(await threads().getHistory(kept.thread_id)).toHaveLength(1)
    expect((await threads().getState(kept.thread_id)).values).toEqual(kept.values)
    expect(await threads().prune([gone])).toEqual({ pruned_count: 1 })
    expect(await refusal(threads().get(gone))).toMatchObject({ status: 404 })
  })
})

describe('states of threads', () => {
  it('are empty before a graph has run', async () => {
    const { thread_id } = await threads().create()
    expect(await threads().getState(thread_id)).toMatchObject({
      values: {},
      next: [],
      tasks: [],
      checkpoint: null,
      created_at: null,
    })
    expect(await threads().getHistory(thread_id)).toEqual([])
    expect(await refusal(threads().updateState(thread_id, { values: {} }))).toEqual({
      status: 422,
      detail: `Thread ${thread_id} has no graph ID`,
      code: 'invalid_request',
    })
  })

  it('are read at the latest and at each checkpoint, newest first', async () => {
    const { thread_id, values } = await used()
    const now = await threads().getState(thread_id)
    expect(now).toMatchObject({ values, next: [], checkpoint: { thread_id, checkpoint_ns: '' } })
    const history = await threads().getHistory(thread_id)
    expect(history[0]).toEqual(now)
    const [, before] = history
    const checkpoint_id = before?.checkpoint.checkpoint_id ?? ''
    expect(await threads().getState(thread_id, checkpoint_id)).toMatchObject({ next: ['finish'] })
    expect(await threads().getState(thread_id, { ...before!.checkpoint })).toEqual(before)
    expect(await threads().getHistory(thread_id, { limit: 1 })).toEqual([now])
    const older = await threads().getHistory(thread_id, { before: { configurable: { checkpoint_id } } })
    expect(older).toEqual(history.slice(2))
    const answer = await setup().request(`/threads/${thread_id}/history?limit=2&before=${checkpoint_id}`)
    expect(await answer.json()).toEqual(history.slice(2, 4))
    expect(await threads().getHistory(thread_id, { metadata: { source: 'input' } })).toHaveLength(1)
    for (const id of [thread_id, (await threads().create()).thread_id]) {
      const none = { status: 404, detail: `No checkpoint "${NOWHERE}" on this thread.`, code: 'not_found' }
      expect(await refusal(threads().getState(id, NOWHERE))).toEqual(none)
    }
  })

  it('can be changed by a client, also into a fork', async () => {
    const { thread_id } = await used()
    const made = await threads().updateState(thread_id, { values: { steps: 7 }, asNode: 'finish' })
    expect(made).toMatchObject({ checkpoint: { thread_id, checkpoint_id: expect.any(String) } })
    expect((await threads().getState(thread_id)).values).toMatchObject({ steps: 7 })
    expect((await threads().get(thread_id)).values).toMatchObject({ steps: 7 })
    const first = (await threads().getHistory(thread_id)).at(-1)
    const forked = await threads().updateState(thread_id, {
      values: { tokens: 9 },
      checkpointId: first?.checkpoint.checkpoint_id ?? '',
      asNode: 'plan',
    })
    expect(forked).toEqual(
      expect.objectContaining({ checkpoint: (await threads().getState(thread_id)).checkpoint }),
    )
  })

  it('are those of the graph that a factory makes for the config of assistant and thread', async () => {
    const { client } = setup()
    const sweet = { configurable: { flavour: 'sweet' } }
    const { assistant_id } = await client.assistants.create({ graphId: 'factory', config: sweet })
    for (const [assistant, config] of [
      [assistant_id, {}],
      ['factory', sweet],
    ] as const) {
      const { thread_id } = await threads().create()
      await client.runs.wait(thread_id, assistant, { input: {}, config, interruptBefore: ['sweet'] })
      const state = await threads().getState(thread_id)
      expect([assistant, state.next]).toEqual([assistant, ['sweet']])
      expect((await threads().getHistory(thread_id))[0]).toEqual(state)
      await threads().updateState(thread_id, { values: { log: ['by hand'] }, asNode: 'sweet' })
      expect(await threads().getState(thread_id)).toMatchObject({ next: [], values: { log: ['by hand'] } })
    }
  })

  it('are set on a new thread by super-steps', async () => {
    const { thread_id } = await threads().create({
      graphId: 'tokens',
      supersteps: [
        { updates: [{ values: { tokens: 3 }, asNode: '__start__' }] },
        { updates: [{ values: { steps: 1 }, asNode: 'finish' }] },
      ],
    })
    expect((await threads().getState(thread_id)).values).toMatchObject({ tokens: 3, steps: 1 })
    expect(await threads().getHistory(thread_id)).toHaveLength(2)
  })

  it('RUN-21: cannot be changed while a run is active', async () => {
    const { client } = setup()
    const { thread_id } = await threads().create()
    const { run_id } = await client.runs.create(thread_id, 'tokens', { input: { sleep: 600_000 } })
    expect(await refusal(threads().updateState(thread_id, { values: {} }))).toEqual({
      status: 409,
      detail: 'Thread is busy',
      code: 'thread_busy',
    })
    expect(await threads().get(thread_id)).toMatchObject({ status: 'busy' })
    await client.runs.cancel(thread_id, run_id, true)
  })

  it('show subgraphs that wait', async () => {
    const { thread_id } = await threads().create()
    await setup().client.runs.wait(thread_id, 'kinds', { input: { kind: 'ask' } })
    const state = await threads().getState(thread_id, undefined, { subgraphs: true })
    expect(state).toMatchObject({ next: ['respond'], tasks: [{ name: 'respond', interrupts: [{}] }] })
    expect(await threads().get(thread_id)).toMatchObject({ status: 'interrupted' })
  })
})
