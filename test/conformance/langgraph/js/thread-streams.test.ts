import { describe, expect, it } from 'vitest'
import { eventually } from '../../../support/eventually.ts'
import { framesOf, readFrames, type SseFrame } from '../../../support/runs/streams/sse-frames.ts'
import { refusal, useDeployment } from '../../deployments/use-deployment.ts'
import { inLong } from '../../../support/length.ts'

const NOWHERE = 'a5a5a5a5-0000-4000-8000-000000000000'
const SLEEPING = { input: { sleep: 600_000 } }
const ALL_MODES = ['run_modes', 'lifecycle', 'state_update'] as const

const setup = useDeployment()
const client = () => setup().client

async function newThread(): Promise<string> {
  return (await client().threads.create()).thread_id
}

interface Item {
  id?: string | undefined
  event: string
  data: unknown
}

interface Watched {
  items: Item[]
  stop(): Promise<void>
  ended: Promise<void>
}

interface WatchOptions {
  streamMode?: (typeof ALL_MODES)[number][]
  lastEventId?: string
}

/** Reads a thread's stream until it is aborted. */
function watch(thread_id: string, options: WatchOptions = {}): Watched {
  const items: Item[] = []
  const end = new AbortController()
  const read = async (): Promise<void> => {
    for await (const item of client().threads.joinStream(thread_id, { ...options, signal: end.signal }))
      items.push(item)
  }
  const ended = read().catch((error: unknown) => {
    if (!end.signal.aborted) throw error
  })
  ended.catch(() => undefined)
  return {
    items,
    ended,
    async stop() {
      end.abort()
      await ended
    },
  }
}

/** Starts `watch`, and waits until the stream is open, so that it gets all later events. */
async function opened(thread_id: string, options?: WatchOptions): Promise<Watched> {
  const before = setup().streams()
  const watched = watch(thread_id, options)
  await eventually(async () => expect(setup().streams()).toBeGreaterThan(before))
  return watched
}

async function run(thread_id: string, assistant: string, input: object): Promise<void> {
  await client().runs.wait(thread_id, assistant, { input: { ...input }, raiseError: false })
}

const begun = { run_id: expect.any(String), attempt: 1 }
const done = (run_status: string) => ({ status: 'run_done', run_id: expect.any(String), run_status })

