import type { Part as Part03, Task as Task03 } from 'a2a-sdk-0.3'
import {
  ClientFactory as LegacyClientFactory,
  DefaultAgentCardResolver as LegacyCardResolver,
  JsonRpcTransportFactory as LegacyTransportFactory,
} from 'a2a-sdk-0.3/client'
import { describe, expect, it } from 'vitest'
import { useAgents } from './agents.ts'

const { setup, ids, withKey } = useAgents()

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
