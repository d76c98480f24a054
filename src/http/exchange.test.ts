import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createExchange, sendLater } from './exchange.ts'

it('an answer that comes later keeps no connection alive that is gone already', async () => {
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