describe('threads.joinStream', () => {
  it('STREAM-14: shows all runs of a thread, however they end, and can be replayed', async () => {
    const thread_id = await newThread()
    const live = await opened(thread_id, { streamMode: [...ALL_MODES] })
    const lifecycle = await opened(thread_id, { streamMode: ['lifecycle'] })
    await run(thread_id, 'tokens', { tokens: 1 })
    await run(thread_id, 'kinds', { kind: 'ask' })
    await run(thread_id, 'kinds', { kind: 'fail' })
    const cancelled = await client().runs.create(thread_id, 'tokens', SLEEPING)
    await eventually(async () => expect(lifecycle.items).toHaveLength(7))
    const waiting = await client().runs.create(thread_id, 'tokens', { input: { tokens: 1, sleep: 0 } })
    await client().runs.cancel(thread_id, cancelled.run_id, true, 'rollback')
    await client().runs.join(thread_id, waiting.run_id)
    const statuses = ['success', 'success', 'error', 'deleted', 'success']
    await eventually(async () => expect(lifecycle.items).toHaveLength(2 * statuses.length))
    expect(lifecycle.items.map(({ event, data }) => [event, data])).toEqual(
      statuses.flatMap((status) => [
        ['metadata', begun],
        ['metadata', done(status)],
      ]),
    )
    const last = lifecycle.items.at(-1)?.id
    await eventually(async () => {
      expect(live.items.map(({ id }) => id)).toContain(last)
      expect(live.items.at(-1)?.event).toBe('state_update')
    })
    const replayed = watch(thread_id, { streamMode: [...ALL_MODES], lastEventId: '-' })
    await eventually(async () => expect(replayed.items).toHaveLength(live.items.length))
    expect(replayed.items).toEqual(live.items)
    expect(live.items.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['values', 'error', 'state_update']),
    )
    const middle = live.items[4]?.id ?? ''
    const resumed = watch(thread_id, { streamMode: [...ALL_MODES], lastEventId: middle })
    await eventually(async () => expect(resumed.items).toEqual(live.items.slice(5)))
    await Promise.all([live, lifecycle, replayed, resumed].map(({ stop }) => stop()))
  })

  it('STREAM-15: sends the state after each run and each change by a client', async () => {
    const thread_id = await newThread()
    const states = await opened(thread_id, { streamMode: ['state_update'] })
    await run(thread_id, 'kinds', { kind: 'plain' })
    await client().threads.updateState(thread_id, { values: { log: ['by hand'] } })
    await run(thread_id, 'kinds', { kind: 'ask' })
    await eventually(async () => expect(states.items).toHaveLength(3))
    expect(states.items).toMatchObject([
      { event: 'state_update', data: { thread_id, state: { values: { kind: 'plain' }, next: [] } } },
      { event: 'state_update', data: { state: { values: { log: expect.arrayContaining(['by hand']) } } } },
      { event: 'state_update', data: { state: { next: ['respond'] } } },
    ])
    const now = await client().threads.getState(thread_id)
    expect(states.items[2]?.data).toEqual({ state: now, thread_id })
    await states.stop()
    const made = await client().threads.create({
      graphId: 'kinds',
      supersteps: [{ updates: [{ values: { log: ['at first'] }, asNode: '__start__' }] }],
    })
    const bulk = watch(made.thread_id, { streamMode: ['state_update'], lastEventId: '-' })
    await eventually(async () =>
      expect(bulk.items).toMatchObject([{ data: { state: { values: { log: ['at first'] } } } }]),
    )
    await bulk.stop()
  })

  it('STREAM-13: stays open without runs, and ends when the thread is deleted', async () => {
    const thread_id = await newThread()
    const open = await opened(thread_id)
    await run(thread_id, 'tokens', { tokens: 1 })
    await eventually(async () => expect(open.items.at(-1)).toMatchObject({ data: done('success') }))
    await client().threads.delete(thread_id)
    await open.ended
    expect(await refusal(watch(thread_id).ended)).toMatchObject({ status: 404, code: 'not_found' })
  })
})

