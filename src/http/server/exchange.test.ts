import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { NOBODY } from './dispatch.ts'
import { createExchange, sendBytes, sendLater } from './exchange.ts'
import { SLICE_BYTES } from './outflow.ts'

it('counts a large response for the user of the request, not for all users together', () => {
  const holders: string[] = []
  const outflow = {
    write: async (holder: string) => holders.push(holder) > 0,
    unsentBytes: () => 0,
  }
  const res = { writeHead: () => undefined, end: () => undefined } as unknown as ServerResponse
  for (const name of ['ada', 'bob']) {
    const exchange = createExchange({ url: '/', headers: {} } as IncomingMessage, res, undefined, outflow)
    exchange.principal = { ...NOBODY, holder: `user ${name}` }
    sendBytes(exchange, 200, {}, new Uint8Array(SLICE_BYTES + 1))
  }
  expect(holders).toEqual(['user ada', 'user bob'])
})

it('a late answer does not keep a closed connection alive', async () => {
  const server = createServer()
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  const [req, res] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  client.destroy()
  await once(res, 'close')
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  void sendLater(createExchange(req, res), 200, {}, new Promise(() => undefined))
  expect(vi.getTimerCount()).toBe(0)
})
