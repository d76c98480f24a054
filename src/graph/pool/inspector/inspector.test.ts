import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { findHeldUpBy } from './inspector.ts'
import { inLong } from '../../../../test/support/length.ts'

describe('D-64: code that takes the place of the inspector', () => {
  let server: WebSocketServer | undefined
  afterEach(() => server?.close())

  /** What is found if the process prints the address of a server that treats the connection like this. */
  async function find(serve: (socket: WebSocket) => void, host = '127.0.0.1') {
    server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    await once(server, 'listening')
    let connections = 0
    server.on('connection', (socket) => {
      connections += 1
      socket.on('error', () => undefined)
      serve(socket)
    })
    const { port } = server.address() as AddressInfo
    const found = findHeldUpBy(
      () => undefined,
      (listener) => listener(`Debugger listening on ws://${host}:${port}/a-b`),
    )
    return { found: await found, connections }
  }
  const nothing = { job: undefined, where: undefined }

  it.each<[string, (socket: WebSocket) => void]>([
    ['a message that is too large', (socket) => socket.send('x'.repeat(5 << 20))],
    ['no JSON', (socket) => socket.send('{')],
    ['a deep message', (socket) => socket.send('['.repeat(1e6))],
    [
      'a script without an address',
      (socket) => socket.send('{"method":"Debugger.paused","params":{"callFrames":[null]}}'),
    ],
    ['the end of the connection', (socket) => socket.terminate()],
  ])('finds nothing out: %s', async (_what, serve) => {
    expect(await find(serve)).toEqual({ found: nothing, connections: 1 })
  })

  inLong(() => {
    it('is not asked at another address', async () => {
      expect(await find(() => undefined, 'localhost')).toEqual({ found: nothing, connections: 0 })
    })
  })
})
