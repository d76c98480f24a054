import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { type HttpServer, type HttpServerOptions, startHttpServer } from './http-server.ts'

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'
const LIMITS = { max_connections: 4, max_connections_per_address: 4, max_open_requests: 3 }
let server: HttpServer
afterEach(() => server.stop(0))

async function start(
  handle: (req: IncomingMessage, res: ServerResponse) => void,
  options: Partial<HttpServerOptions> = {},
): Promise<void> {
  server = await startHttpServer({ handle }, { host: '127.0.0.1', port: 0, connections: LIMITS, ...options })
}

async function open(text = ''): Promise<{ socket: Socket; read(): string; closed: Promise<unknown> }> {
  const socket = connect(server.port, '127.0.0.1')
  let got = ''
  socket.on('data', (chunk) => (got += String(chunk)))
  socket.on('error', () => undefined)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  socket.write(text)
  return { socket, read: () => got, closed }
}

describe('connections', () => {
  it('beyond the limit get a 503 and are closed; a new one is accepted when another has ended', async () => {
    await start(() => undefined)
    const busy = await Promise.all(Array.from({ length: 4 }, () => open(GET)))
    const refused = await open(GET)
    await refused.closed
    expect(refused.read()).toMatch(/^HTTP\/1\.1 503 [^]*Retry-After: 1[^]*"code":"overloaded"/)
    busy[0]?.socket.destroy()
    await eventually(async () => {
      const next = await open(GET)
      expect(next.socket.readyState).toBe('open')
      expect(next.read()).toBe('')
    })
  })

  it('that are idle are closed to make room for others', async () => {
    const answer = (_req: IncomingMessage, res: ServerResponse): void => void res.end('ok')
    const connections = { ...LIMITS, max_connections_per_address: 100 }
    await start(answer, { connections })
    const kept = await Promise.all(Array.from({ length: 4 }, () => open(GET)))
    await eventually(async () => expect(kept.every(({ read }) => read().includes('ok'))).toBe(true))
    const next = await open(GET)
    await eventually(async () => expect(next.read()).toContain('200 OK'))
  })

  it('of one address are limited, so that other addresses can connect', async () => {
    await start(() => undefined, { connections: { ...LIMITS, max_connections_per_address: 2 } })
    await Promise.all([open(GET), open(GET)])
    const third = await open(GET)
    await third.closed
    expect(third.read()).toContain('503')
  })

  it('with too many unanswered requests are closed, and further requests are not handled', async () => {
    let handled = 0
    await start(() => void handled++)
    const { closed } = await open(GET.repeat(1000))
    await closed
    expect(handled).toBe(3)
  })

  it('may have any number of consecutive requests', async () => {
    await start((_req, res) => void res.end('ok'))
    const { socket, read } = await open()
    for (let count = 1; count <= 20; count++) {
      socket.write(GET)
      await eventually(async () => expect(read().split('200 OK')).toHaveLength(count + 1))
    }
  })

  it('with a request head that arrives too slowly get a 408 and are closed', async () => {
    await start(() => undefined, { headers_timeout_ms: 100 })
    const { socket, read, closed } = await open('GET / HTTP/1.1\r\n')
    const drip = setInterval(() => socket.write('x: y\r\n'), 20)
    await closed
    clearInterval(drip)
    expect(read()).toMatch(/^HTTP\/1\.1 408 /)
  })
})
