import { describe, expect, it } from 'vitest'
import { message, send, useAgents } from './agents.ts'
import { jsonBody } from '../../../support/servers/weir-process.ts'

const { setup, ids, withKey, clientOf, rpc, codeOf } = useAgents()

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
    const params = of({ messageId: crypto.randomUUID() })
    const notification = JSON.stringify({ jsonrpc: '2.0', method: 'SendMessage', params })
    expect(await ask(notification)).toMatchObject({ id: null, error: { code: -32600 } })
    for (const method of ['tasks/get', 'CancelTask']) expect(await codeOf(method, {})).toBe(-32602)
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
    const response = await withKey(
      `${setup().url}/a2a/${ids.get('kinds')}`,
      jsonBody('POST', { jsonrpc: '2.0', id: 4, method: 'SendStreamingMessage', params: sent }),
    )
    await setup().client.threads.delete(sent.message.contextId)
    const events = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data)
    expect(JSON.parse(events.at(-1) ?? '{}')).toMatchObject({ id: 4, error: { code: -32001 } })
  })

  it('A2A-11: a client that reads a stream gets a refusal as its event', async () => {
    const ask = async (method: string, accept: string): Promise<Response> =>
      await withKey(`${setup().url}/a2a/talking`, {
        method: 'POST',
        headers: { accept },
        body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { id: 'nothing' } }),
      })
    const refused = { id: 7, error: { code: -32001 } }
    for (const accept of ['text/event-stream', '*/*, text/event-stream']) {
      const streamed = await ask('tasks/resubscribe', accept)
      expect(streamed.headers.get('content-type')).toBe('text/event-stream')
      const [, data = ''] = /^data: (.*)\n\n$/.exec(await streamed.text()) ?? []
      expect(JSON.parse(data)).toMatchObject(refused)
    }
    expect(await (await ask('tasks/resubscribe', '*/*')).json()).toMatchObject(refused)
    expect(await (await ask('tasks/get', 'text/event-stream')).json()).toMatchObject(refused)
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
