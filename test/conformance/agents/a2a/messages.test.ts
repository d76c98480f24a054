import { Role, TaskState } from '@a2a-js/sdk'
import { describe, expect, it } from 'vitest'
import { message, send, textsOf, useAgents } from './agents.ts'

const { setup, clientOf, rpc, codeOf } = useAgents()

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
})
