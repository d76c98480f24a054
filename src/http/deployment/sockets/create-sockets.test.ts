import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { eventually } from '../../../../test/support/eventually.ts'
import { AppError } from '../../../base/errors.ts'
import type { DeploymentContext } from '../route.ts'
import { createSockets } from './create-sockets.ts'

const THREAD = '0197a3c2-9d4f-7c65-8d0a-5b8f3e6f2a11'
const PATH = `/threads/${THREAD}/stream/events`
const KIB = 1 << 10
/** Bytes that the kernel buffers at both ends of a connection. */
const BUFFERS = 16 << 20

let server: Server
/** The server's ends of the connections. */
let connections: Duplex[]
let closing: AbortController
let carriedOut: number
/** The error with which callers are refused; undefined to accept them. */
let refusal: AppError | undefined
/** Names and values of the last request's headers, alternating, as a deployment's own auth file receives them. */
let headers: string[]

beforeEach(async () => {
  connections = []
  closing = new AbortController()
  carriedOut = 0
  refusal = undefined
  const state = JSON.stringify({ values: { text: 'x'.repeat(256 * KIB) } })
  const streams = { closing: closing.signal, lastSeq: async () => 0 }
  const threads = {
    async state() {
      carriedOut++
      return state
    },
  }
  const deps = { streams, threads, sse: { enter: () => () => undefined }, headersFor: () => ({}) }
  const context = { deps, principal: { holder: 'me', permissions: new Set() }, req: {} }
  const sockets = createSockets(deps as never)
  server = createServer()
  server.on('upgrade', (req, socket, head) => {
    connections.push(socket)
    const caller = async () => {
      headers = [...req.rawHeaders]
      if (refusal !== undefined) throw refusal
      return context as unknown as DeploymentContext
    }
    const watch = () => () => undefined
    sockets.accept({ req, socket, head, path: PATH }, { callerNow: caller, watch })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  vi.useRealTimers()
  for (const connection of connections) connection.destroy()
  server.close()
})

async function open(options = {}, protocols: string[] = []): Promise<WebSocket> {
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`
  const socket = new WebSocket(url, protocols, options)
  socket.on('error', () => undefined)
  await once(socket, 'open')
  return socket
}

describe('sockets of protocol v2', () => {
  it('answers that a client does not read are bounded by their bytes, and all come once it reads (V-39)', async () => {
    const commands = 200
    const socket = await open()
    let answers = 0
    socket.on('message', () => void answers++)
    socket.pause()
    for (let id = 0; id < commands; id++) socket.send(JSON.stringify({ id, method: 'state.get', params: {} }))
    const [connection] = connections
    await eventually(async () => expect(connection?.writableLength).toBeGreaterThan(1024 * KIB))
    // When another client gets its answer, the server has read all frames of this client that it accepts.
    const other = await open()
    other.send(JSON.stringify({ id: 1, method: 'state.get', params: {} }))
    await once(other, 'message')
    other.terminate()
    expect(connection?.writableLength).toBeLessThan(3 * 1024 * KIB)
    expect(carriedOut * 256 * KIB).toBeLessThan(BUFFERS)
    socket.resume()
    await eventually(async () => expect(answers).toBe(commands))
    socket.terminate()
  })

  it('a server that stops closes them with 1012, also one that comes then (V-37)', async () => {
    const closed = once(await open(), 'close')
    await eventually(async () => expect(connections).toHaveLength(1))
    closing.abort()
    expect((await closed)[0]).toBe(1012)
    expect((await once(await open(), 'close'))[0]).toBe(1012)
  })

  it('V-38: the key in a subprotocol counts as x-api-key, also for the auth file, unless that header is sent', async () => {
    const named = ['weir.v2', `key.${Buffer.from('the key').toString('base64url')}`]
    const keys = (): string[] => headers.filter((_text, at) => headers[at - 1]?.toLowerCase() === 'x-api-key')
    const socket = await open({}, named)
    expect([socket.protocol, keys()]).toEqual(['weir.v2', ['the key']])
    await open({ headers: { 'x-api-key': 'another' } }, named)
    expect(keys()).toEqual(['another'])
  })

  it.each([
    ['forbidden', 4403],
    ['unauthorized', 4401],
    ['rate_limited', 1013],
    ['overloaded', 1013],
    ['too_many_streams', 1013],
  ] as const)(
    'a caller who is refused with %s loses the socket at the next command (V-37, V-44)',
    async (code, told) => {
      const socket = await open()
      socket.send(JSON.stringify({ id: 1, method: 'state.get', params: {} }))
      await once(socket, 'message')
      refusal = new AppError(code)
      const closed = once(socket, 'close')
      socket.send(JSON.stringify({ id: 2, method: 'state.get', params: {} }))
      expect((await closed)[0]).toBe(told)
      expect((await once(await open(), 'close'))[0]).toBe(told)
    },
  )

  it('one that answers no ping for 40 s is ended (V-39)', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
    const [living, silent] = [await open(), await open({ autoPong: false })]
    const pings = { living: 0, silent: 0 }
    living.on('ping', () => void pings.living++)
    silent.on('ping', () => void pings.silent++)
    const ended = once(silent, 'close')
    for (let round = 1; round <= 2; round++) {
      vi.advanceTimersByTime(20_000)
      await eventually(async () => expect(pings).toEqual({ living: round, silent: round }))
      // The answer to a later frame shows that the pong has arrived too.
      living.send('{}')
      await once(living, 'message')
    }
    vi.advanceTimersByTime(20_000)
    expect((await ended)[0]).toBe(1006)
    expect(living.readyState).toBe(WebSocket.OPEN)
    living.terminate()
  })
})
