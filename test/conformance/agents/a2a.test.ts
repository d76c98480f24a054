import { Role, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk'
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client'
import type { Part as Part03, Task as Task03 } from 'a2a-sdk-0.3'
import {
  ClientFactory as LegacyClientFactory,
  DefaultAgentCardResolver as LegacyCardResolver,
  JsonRpcTransportFactory as LegacyTransportFactory,
} from 'a2a-sdk-0.3/client'
import { beforeAll, describe, expect, it } from 'vitest'
import { useDeployment } from '../deployments/use-deployment.ts'

const setup = useDeployment()
const ids = new Map<string, string>()

const withKey: typeof fetch = async (input, init) => {
  const headers = new Headers(init?.headers)
  headers.set('x-api-key', setup().weir.key)
  return await fetch(input, { ...init, headers })
}

beforeAll(async () => {
  const { client, request } = setup()
  // The setup checks that some response fits the document.
  expect((await request('/info')).status).toBe(200)
  for (const { assistant_id, graph_id } of await client.assistants.search({}))
    if (!ids.has(graph_id)) ids.set(graph_id, assistant_id)
})

async function clientOf(graph: string): Promise<Client> {
  const fetchImpl = withKey
  const transports = [new JsonRpcTransportFactory({ fetchImpl })]
  const cardResolver = new DefaultAgentCardResolver({ fetchImpl })
  const factory = new ClientFactory({ transports, cardResolver })
  return await factory.createFromUrl(`${setup().url}/a2a/${ids.get(graph)}`, '')
}

type Content = { text: string } | { data: unknown } | { raw: string; mediaType: string; filename: string }

function message(contents: Content[], place: { contextId?: string; taskId?: string } = {}) {
  const parts = contents.map((content) => {
    const blank = { metadata: undefined, filename: '', mediaType: '' }
    if ('text' in content) return { ...blank, content: { $case: 'text', value: content.text } as const }
    if ('data' in content) return { ...blank, content: { $case: 'data', value: content.data } as const }
    const { raw, mediaType, filename } = content
    return { ...blank, mediaType, filename, content: { $case: 'raw', value: Buffer.from(raw) } as const }
  })
  return {
    messageId: crypto.randomUUID(),
    contextId: '',
    taskId: '',
    ...place,
    role: Role.ROLE_USER,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  }
}

interface Options {
  returnImmediately?: boolean
  historyLength?: number
}

function asked(sent: ReturnType<typeof message>, options: Options = {}) {
  const configuration = {
    acceptedOutputModes: [],
    taskPushNotificationConfig: undefined,
    returnImmediately: false,
    ...options,
  }
  return { tenant: '', message: sent, configuration, metadata: undefined }
}

async function send(client: Client, sent: ReturnType<typeof message>, options?: Options): Promise<Task> {
  return (await client.sendMessage(asked(sent, options))) as Task
}

function textsOf({ artifacts }: Task): unknown[] {
  return artifacts.flatMap(({ parts }) => parts.map(({ content }) => content?.value as unknown))
}

async function rpc(method: string, params: unknown, graph = 'talking', headers: Record<string, string> = {}) {
  const response = await withKey(`${setup().url}/a2a/${ids.get(graph)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method, params }),
  })
  return (await response.json()) as {
    id: number
    result?: { history: { taskId: string }[] }
    error?: { code: number; data?: unknown }
  }
}

async function codeOf(method: string, params: unknown, graph?: string, headers?: Record<string, string>) {
  return (await rpc(method, params, graph, headers)).error?.code
}

describe('the card', () => {
  it('A2A-1: is the same at its four addresses, by id or name of the graph, with an ETag', async () => {
    const { request, url } = setup()
    const id = ids.get('talking')
    const paths = [
      `/.well-known/agent-card.json?assistant_id=${id}`,
      `/a2a/${id}`,
      `/a2a/${id}/.well-known/agent-card.json`,
      `/a2a/${id}/.well-known/agent.json`,
      '/a2a/talking',
    ]
    const cards = await Promise.all(paths.map(async (path) => await (await request(path)).json()))
    for (const card of cards) expect(card).toEqual(cards[0])
    expect(cards[0]).toMatchObject({
      name: 'talking',
      url: `${url}/a2a/${id}`,
      protocolVersion: '0.3.0',
      supportedInterfaces: [
        { url: `${url}/a2a/${id}`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { protocolVersion: '0.3' },
      ],
      capabilities: { streaming: true, pushNotifications: false },
      defaultInputModes: ['application/json', 'text/plain'],
      security: [{ key: [] }],
      skills: [{ id: `${id}-main` }],
    })
    const first = await request(`/a2a/${id}`)
    const etag = first.headers.get('etag') ?? ''
    expect(first.headers.get('cache-control')).toContain('max-age')
    expect((await request(`/a2a/${id}`, { headers: { 'if-none-match': etag } })).status).toBe(304)
  })

  it('A2A-1: names modes of the metadata; a missing or unknown assistant is an error', async () => {
    const { client, request } = setup()
    const metadata = { a2a: { input_modes: ['text/plain'], output_modes: ['image/png'] } }
    const { assistant_id } = await client.assistants.create({ graphId: 'echo', metadata })
    expect(await (await request(`/a2a/${assistant_id}`)).json()).toMatchObject({
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['image/png'],
    })
    const missing = await request('/.well-known/agent-card.json')
    expect([missing.status, await missing.json()]).toMatchObject([400, { error: { code: -32602 } }])
    expect((await request(`/a2a/${crypto.randomUUID()}`)).status).toBe(404)
  })

  it('A2A-1: needs a key', async () => {
    expect((await fetch(`${setup().url}/a2a/talking`)).status).toBe(401)
  })
})

describe('messages of the newest client', () => {
  it('A2A-3, A2A-7: text is answered by a completed task, with an artifact and the history', async () => {
    const task = await send(await clientOf('talking'), message([{ text: 'Hello there' }]))
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
    expect(task.artifacts).toMatchObject([{ name: 'Assistant Response' }])
    expect(String(textsOf(task)[0])).not.toBe('')
    expect(task.history[0]).toMatchObject({ role: Role.ROLE_USER, taskId: task.id })
    expect(task.id).toMatch(new RegExp(`^${task.contextId}:`))
  }, 60_000)

  it('A2A-5, A2A-7: data is the input of a graph without messages, and its output is data', async () => {
    const task = await send(await clientOf('echo'), message([{ data: { text: 'hi' } }]))
    expect(textsOf(task)).toMatchObject([{ text: 'hi' }])
  })

  it('A2A-5: a file is a block of the message of the user', async () => {
    const client = await clientOf('talking')
    const file = { raw: 'pixels', mediaType: 'image/png', filename: 'a.png' }
    const task = await send(client, message([{ text: 'What is this?' }, file]))
    const state = await setup().client.threads.getState(task.contextId)
    const [first] = (state.values as unknown as { messages: { content: unknown }[] }).messages
    expect(first?.content).toEqual([
      { type: 'text', text: 'What is this?' },
      {
        type: 'image',
        base64: Buffer.from('pixels').toString('base64'),
        mime_type: 'image/png',
        extras: { filename: 'a.png' },
      },
    ])
    expect(task.history[0]?.parts[1]).toMatchObject({ mediaType: 'image/png', filename: 'a.png' })
  })

  it('A2A-4: a context goes on; an earlier task keeps its own artifact and history', async () => {
    const client = await clientOf('tokens')
    const contextId = crypto.randomUUID()
    const first = await send(client, message([{ text: 'one' }, { data: { tokens: 2 } }], { contextId }))
    const second = await send(client, message([{ text: 'two' }, { data: { tokens: 6 } }], { contextId }))
    expect([first.contextId, second.contextId]).toEqual([contextId, contextId])
    expect(second.history).toHaveLength(4)
    expect(textsOf(second)).not.toEqual(textsOf(first))
    const again = await client.getTask({ tenant: '', id: first.id })
    expect(textsOf(again)).toEqual(textsOf(first))
    const own = await rpc('GetTask', { id: second.id, historyScope: 'task' }, 'tokens')
    expect(own.result?.history.map(({ taskId }) => taskId)).toEqual([second.id, second.id])
    const short = await rpc('GetTask', { id: second.id, historyLength: 1 }, 'tokens')
    expect(short.result?.history).toMatchObject([{ role: 'ROLE_AGENT' }])
    expect(await codeOf('GetTask', { id: second.id, historyLength: 11 }, 'tokens')).toBe(-32602)
  })

  it('A2A-6: a failed run is a failed task, with name and message', async () => {
    const task = await send(await clientOf('kinds'), message([{ data: { kind: 'fail' } }]))
    expect(task.status?.state).toBe(TaskState.TASK_STATE_FAILED)
    expect(task.status?.message?.parts[0]?.content?.value).toBe('QuotaError: no more quota')
  })

  it('A2A-8: a question requires input; a message with the task answers it, once', async () => {
    const client = await clientOf('kinds')
    const task = await send(client, message([{ data: { kind: 'ask' } }]))
    expect(task.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED)
    expect(task.artifacts).toMatchObject([{ name: 'Interrupt' }])
    expect(textsOf(task)).toMatchObject([{ value: { question: 'go on?' } }])
    const done = await send(client, message([{ text: 'yes' }], { taskId: task.id }))
    expect([done.id, done.status?.state]).toEqual([task.id, TaskState.TASK_STATE_COMPLETED])
    expect(textsOf(done)).toMatchObject([{ answer: 'yes' }])
    await expect(send(client, message([{ text: 'yes' }], { taskId: task.id }))).rejects.toThrow()
    const late = message([{ data: { resume: 1 } }])
    const parts = [{ data: { resume: 1 } }]
    const params = { message: { messageId: late.messageId, role: 'ROLE_USER', parts, taskId: task.id } }
    expect(await codeOf('SendMessage', params, 'kinds')).toBe(-32004)
  })

  it('A2A-8: an answer over the run API goes on with the task', async () => {
    const client = await clientOf('kinds')
    const task = await send(client, message([{ data: { kind: 'ask' } }]))
    await setup().client.runs.wait(task.contextId, 'kinds', { command: { resume: { ok: 1 } } })
    const done = await client.getTask({ tenant: '', id: task.id })
    expect(textsOf(done)).toMatchObject([{ answer: { ok: 1 } }])
  })

  it('A2A-9, A2A-6: a client that does not wait gets the task at once, and can cancel it', async () => {
    const client = await clientOf('kinds')
    const task = await send(client, message([{ data: { kind: 'slow' } }]), { returnImmediately: true })
    expect([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]).toContain(task.status?.state)
    const ended = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined })
    expect(ended.status?.state).toBe(TaskState.TASK_STATE_CANCELED)
    await expect(client.cancelTask({ tenant: '', id: task.id, metadata: undefined })).rejects.toThrow()
  })

  it('A2A-6: cancel ends all runs of a task, also one that works when a later message waits', async () => {
    const client = await clientOf('kinds')
    const task = await send(client, message([{ data: { kind: 'slow' } }]), { returnImmediately: true })
    const more = message([{ data: { kind: 'slow' } }], { taskId: task.id })
    await send(client, more, { returnImmediately: true })
    const ended = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined })
    expect(ended.status?.state).toBe(TaskState.TASK_STATE_CANCELED)
    const runs = await setup().client.runs.list(task.contextId)
    expect(runs.map(({ status }) => status)).toEqual(['interrupted', 'interrupted'])
  })

  it('A2A-6: cancel ends a task that waits', async () => {
    const client = await clientOf('kinds')
    const task = await send(client, message([{ data: { kind: 'ask' } }]))
    const ended = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined })
    expect(ended.status?.state).toBe(TaskState.TASK_STATE_CANCELED)
    const params = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }], taskId: task.id } }
    expect(await codeOf('SendMessage', params, 'kinds')).toBe(-32004)
    expect(await codeOf('CancelTask', { id: task.id }, 'kinds')).toBe(-32002)
  })

  it('A2A-10: a stream has the task, the answer so far, the artifact and the end', async () => {
    const client = await clientOf('tokens')
    const events: StreamResponse[] = []
    const sent = message([{ text: 'count' }, { data: { tokens: 5, tokenDelayMs: 20 } }])
    for await (const event of client.sendMessageStream(asked(sent))) events.push(event)
    const kinds = events.map(({ payload }) => payload?.$case)
    expect(kinds[0]).toBe('task')
    expect(kinds.slice(-2)).toEqual(['artifactUpdate', 'statusUpdate'])
    const texts = events.flatMap(({ payload }) =>
      payload?.$case === 'statusUpdate'
        ? [String(payload.value.status?.message?.parts[0]?.content?.value ?? '')]
        : [],
    )
    const working = texts.slice(0, -1)
    expect(working.length).toBeGreaterThan(1)
    for (const [place, text] of working.entries())
      expect(text.startsWith(working[place - 1] ?? '')).toBe(true)
    const artifact = events.at(-2)?.payload
    const answer =
      artifact?.$case === 'artifactUpdate' ? artifact.value.artifact?.parts[0]?.content?.value : ''
    expect(answer).toBe(working.at(-1))
  })

  it('A2A-10: leaving a stream does not cancel; another subscribes, first to the task', async () => {
    const client = await clientOf('tokens')
    const sent = message([{ text: 'count' }, { data: { tokens: 40, tokenDelayMs: 20 } }])
    let id = ''
    for await (const { payload } of client.sendMessageStream(asked(sent))) {
      if (payload?.$case === 'task') id = payload.value.id
      if (payload?.$case === 'statusUpdate') break
    }
    const events: StreamResponse[] = []
    for await (const event of client.resubscribeTask({ tenant: '', id })) events.push(event)
    expect(events[0]?.payload?.$case).toBe('task')
    expect(events.length).toBeGreaterThan(2)
    const last = events.at(-1)?.payload
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
    expect(await codeOf('SubscribeToTask', { id }, 'tokens')).toBe(-32004)
  })

  it('A2A-12: tasks are listed by context and state, newest first, in pages', async () => {
    const client = await clientOf('echo')
    const contextId = crypto.randomUUID()
    const made: string[] = []
    for (const text of ['a', 'b', 'c'])
      made.unshift((await send(client, message([{ data: { text } }], { contextId }))).id)
    const list = {
      tenant: '',
      contextId,
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: '',
      statusTimestampAfter: undefined,
    }
    const page = await client.listTasks({ ...list, pageSize: 2 })
    expect(page.tasks.map(({ id }) => id)).toEqual(made.slice(0, 2))
    expect([page.totalSize, page.pageSize]).toEqual([3, 2])
    expect(page.tasks[0]?.artifacts).toEqual([])
    const rest = await client.listTasks({ ...list, pageToken: page.nextPageToken, includeArtifacts: true })
    expect([rest.tasks.map(({ id }) => id), rest.nextPageToken]).toEqual([made.slice(2), ''])
    expect(textsOf(rest.tasks[0] as Task)).toMatchObject([{ text: 'a' }])
    const failed = await client.listTasks({ ...list, status: TaskState.TASK_STATE_FAILED })
    expect(failed.totalSize).toBe(0)
    expect(await codeOf('ListTasks', { pageSize: 101 }, 'echo')).toBe(-32602)
  })
})

describe('messages of the 0.3 client', () => {
  const legacyClient = async (graph: string) => {
    const fetchImpl = withKey
    const transports = [new LegacyTransportFactory({ fetchImpl })]
    const cardResolver = new LegacyCardResolver({ fetchImpl })
    const factory = new LegacyClientFactory({ transports, cardResolver })
    return await factory.createFromUrl(`${setup().url}/a2a/${ids.get(graph)}`, '')
  }
  const sentMessage = (parts: Part03[], taskId?: string) => ({
    message: {
      kind: 'message' as const,
      messageId: crypto.randomUUID(),
      role: 'user' as const,
      parts,
      ...(taskId !== undefined && { taskId }),
    },
  })

  it('A2A-2, A2A-3: sends, answers a question, cancels; every object has its kind', async () => {
    const client = await legacyClient('kinds')
    const task = (await client.sendMessage(sentMessage([{ kind: 'data', data: { kind: 'ask' } }]))) as Task03
    expect(task).toMatchObject({
      kind: 'task',
      status: { state: 'input-required' },
      artifacts: [{ parts: [{ kind: 'data', data: { value: { question: 'go on?' } } }] }],
    })
    const resume = sentMessage([{ kind: 'data', data: { resume: 'yes' } }], task.id)
    expect(await client.sendMessage(resume)).toMatchObject({
      id: task.id,
      status: { state: 'completed' },
      artifacts: [{ name: 'Assistant Response' }],
    })
    const slow = {
      ...sentMessage([{ kind: 'data', data: { kind: 'slow' } }]),
      configuration: { blocking: false },
    }
    const running = (await client.sendMessage(slow)) as Task03
    expect(await client.cancelTask({ id: running.id })).toMatchObject({ status: { state: 'canceled' } })
    expect(await client.getTask({ id: running.id })).toMatchObject({
      kind: 'task',
      status: { state: 'canceled' },
    })
  })

  it('A2A-3, A2A-10: streams events with their kind, the last one final', async () => {
    const client = await legacyClient('tokens')
    const sent = sentMessage([
      { kind: 'text', text: 'count' },
      { kind: 'data', data: { tokens: 3, tokenDelayMs: 10 } },
    ])
    const events: object[] = []
    for await (const event of client.sendMessageStream(sent)) events.push(event)
    expect(events[0]).toMatchObject({ kind: 'task', status: { state: 'submitted' } })
    expect(events.at(-2)).toMatchObject({ kind: 'artifact-update', append: false, lastChunk: true })
    expect(events.at(-1)).toMatchObject({
      kind: 'status-update',
      final: true,
      status: { state: 'completed' },
    })
    const working = {
      kind: 'status-update',
      final: false,
      status: { state: 'working', message: { role: 'agent' } },
    }
    expect(events[1]).toMatchObject(working)
  })

  it('A2A-3, A2A-5: a file of 0.3 comes back as a file of 0.3', async () => {
    const client = await legacyClient('talking')
    const file = { uri: 'https://files.example/a.wav', mimeType: 'audio/wav', name: 'a.wav' }
    const task = (await client.sendMessage(sentMessage([{ kind: 'file', file }]))) as Task03
    expect(task.history?.[0]).toMatchObject({
      kind: 'message',
      role: 'user',
      parts: [{ kind: 'file', file }],
    })
  })
})

describe('refusals', () => {
  const text = [{ text: 'hi' }]
  const of = <M extends object>(message: M) => ({
    message: { messageId: 'm', role: 'ROLE_USER', parts: text, ...message },
  })

  it.each([
    ['no messageId', of({ messageId: '' }), 'talking', -32602],
    ['no role', of({ role: undefined }), 'talking', -32602],
    ['no parts', of({ parts: [] }), 'talking', -32602],
    ['two contents in a part', of({ parts: [{ text: 'a', data: {} }] }), 'talking', -32602],
    ['a context that is no uuid', of({ contextId: 'mine' }), 'talking', -32602],
    ['text for a graph without messages', of({}), 'echo', -32602],
    ['a file without content', of({ parts: [{ file: {} }] }), 'talking', -32602],
    ['data.resume without a task', of({ parts: [{ data: { resume: 1 } }] }), 'kinds', -32602],
    ['an unknown kind of part', of({ parts: [{ kind: 'dance' }] }), 'talking', -32005],
    ['an unknown task', of({ taskId: `${crypto.randomUUID()}:${crypto.randomUUID()}` }), 'talking', -32001],
    [
      'push notifications',
      { ...of({}), configuration: { taskPushNotificationConfig: { url: 'x' } } },
      'talking',
      -32003,
    ],
  ])(
    'A2A-5: %s',
    async (_title, params, graph, code) => {
      expect(await codeOf('SendMessage', params, graph)).toBe(code)
    },
    60_000,
  )

  it('A2A-2, A2A-11, A2A-13: versions, methods and bodies, with the reasons of 1.0', async () => {
    const get = { id: 'nothing' }
    expect(await rpc('GetTask', get)).toMatchObject({
      id: 0,
      error: {
        code: -32001,
        data: [{ reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' }],
      },
    })
    expect((await rpc('tasks/get', get)).error).not.toHaveProperty('data')
    expect(await codeOf('GetTask', get, 'talking', { 'a2a-version': '2.0' })).toBe(-32009)
    expect(await codeOf('tasks/get', get, 'talking', { 'a2a-version': '1.0' })).toBe(-32001)
    expect(await codeOf('tasks/dance', {})).toBe(-32601)
    expect(await codeOf('tasks/pushNotificationConfig/set', {})).toBe(-32003)
    const url = `${setup().url}/a2a/talking`
    const ask = async (body: string) =>
      (await (await withKey(url, { method: 'POST', body })).json()) as { error: { code: number } }
    expect((await ask('{')).error.code).toBe(-32700)
    expect((await ask('[]')).error.code).toBe(-32600)
    expect((await ask('{"method":"GetTask"}')).error.code).toBe(-32600)
  })

  it('A2A-5, A2A-7: every text of a message is in the history; fields that are null are not set', async () => {
    const parts = [{ text: 'first' }, { text: 'second' }]
    const configuration = { historyLength: null, returnImmediately: null }
    const sent = { ...of({ messageId: crypto.randomUUID(), parts, contextId: null }), configuration }
    const { result, error } = await rpc('SendMessage', sent)
    expect(error).toBeUndefined()
    const { task } = result as unknown as { task: { history: { role: string; parts: object[] }[] } }
    const said = task.history.filter(({ role }) => role === 'ROLE_USER').flatMap((one) => one.parts)
    expect(said).toEqual(parts)
    expect(await codeOf('ListTasks', { status: null, historyLength: null })).toBeUndefined()
  })

  it('A2A-11: a stream whose task is deleted ends with an error', async () => {
    const parts = [{ data: { kind: 'slow' } }]
    const sent = of({ messageId: crypto.randomUUID(), parts, contextId: crypto.randomUUID() })
    const response = await withKey(`${setup().url}/a2a/${ids.get('kinds')}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 4, method: 'SendStreamingMessage', params: sent }),
    })
    await setup().client.threads.delete(sent.message.contextId)
    const events = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data)
    expect(JSON.parse(events.at(-1) ?? '{}')).toMatchObject({ id: 4, error: { code: -32001 } })
  })

  it('A2A-4: a task of another assistant or another context is unknown', async () => {
    const task = await send(await clientOf('echo'), message([{ data: { text: 'mine' } }]))
    expect(await codeOf('GetTask', { id: task.id }, 'kinds')).toBe(-32001)
    const place = { taskId: task.id, contextId: crypto.randomUUID() }
    expect(await codeOf('SendMessage', of(place), 'echo')).toBe(-32001)
  })

  it('A2A-11: a key that only reads gets tasks, and sends and cancels none', async () => {
    const { weir, url } = setup()
    const task = await send(await clientOf('echo'), message([{ data: { text: 'hi' } }]))
    const made = { description: 'reads', read_only: true }
    const { key } = await weir.json<{ key: string }>('/orgs/current/personal-access-tokens', made)
    const ask = async (method: string, params: object) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      return (await fetch(`${url}/a2a/echo`, { method: 'POST', headers, body })).status
    }
    expect(await ask('GetTask', { id: task.id })).toBe(200)
    expect(await ask('SendMessage', of({ parts: [{ data: { text: 'x' } }] }))).toBe(403)
    expect(await ask('CancelTask', { id: task.id })).toBe(403)
  })
})
