import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { createLogger } from '../../base/log.ts'
import { openClickHouse, serverPlace } from './open.ts'

afterEach(() => void vi.restoreAllMocks())

it.each([
  ['http://weir:pw@host:8123/traces', { url: 'http://weir:pw@host:8123/', database: 'traces' }],
  ['https://host:8443/', { url: 'https://host:8443/', database: 'weir' }],
  ['http://host:8123', { url: 'http://host:8123/', database: 'weir' }],
])('%s names server and database', (url, place) => {
  expect(serverPlace(url)).toEqual(place)
})

it('logs once that a server is down, as a line of JSON with the reason', async () => {
  const written = (['log', 'info', 'warn', 'error', 'debug'] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation(() => undefined),
  )
  const lines: string[] = []
  const logger = createLogger({ destination: { write: (line) => void lines.push(line) } })
  const opened = await openClickHouse({ url: 'http://weir:pw@127.0.0.1:1/weir', dataDir: '', logger })
  await eventually(async () => expect(lines).toHaveLength(1))
  await opened.stop()
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'error',
    code: 'store_unavailable',
    msg: 'ClickHouse is not ready: connect ECONNREFUSED 127.0.0.1:1',
  })
  expect(lines[0]).not.toContain('pw@')
  for (const spy of written) expect(spy).not.toHaveBeenCalled()
})

it('a server that is too old is not asked again, and gives the reason', async () => {
  const asked: string[] = []
  // As version 18.16, which knows no database of Weir, and none of the settings of its statements.
  const server = createServer((req, res) => {
    asked.push(req.url ?? '')
    if (!/async_insert|database=/.test(req.url ?? '')) return void res.end('{"version":"18.16.1"}\n')
    res.statusCode = 500
    res.end(
      'Code: 115, e.displayText() = DB::Exception: Unknown setting async_insert, e.what() = DB::Exception',
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const logger = createLogger({ level: 'silent' })
  const opened = await openClickHouse({ url: `http://127.0.0.1:${port}/weir`, dataDir: '', logger })
  await expect(opened.ready).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining('ClickHouse 18.16.1'),
  })
  expect(asked).toHaveLength(1)
  await opened.stop()
})
