import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { accepted, startApp } from '../../test/support/app-fixture.ts'
import { eventually, PATIENCE_MS } from '../../test/support/eventually.ts'
import { startHttpServer } from './http-server.ts'

describe('stop', () => {
  it('lets what is under way finish, takes nothing new and closes kept-alive connections', async () => {
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

  it('waits for no connection on which nothing has come', async () => {
    const app = { handle: (_req: unknown, res: ServerResponse) => void res.end() }
    const server = await startHttpServer(app, { host: '127.0.0.1', port: 0 })
    const socket = connect(server.port, '127.0.0.1').resume()
    const closed = once(socket, 'close')
    await once(socket, 'connect')
    // Connections are taken in turn: when this one is answered, the one before has been taken.
    await fetch(server.url)
    await server.stop(2 ** 30)
    await closed
  })

  it('cuts what does not finish in time', async () => {
    const fixture = await startApp({ ingest: () => new Promise(() => undefined) })
    const inFlight = fixture.postJson('/runs', {})
    await eventually(async () => expect(fixture.ingested.length).toBe(1))
    const cut = expect(inFlight).rejects.toThrow()
    await fixture.stop()
    await cut
  })
})

describe('startHttpServer', () => {
  it('rejects when the port is taken', async () => {
    const fixture = await startApp()
    await expect(
      startHttpServer(fixture.app, { host: '127.0.0.1', port: fixture.port }),
    ).rejects.toMatchObject({ code: 'config_invalid', message: expect.stringContaining('PORT') })
    await fixture.stop()
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
