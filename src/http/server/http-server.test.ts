import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { accepted, startApp } from '../../../test/support/servers/app-fixture.ts'
import { eventually, PATIENCE_MS } from '../../../test/support/eventually.ts'
import { fixedPort } from '../../../test/support/fixed-port.ts'
import { startHttpServer } from './http-server.ts'

describe('stop', () => {
  it('finishes active requests, accepts no new ones and closes kept-alive connections', async () => {
    const gate = Promise.withResolvers<void>()
    const fixture = await startApp({
      ingest: async () => {
        await gate.promise
        return accepted()
      },
    })
    const inFlight = fixture.postJson('/runs', {})
    await eventually(async () => expect(fixture.ingested.length).toBe(1))
    const stopped = fixture.stop(PATIENCE_MS)
    await eventually(() => expect(fetch(`${fixture.url}/ok`)).rejects.toThrow())
    gate.resolve()
    expect((await inFlight).status).toBe(202)
    await stopped
  })

  it('does not wait for a connection without a request', async () => {
    const app = { handle: (_req: unknown, res: ServerResponse) => void res.end() }
    const server = await startHttpServer(app, { host: '127.0.0.1', port: 0 })
    const socket = connect(server.port, '127.0.0.1').resume()
    const closed = once(socket, 'close')
    await once(socket, 'connect')
    // The server accepts connections in order, so once this connection has a response, the earlier one was accepted.
    await fetch(server.url)
    await server.stop(2 ** 30)
    await closed
  })

  it('cuts requests that do not finish in time', async () => {
    const fixture = await startApp({ ingest: () => new Promise(() => undefined) })
    const inFlight = fixture.postJson('/runs', {})
    await eventually(async () => expect(fixture.ingested.length).toBe(1))
    const cut = expect(inFlight).rejects.toThrow()
    await fixture.stop()
    await cut
  })
})

describe('startHttpServer', () => {
  const APP = { handle: (_req: unknown, res: ServerResponse) => void res.end() }
  const host = '127.0.0.1'

  it('rejects when the port that was set is taken', async () => {
    const first = await startHttpServer(APP, { host, port: 0 })
    const { port } = first
    await expect(startHttpServer(APP, { host, port, setting: 'DEPLOYMENT_PORT' })).rejects.toMatchObject({
      code: 'config_invalid',
      message: `127.0.0.1:${port} is in use, and DEPLOYMENT_PORT names it. Stop what listens there, or set DEPLOYMENT_PORT to another port; 0 takes any free one, and without DEPLOYMENT_PORT the next free one is taken.`,
    })
    await first.stop(0)
  })

  it('uses the next free port when none was set, except for a reserved one', async () => {
    const port = await fixedPort()
    const orNext = { avoid: [] }
    const first = await startHttpServer(APP, { host, port, orNext })
    expect(first.port).toBe(port)
    const second = await startHttpServer(APP, { host, port, orNext: { avoid: [port + 1] } })
    expect(second.port).toBeGreaterThan(port + 1)
    expect((await fetch(second.url)).status).toBe(200)
    await Promise.all([first.stop(0), second.stop(0)])
  })

  it('says that HOST is not an address of this machine', async () => {
    await expect(startHttpServer(APP, { host: '192.0.2.1', port: 0 })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('HOST is 192.0.2.1, which is not an address of this machine.'),
    })
  })

  it('survives bytes that are not HTTP', async () => {
    const fixture = await startApp()
    const socket = connect(fixture.port, '127.0.0.1')
    socket.write('\x16\x03\x01 not http\r\n\r\n')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 /)
    expect((await fetch(`${fixture.url}/ok`)).status).toBe(200)
    await fixture.stop()
  })
})
