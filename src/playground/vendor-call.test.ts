import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createVendorCaller, parseBaseUrl } from './vendor-call.ts'

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

async function vendorThat(answer: RequestListener): Promise<URL> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  stops.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`)
}

const request = { path: '/chat', headers: {}, body: {}, secret: 'sk-secret-1' }
const never = new AbortController().signal
const caller = createVendorCaller({ allowPrivate: true })

describe('calls of model providers (N15)', () => {
  it.each(['https://127.0.0.1/v1', 'https://[::1]/v1', 'http://api.openai.com/v1', 'https://localhost/v1'])(
    'does not call %s unless addresses that are not public are allowed',
    async (address) => {
      const strict = createVendorCaller({ allowPrivate: false })
      const called = strict.call({ ...request, base_url: new URL(address) }, never)
      await expect(called).rejects.toMatchObject({ code: 'host_not_allowed' })
    },
  )

  it('follows no redirect: its target is not one of the hosts of the secret', async () => {
    let reached = false
    const other = await vendorThat((_req, res) => {
      reached = true
      res.end()
    })
    const base_url = await vendorThat((_req, res) => void res.writeHead(307, { location: other.href }).end())
    await expect(caller.call({ ...request, base_url }, never)).rejects.toThrow('answered with status 307')
    expect(reached).toBe(false)
  })

  it.each([
    ['{"error":{"message":"bad key sk-secret-1"}}', 'status 401: bad key ***'],
    ['{"error":"no such model"}', 'status 401: no such model'],
    ['[{"error":{"message":"in a list"}}]', 'status 401: in a list'],
    ['<html>', 'status 401: <html>'],
    ['', 'status 401: without a reason'],
  ])('repeats the reason of a refusal without the secret: %s', async (body, message) => {
    const base_url = await vendorThat((_req, res) => void res.writeHead(401).end(body))
    await expect(caller.call({ ...request, base_url }, never)).rejects.toThrow(message)
  })

  it('ends when no byte arrives for too long, and when the answer breaks off', async () => {
    const impatient = createVendorCaller({ allowPrivate: true, idle_ms: 50 })
    const silent = await vendorThat(() => undefined)
    await expect(impatient.call({ ...request, base_url: silent }, never)).rejects.toThrow('did not answer')
    const cut = await vendorThat((_req, res) => {
      res.writeHead(200, { 'content-length': '100' }).write('half')
      res.once('drain', () => undefined)
      setImmediate(() => res.destroy())
    })
    const reading = async (): Promise<void> => {
      for await (const _ of await caller.call({ ...request, base_url: cut }, never));
    }
    await expect(reading()).rejects.toMatchObject({ code: 'provider_failed' })
  })

  it.each(['ftp://x/', 'x', 'https://user:pw@x/', 'https://x/?a=1', 'https://x/#a'])(
    'refuses the address %s',
    (sent) => {
      expect(() => parseBaseUrl(sent)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
    },
  )
})