describe('streams on the wire', () => {
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    setup().request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })

  it('STREAM-1, STREAM-3: have headers that proxies let through, and a location', async () => {
    const thread_id = await newThread()
    const answer = await post(`/threads/${thread_id}/runs/stream`, {
      assistant_id: 'tokens',
      input: { tokens: 1 },
    })
    const place = answer.headers.get('content-location') ?? ''
    expect(place).toMatch(new RegExp(`^/threads/${thread_id}/runs/[0-9a-f-]{36}$`))
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      location: `${place}/stream`,
    })
    const frames = framesOf(await answer.text())
    expect(frames.map(({ event }) => event)).toEqual(['metadata', 'values', 'values', 'values', 'values'])
    expect(frames.filter(({ id }) => !/^\d+-\d+$/.test(id))).toEqual([])
    const again = await setup().request(answer.headers.get('location') ?? '', {
      headers: { 'last-event-id': '-' },
    })
    expect(framesOf(await again.text())).toEqual(frames)
    const stateless = await post('/runs/stream', { assistant_id: 'tokens', input: { tokens: 1 } })
    expect(stateless.headers.get('content-location')).toMatch(/^\/runs\/[0-9a-f-]{36}$/)
    await stateless.text()
  })

  it('STREAM-3: have a location with the requested modes', async () => {
    const thread_id = await newThread()
    const made = await post(`/threads/${thread_id}/runs/stream`, {
      assistant_id: 'tokens',
      input: { tokens: 1 },
      stream_mode: ['values', 'updates'],
    })
    await made.text()
    const fromStart = { headers: { 'last-event-id': '-' } }
    const join = await setup().request(`${made.headers.get('location')}?stream_mode=updates`, fromStart)
    const frames = framesOf(await join.text())
    expect(new Set(frames.map(({ event }) => event))).toEqual(new Set(['metadata', 'updates']))
    const again = await setup().request(join.headers.get('location') ?? '', fromStart)
    expect(framesOf(await again.text())).toEqual(frames)
    const modes = 'stream_modes=lifecycle&stream_mode=["state_update"]'
    const thread = await setup().request(`/threads/${thread_id}/stream?${modes}`)
    expect(thread.headers.get('location')).toBe(
      `/threads/${thread_id}/stream?stream_mode=lifecycle,state_update`,
    )
    await thread.body?.cancel()
  })

  it('STREAM-7: accept an id as header or query, and refuse an invalid one', async () => {
    const thread_id = await newThread()
    const made = await post(`/threads/${thread_id}/runs/stream`, {
      assistant_id: 'tokens',
      input: { tokens: 1 },
    })
    const place = made.headers.get('content-location') ?? ''
    const frames = framesOf(await made.text())
    const id = frames[1]?.id ?? ''
    const join = async (query: string, headers: Record<string, string> = {}) =>
      framesOf(await (await setup().request(`${place}/stream${query}`, { headers })).text())
    expect(await join('', { 'last-event-id': id })).toEqual(frames.slice(2))
    expect(await join(`?last_event_id=${id}`)).toEqual(frames.slice(2))
    expect(await join('?last_event_id=-', { 'last-event-id': id })).toEqual(frames.slice(2))
    for (const all of ['-', '-1']) expect(await join('', { 'last-event-id': all })).toEqual(frames)
    for (const other of ['updates', 'tools'])
      expect(await join(`?last_event_id=-&stream_mode=${other}`)).toEqual(frames.slice(0, 1))
    expect(await join('')).toEqual([])
    for (const wrong of ['x', '1', '1-', '1-1-1', '0x1-0'])
      for (const path of [`${place}/stream`, `/threads/${thread_id}/stream`]) {
        const answer = await setup().request(path, { headers: { 'last-event-id': wrong } })
        expect([wrong, answer.status, await answer.json()]).toMatchObject([
          wrong,
          422,
          { code: 'invalid_request' },
        ])
      }
    expect((await setup().request(`${place}/stream?stream_mode=nope`)).status).toBe(422)
  })

  it('STREAM-13: accept modes of threads in every spelling', async () => {
    const thread_id = await newThread()
    await run(thread_id, 'tokens', { tokens: 1 })
    const first = async (query: string, count: number): Promise<SseFrame[]> => {
      const answer = await setup().request(`/threads/${thread_id}/stream?last_event_id=-${query}`)
      expect([query, answer.status]).toEqual([query, 200])
      const frames: SseFrame[] = []
      for await (const frame of readFrames(answer)) if (frames.push(frame) === count) break
      return frames
    }
    const all = await first('&stream_modes=run_modes&stream_modes=state_update', 7)
    expect(all.map(({ event }) => event)).toEqual([
      ...['metadata', 'values', 'values', 'values', 'values', 'metadata', 'state_update'],
    ])
    expect(await first('', 6)).toEqual(all.slice(0, 6))
    const both = [all[0], all[5], all[6]]
    for (const query of [
      '&stream_modes=lifecycle,state_update',
      '&stream_mode=lifecycle&stream_mode=state_update',
      '&stream_mode=%5B%22lifecycle%22%2C%22state_update%22%5D',
      '&stream_modes=lifecycle&stream_mode=state_update',
    ])
      expect([query, await first(query, 3)]).toEqual([query, both])
    for (const [path, status] of [
      [`/threads/${thread_id}/stream?stream_modes=lifecycle,nope`, 422],
      [`/threads/${thread_id}/stream?stream_mode=values`, 422],
      [`/threads/${NOWHERE}/stream`, 404],
    ] as const)
      expect([path, (await setup().request(path)).status]).toEqual([path, status])
  })

  it('STREAM-16: send the metadata of a message once, if preferred', async () => {
    const body = { assistant_id: 'tokens', input: { tokens: 20 }, stream_mode: 'messages-tuple' }
    const answer = await post('/runs/stream', body, { prefer: 'messages=compact' })
    expect(answer.headers.get('preference-applied')).toBe('messages=compact')
    const frames = framesOf(await answer.text()).slice(1)
    const tuples = frames.map(({ data }) => data as [{ content: string }, unknown])
    expect(tuples.map(([{ content }]) => content)).toEqual(Array.from({ length: 20 }, (_, n) => `tok${n} `))
    expect(tuples.map(([, metadata]) => metadata)).toEqual([
      expect.objectContaining({ graph_node: 'model' }),
      ...Array.from({ length: 19 }, () => 0),
    ])
    const join = await setup().request(answer.headers.get('content-location') + '/stream', {
      headers: { 'last-event-id': frames[10]?.id ?? '', prefer: 'messages=compact' },
    })
    const rest = framesOf(await join.text()).map(({ data }) => data as [{ content: string }, unknown])
    expect(rest.map(([{ content }]) => content)).toEqual(tuples.slice(11).map(([{ content }]) => content))
    expect(rest[0]?.[1]).toEqual(tuples[0]?.[1])
  })

  inLong(() => {
    it('STREAM-17: keep idle connections alive, and cancel when the client disconnects, if requested', async () => {
      const { url } = setup()
      const headers = { 'x-api-key': setup().weir.key, 'content-type': 'application/json' }
      const body = JSON.stringify({ assistant_id: 'tokens', ...SLEEPING })
      const open = async (path: string, method: 'GET' | 'POST') => {
        const left = new AbortController()
        const init = { method, headers, signal: left.signal, ...(method === 'POST' && { body }) }
        const answer = await fetch(`${url}${path}`, init)
        const place = answer.headers.get('content-location') ?? ''
        return { answer, left, place }
      }
      const paths: [path: string, status: string][] = []
      for (const [query, status] of [
        ['?on_disconnect=cancel', 'interrupted'],
        ['?on_disconnect=continue', 'running'],
        ['', 'running'],
      ] as const) {
        const { left, place } = await open(`/threads/${await newThread()}/runs/stream${query}`, 'POST')
        left.abort()
        paths.push([place, status])
      }
      for (const [spelling, status] of [
        ['cancel', 'interrupted'],
        ['TRUE', 'interrupted'],
        ['1', 'interrupted'],
        ['0', 'running'],
      ] as const) {
        const thread_id = await newThread()
        const { run_id } = await client().runs.create(thread_id, 'tokens', SLEEPING)
        const path = `/threads/${thread_id}/runs/${run_id}`
        const { left } = await open(`${path}/stream?cancel_on_disconnect=${spelling}`, 'GET')
        left.abort()
        paths.push([path, status])
      }
      const silent = await open(`/threads/${await newThread()}/stream`, 'GET')
      const decoder = new TextDecoder()
      let text = ''
      for await (const chunk of silent.answer.body ?? []) {
        text += decoder.decode(chunk as Uint8Array)
        if (text.includes('\n')) break
      }
      expect(text).toMatch(/^(: heartbeat\n)+$/)
      for (const [path, status] of paths) {
        await eventually(async () => {
          const read = (await (await setup().request(path)).json()) as { status: string }
          expect([path, read.status]).toEqual([path, status])
        })
      }
      await client().runs.cancelMany({ status: 'all' })
    })
  })
})
