import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Principal } from '../auth/principal.ts'
import { NIL_UUID } from '../base/ids.ts'
import { createExchange, sendBytes, sendLater } from './exchange.ts'
import { SLICE_BYTES } from './outflow.ts'

const NOBODY: Principal = {
  organization_id: NIL_UUID,
  workspace_id: NIL_UUID,
  workspace_chosen: true,
  user_id: null,
  api_key_id: NIL_UUID,
  short_key: '',
  holder: '',
  workspace_ids: [],
  all_workspaces: false,
  permissions: new Set(),
  role: 'user',
  read_only: false,
  expires_at: null,
}

it('a large answer counts in the share of the user who asked, not in that of all users', () => {
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
