import { describe, expect, it } from 'vitest'
import { inLong } from '../../../../support/length.ts'
import { sharedGraphs } from '../../../../support/servers/weir-pool.ts'
import { useDeployment } from '../../../deployments/use-deployment.ts'

const setup = useDeployment()
const client = () => setup().client
const human = (text: string) => ({ messages: [{ role: 'user', content: text }] })

/** Reads a stream of protocol v2 until `isLast` is true for an event; returns the events. */
async function eventsUntil(
  thread_id: string,
  body: object,
  isLast: (event: ProtocolEvent) => boolean,
): Promise<ProtocolEvent[]> {
  const end = new AbortController()
  const response = await fetch(`${setup().url}/threads/${thread_id}/stream/events`, {
    method: 'POST',
    headers: { 'x-api-key': setup().weir.key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: end.signal,
  })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  expect(response.headers.get('cache-control')).toContain('no-cache')
  const events: ProtocolEvent[] = []
  const text = response.body?.pipeThrough(new TextDecoderStream())
  let rest = ''
  for await (const piece of text ?? []) {
    const frames = (rest + piece).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const data = /^data: (.*)$/m.exec(frame)?.[1]
      if (data !== undefined) events.push(JSON.parse(data) as ProtocolEvent)
    }
    const last = events.findIndex(isLast)
    if (last >= 0) {
      end.abort()
      return events.slice(0, last + 1)
    }
  }
  return events
}

interface ProtocolEvent {
  event_id: string
  seq: number
  method: string
  params: { namespace: string[]; data: Record<string, unknown> }
}

function isTerminal({ method, params }: ProtocolEvent): boolean {
  return method === 'lifecycle' && params.namespace.length === 0 && params.data['event'] !== 'running'
}

