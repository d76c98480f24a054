import { once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import type { Engine } from './engine.ts'
import { createEngineServer } from './http-server.ts'

it('a disconnect before the query begins is detected', async () => {
  const { promise: signal, resolve } = Promise.withResolvers<AbortSignal>()
  const read: Engine['read'] = async (_statement, _context, left) => resolve(left)
  const server = createEngineServer({ engine: { read } as Engine, password: 'secret', workDir: '' })
  onTestFinished(() => void server.close())
  const [answer] = server.listeners('request') as RequestListener[]
  server.removeAllListeners('request')
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const reader = connect((server.address() as AddressInfo).port, '127.0.0.1')
  reader.write('GET /?query=SELECT+1&user=default&password=secret HTTP/1.1\r\nhost: x\r\n\r\n')
  const [req, res] = (await once(server, 'request')) as [
    IncomingMessage,
    ServerResponse & { req: IncomingMessage },
  ]
  reader.destroy()
  await once(res, 'close')
  answer?.(req, res)
  expect((await signal).aborted).toBe(true)
})
