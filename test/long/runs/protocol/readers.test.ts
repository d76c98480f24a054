import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Client } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { readFrames } from '../../../support/runs/streams/sse-frames.ts'
import { KEY, startWeir, type WeirProcess } from '../../../support/servers/weir-process.ts'
import { temporaryDir } from '../../../support/stores/clickhouse/embedded-clickhouse.ts'
import { LONG_MS } from '../../../support/campaign.ts'

// Many runs, and values of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const GRAPHS = fileURLToPath(new URL('../../../fixtures/protocol-v2/langgraph.json', import.meta.url))
const CHANNELS = ['values', 'updates', 'messages', 'tools', 'lifecycle', 'input', 'checkpoints', 'tasks']
const HEADERS = { 'x-api-key': KEY, 'content-type': 'application/json' }
const READERS = 200
const MIB = 1 << 20

let folder: Awaited<ReturnType<typeof temporaryDir>>
let weir: WeirProcess
beforeAll(async () => {
  folder = await temporaryDir()
  weir = await startWeir(folder.dir, { GRAPHS, DEPLOYMENT_NAME: 'readers' })
})
afterAll(async () => {
  await weir.stop()
  await folder.remove()
})

const url = (): string => `${weir.url}/deployments/readers`
const human = (content: string) => ({ messages: [{ role: 'user', content }] })

interface ProtocolEvent {
  type: string
  event_id: string
  method: string
  params: { namespace: string[]; data: { event?: string } }
}

function isEnd({ method, params }: ProtocolEvent): boolean {
  return method === 'lifecycle' && params.namespace.length === 0 && params.data.event !== 'running'
}

async function start(thread_id: string, params: object): Promise<void> {
  const body = JSON.stringify({ id: 1, method: 'run.start', params })
  const answer = await fetch(`${url()}/threads/${thread_id}/commands`, {
    method: 'POST',
    headers: HEADERS,
    body,
  })
  expect(await answer.json()).toMatchObject({ type: 'success' })
}

async function openStream(thread_id: string): Promise<Response> {
  const body = JSON.stringify({ channels: CHANNELS })
  const response = await fetch(`${url()}/threads/${thread_id}/stream/events`, {
    method: 'POST',
    headers: HEADERS,
    body,
  })
  expect(response.status).toBe(200)
  return response
}

async function openSocket(thread_id: string): Promise<WebSocket> {
  const address = `${url().replace('http', 'ws')}/threads/${thread_id}/stream/events`
  const socket = new WebSocket(address, { headers: { 'x-api-key': KEY } })
  await once(socket, 'open')
  socket.send(JSON.stringify({ id: 1, method: 'subscription.subscribe', params: { channels: CHANNELS } }))
  await once(socket, 'message')
  return socket
}

/** Ids of the events of a stream, until `runs` runs have ended. */
async function idsOf(response: Response, runs = 1): Promise<string[]> {
  const ids: string[] = []
  let left = runs
  for await (const { data } of readFrames(response)) {
    ids.push((data as ProtocolEvent).event_id)
    if (isEnd(data as ProtocolEvent) && --left === 0) return ids
  }
  throw new Error('the stream ended')
}

function idsOfSocket(socket: WebSocket, runs = 1): Promise<string[]> {
  const ids: string[] = []
  let left = runs
  return new Promise((resolve, reject) => {
    socket.on('close', () => reject(new Error('the socket closed')))
    socket.on('message', (data: Buffer) => {
      const event = JSON.parse(String(data)) as ProtocolEvent
      ids.push(event.event_id)
      if (!isEnd(event) || --left > 0) return
      socket.terminate()
      resolve(ids)
    })
  })
}

describe('readers of a thread over protocol v2', () => {
  it(`${READERS} readers of a run of 1,000 tokens have every event once, beside two that never read (V-33)`, async () => {
    const thread_id = crypto.randomUUID()
    const deafStream = await openStream(thread_id)
    const deafSocket = await openSocket(thread_id)
    deafSocket.pause()
    const streams = await Promise.all(Array.from({ length: READERS / 2 }, () => openStream(thread_id)))
    const sockets = await Promise.all(Array.from({ length: READERS / 2 }, () => openSocket(thread_id)))
    const reading = [...streams.map((one) => idsOf(one)), ...sockets.map((one) => idsOfSocket(one))]
    await start(thread_id, {
      assistant_id: 'chat',
      input: human('hi'),
      config: { configurable: { tokens: 1000 } },
    })
    const [first = [], ...others] = await Promise.all(reading)
    expect(first.length).toBeGreaterThan(1000)
    expect(new Set(first).size).toBe(first.length)
    for (const ids of others) expect(ids).toEqual(first)
    deafSocket.terminate()
    await deafStream.body?.cancel()
  })

  it('of readers that never read little more than the buffers of their connections waits in the server (V-33)', async () => {
    const thread_id = crypto.randomUUID()
    const [deafStream, deafSocket] = [await openStream(thread_id), await openSocket(thread_id)]
    deafSocket.pause()
    const run = async (): Promise<void> => {
      const reading = openStream(thread_id).then((response) => idsOf(response))
      const config = { configurable: { tokens: 10_000 } }
      await start(thread_id, { assistant_id: 'chat', input: human('hi'), config })
      await reading
    }
    for (let n = 0; n < 12; n++) await run()
    const metrics = await (await weir.fetch('/metrics')).text()
    const unsent = Number(/^weir_unsent_bytes (\d+)/m.exec(metrics)?.[1])
    expect(unsent).toBeGreaterThan(0)
    expect(unsent).toBeLessThan(2 * MIB)
    deafSocket.terminate()
    await deafStream.body?.cancel()
  })

  it('of 100 fast runs no projection is empty (V-31)', async () => {
    const client = new Client({ apiUrl: url(), apiKey: KEY })
    const one = async (): Promise<void> => {
      const thread = client.threads.stream({ assistantId: 'agent' })
      await thread.run.start({ input: human('weather?') })
      const texts = async (): Promise<string[]> => {
        const found: string[] = []
        for await (const message of thread.messages) found.push(await message.text)
        return found
      }
      const calls = async (): Promise<string[]> => {
        const found: string[] = []
        for await (const call of thread.toolCalls) found.push(call.name)
        return found
      }
      const [messages, tools, output] = await Promise.all([texts(), calls(), thread.output])
      await thread.close()
      expect(messages).toEqual(['Let me look.', 'It says: Sunny in Rome'])
      expect(new Set(tools)).toEqual(new Set(['weather']))
      expect((output as { messages: unknown[] }).messages).toHaveLength(4)
    }
    for (let n = 0; n < 25; n++) await Promise.all([one(), one(), one(), one()])
  })
})