async function command(thread_id: string, method: string, params: object, id: unknown = 1) {
  const response = await fetch(`${setup().url}/threads/${thread_id}/commands`, {
    method: 'POST',
    headers: { 'x-api-key': setup().weir.key, 'content-type': 'application/json' },
    body: JSON.stringify({ id, method, params }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const ALL = ['values', 'updates', 'messages', 'tools', 'lifecycle', 'input', 'checkpoints', 'tasks', 'custom']

describe('protocol v2', () => {
  it('client.threads.stream of the SDK starts runs and has the output of each (V-5, V-18, V-29)', async () => {
    const thread = client().threads.stream({ assistantId: 'tokens' })
    await thread.run.start({ input: human('hi') })
    const first = (await thread.output) as { messages: unknown[] }
    expect(first.messages.length).toBe(2)
    await thread.close()
    const again = client().threads.stream(thread.threadId, { assistantId: 'tokens' })
    await again.run.start({ input: human('again') })
    expect(((await again.output) as { messages: unknown[] }).messages.length).toBe(4)
    await again.close()
  })

  it('the events of a run have ids and rising numbers, the same on each connection; messages are blocks (V-4, V-14, V-15, V-20, V-30, V-45, V-46)', async () => {
    const thread_id = crypto.randomUUID()
    const started = await command(thread_id, 'run.start', { assistant_id: 'tokens', input: human('hi') })
    expect(started.body).toMatchObject({
      type: 'success',
      id: 1,
      meta: { thread_id, applied_through_seq: 0 },
    })
    const { run_id } = started.body['result'] as { run_id: string }
    const events = await eventsUntil(thread_id, { channels: ALL }, isTerminal)
    expect(events[0]).toMatchObject({ event_id: `synth:${run_id}:lc||running`, seq: 1024 + 1024 })
    expect(events.at(-1)?.event_id).toBe(`synth:${run_id}:lc||completed`)
    const seqs = events.map(({ seq }) => seq)
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b))
    expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(events.length)
    const kinds = events
      .filter(({ method }) => method === 'messages')
      .map(({ params }) => params.data['event'])
    expect(kinds[0]).toBe('message-start')
    expect(kinds.at(-1)).toBe('message-finish')
    expect(kinds.filter((kind) => kind === 'content-block-delta').length).toBeGreaterThan(0)
    const { values } = await client().threads.getState<{ messages: { content: unknown }[] }>(thread_id)
    // A Python graph is executed as for v1, which keeps the text of messages.
    const kept = sharedGraphs() === 'python-graphs' ? [expect.any(String)] : [[{ type: 'text' }]]
    expect([values.messages.at(-1)?.content]).toMatchObject(kept)
    expect(await eventsUntil(thread_id, { channels: ALL, since: 0 }, isTerminal)).toEqual(events)
    const half = seqs[Math.floor(seqs.length / 2)] ?? 0
    expect(await eventsUntil(thread_id, { channels: ALL, since: half }, isTerminal)).toEqual(
      events.filter(({ seq }) => seq > half),
    )
  })

  it('run.start resumes a thread that waits for an answer, with the input as the answer (V-6)', async () => {
    const thread_id = crypto.randomUUID()
    const start = (input: unknown) => command(thread_id, 'run.start', { assistant_id: 'kinds', input })
    await start({ kind: 'ask' })
    const asked = await eventsUntil(thread_id, { channels: ['lifecycle'] }, isTerminal)
    expect(asked.at(-1)?.params.data['event']).toBe('interrupted')
    await start('yes')
    const isDone = (event: ProtocolEvent) => isTerminal(event) && event.params.data['event'] === 'completed'
    await eventsUntil(thread_id, { channels: ['lifecycle'], since: asked.at(-1)?.seq }, isDone)
    expect((await client().threads.getState(thread_id)).values).toMatchObject({ answer: 'yes' })
  })

  inLong(() => {
    it('reject makes no run on a busy thread; a run that gives way has its end before the next one begins (V-7, V-18)', async () => {
      const thread_id = crypto.randomUUID()
      const start = async (params: object) => {
        const { body } = await command(thread_id, 'run.start', { assistant_id: 'tokens', ...params })
        return { ...body, ...(body['result'] as { run_id?: string } | undefined) }
      }
      const endless = { ...human('hi'), tokens: 100_000, tokenDelayMs: 20 }
      const short = { ...human('again'), tokens: 2, tokenDelayMs: 0 }
      const { run_id: first } = await start({ input: endless })
      const isBegin = ({ event_id }: ProtocolEvent) => event_id === `synth:${first}:lc||running`
      await eventsUntil(thread_id, { channels: ['lifecycle'] }, isBegin)
      expect(await start({ input: short, multitaskStrategy: 'reject' })).toMatchObject({
        type: 'error',
        error: 'invalid_argument',
        code: 'thread_busy',
      })
      const { run_id: second } = await start({ input: short, multitask_strategy: 'interrupt' })
      const isEnd = ({ event_id }: ProtocolEvent) => event_id === `synth:${second}:lc||completed`
      const events = await eventsUntil(thread_id, { channels: ['lifecycle'], since: 0 }, isEnd)
      expect(
        events.filter(({ params }) => params.namespace.length === 0).map(({ event_id }) => event_id),
      ).toEqual([
        ...[`synth:${first}:lc||running`, `synth:${first}:lc||interrupted`],
        ...[`synth:${second}:lc||running`, `synth:${second}:lc||completed`],
      ])
    })

    it('run.start continues from a checkpoint of the thread, and refuses any other (V-8)', async () => {
      const { thread_id } = await client().threads.create()
      await client().runs.wait(thread_id, 'tokens', { input: human('hi') })
      const { checkpoint } = await client().threads.getState(thread_id)
      const startAt = async (checkpoint_id: unknown) => {
        const params = {
          assistant_id: 'tokens',
          input: human('on'),
          config: { configurable: { checkpoint_id } },
        }
        return (await command(thread_id, 'run.start', params)).body
      }
      expect(await startAt('x')).toMatchObject({ type: 'error', error: 'invalid_argument' })
      expect(await startAt(crypto.randomUUID())).toMatchObject({ type: 'error', error: 'no_such_checkpoint' })
      expect(await startAt(checkpoint.checkpoint_id)).toMatchObject({ type: 'success' })
    })

    it('a run that is created over v1 is streamed too (V-42)', async () => {
      const { thread_id } = await client().threads.create()
      await client().runs.wait(thread_id, 'tokens', { input: human('hi') })
      const events = await eventsUntil(thread_id, { channels: ['lifecycle', 'values'] }, isTerminal)
      expect(events[0]?.params.data).toEqual({ event: 'running', graph_name: 'tokens' })
      expect(events.at(-1)?.params.data).toEqual({ event: 'completed', graph_name: 'tokens' })
    })
  })

  it('the stream of a stateless run’s thread has all events of the run, and ends with it (RUN-19)', async () => {
    const { thread_id } = await client().runs.create(null, 'tokens', { input: human('hi') })
    const events = await eventsUntil(thread_id, { channels: ALL, since: 0 }, () => false)
    expect(events[0]?.params.data).toMatchObject({ event: 'running' })
    expect(events.filter(isTerminal).map(({ params }) => params.data['event'])).toEqual(['completed'])
    expect(events.at(-1)?.method).toBe('lifecycle')
    await expect(client().threads.get(thread_id)).rejects.toThrow('404')
    // A client that opens its stream only now, ten minutes at the latest, gets the same (D-63).
    expect(await eventsUntil(thread_id, { channels: ALL, since: 0 }, () => false)).toEqual(events)
    expect(await eventsUntil(thread_id, { channels: ALL }, () => false)).toEqual(events)
  })

  inLong(() => {
    it('state.get and state.listCheckpoints read the thread, and refuse a namespace without a state (V-2, V-3)', async () => {
      const { thread_id } = await client().threads.create()
      await client().runs.wait(thread_id, 'tokens', { input: human('hi') })
      const { values, checkpoint } = await client().threads.getState(thread_id)
      const { body } = await command(thread_id, 'state.get', { namespace: [] })
      expect(body['result']).toEqual({ values, checkpoint: { id: checkpoint.checkpoint_id, ns: '' } })
      const listed = await command(thread_id, 'state.listCheckpoints', { limit: 1 })
      expect(listed.body['result']).toMatchObject({
        checkpoints: [{ id: checkpoint.checkpoint_id, step: expect.any(Number) as number }],
      })
      for (const method of ['state.get', 'state.listCheckpoints']) {
        const missing = await command(thread_id, method, { namespace: ['nobody:1'] })
        expect(missing).toMatchObject({ status: 200, body: { error: 'no_such_namespace' } })
      }
    })
  })

  it('commands that are refused answer with their reason (V-1, V-2, V-3, V-5, V-11)', async () => {
    const thread_id = crypto.randomUUID()
    expect((await command(thread_id, 'run.start', {}, 'x')).status).toBe(400)
    for (const body of ['no JSON', '[]', '"text"', '{"id":', '']) {
      const response = await fetch(`${setup().url}/threads/${thread_id}/commands`, {
        method: 'POST',
        headers: { 'x-api-key': setup().weir.key, 'content-type': 'application/json' },
        body,
      })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ type: 'error', id: null, error: 'invalid_argument' })
    }
    expect((await command('no-uuid', 'run.start', {})).status).toBe(422)
    const refusals = [
      ['run.start', { assistant_id: 'nobody', input: {} }, 'invalid_argument'],
      ['run.start', { input: {} }, 'invalid_argument'],
      ['no.such', {}, 'unknown_command'],
      ['input.inject', {}, 'not_supported'],
      ['input.respond', { interrupt_id: 'x', response: 1 }, 'no_such_interrupt'],
    ] as const
    for (const [method, params, error] of refusals) {
      const { status, body } = await command(thread_id, method, params)
      expect([method, status, body['type'], body['error']]).toEqual([method, 200, 'error', error])
    }
    await expect(client().threads.get(thread_id)).rejects.toThrow('404')
  })

  it('a stream opens at once; one without a known channel is refused, unknown ones beside it are ignored (V-24, V-26)', async () => {
    const thread_id = crypto.randomUUID()
    for (const channels of [[], ['bogus']]) {
      const response = await fetch(`${setup().url}/threads/${thread_id}/stream/events`, {
        method: 'POST',
        headers: { 'x-api-key': setup().weir.key, 'content-type': 'application/json' },
        body: JSON.stringify({ channels }),
      })
      expect(response.status).toBe(422)
    }
    // The thread does not exist yet, so it has no events.
    const end = new AbortController()
    const response = await fetch(`${setup().url}/threads/${thread_id}/stream/events`, {
      method: 'POST',
      headers: { 'x-api-key': setup().weir.key, 'content-type': 'application/json' },
      body: JSON.stringify({ channels: ['bogus', 'values'] }),
      signal: end.signal,
    })
    expect(response.status).toBe(200)
    end.abort()
  })

  it('interrupts are sent, also to a later stream, and answered once each (V-10 to V-13, V-23, V-32)', async () => {
    const thread_id = crypto.randomUUID()
    const asked = await command(thread_id, 'run.start', {
      assistant_id: 'kinds',
      input: { kind: 'ask_twice' },
    })
    expect(asked.body['type']).toBe('success')
    const channels = ['lifecycle', 'input']
    const isInput = ({ method }: ProtocolEvent) => method === 'input.requested'
    const first = await eventsUntil(thread_id, { channels: ['values', ...channels] }, isTerminal)
    const requests = first.filter(isInput).map(({ params }) => params.data)
    expect(new Set(requests.map(({ payload }) => payload))).toEqual(new Set(['one?', 'two?']))
    expect(requests.map(({ value }) => value)).toEqual(requests.map(({ payload }) => payload))
    expect(first.at(-1)?.params.data['event']).toBe('interrupted')
    const [later] = await eventsUntil(thread_id, { channels, namespaces: [[]] }, isInput)
    expect(later).toBeDefined()
    const responses = requests.map(({ interrupt_id }) => ({ interrupt_id, response: 'yes' }))
    const answers = await Promise.all([1, 2].map(() => command(thread_id, 'input.respond', { responses })))
    expect(answers.some(({ body }) => body['type'] === 'success')).toBe(true)
    const isDone = (event: ProtocolEvent) => event.params.data['event'] === 'completed'
    const second = await eventsUntil(thread_id, { channels, since: first.at(-1)?.seq }, isDone)
    expect(second.filter(({ method }) => method === 'input.answered')).toHaveLength(1)
    expect(await client().runs.list(thread_id)).toHaveLength(2)
    const again = await command(thread_id, 'input.respond', { responses })
    expect(again.body['error']).toBe('no_such_interrupt')
  })
})
