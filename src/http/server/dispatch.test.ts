import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import type { Route, RouteContext } from '../api/route.ts'
import type { BodyAdmission } from '../body/admission.ts'
import { dispatch, type DispatchDeps } from './dispatch.ts'
import { createExchange } from './exchange.ts'

it('a route has one signal for its client, however often it asks', async () => {
  const server = createServer()
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  const [req, res] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  const handle = ({ gone }: RouteContext<unknown, unknown, unknown, DispatchDeps>) => {
    const before = res.listenerCount('close')
    const signals = new Set(Array.from({ length: 20 }, () => gone()))
    return {
      headers: { 'content-type': 'application/json' },
      body: `${signals.size} ${res.listenerCount('close') - before}`,
    }
  }
  const route = {
    method: 'GET',
    path: '/',
    status: 200,
    params: {},
    query: {},
    needs: 'open',
    handle,
  }
  const deps = {} as DispatchDeps
  const given = route as unknown as Route<DispatchDeps>
  await dispatch(createExchange(req, res), given, {}, deps, {} as BodyAdmission)
  const [answer] = (await once(client, 'data')) as [Buffer]
  expect(String(answer)).toMatch(/\r\n\r\n"1 1"$/)
  client.destroy()
})
