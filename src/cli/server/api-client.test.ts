import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { announceServer } from '../../start/server-address.ts'
import { connectDeployments } from '../deploy/connection.ts'
import { connectApi, connectDeployment } from './api-client.ts'
import { useFolder } from '../../../test/support/folder.ts'

let dir: string
let port: number
let isWeir: boolean
let requests: [path: string | undefined, key: unknown][] = []
const server = createServer(({ url, headers }: IncomingMessage, res) => {
  requests.push([url, headers['x-api-key']])
  if (url?.endsWith('/info')) return void res.end(isWeir ? '{"weir":{"version":"0"}}' : '{"name":"other"}')
  res.end('[]')
})
useFolder(async (made) => {
  dir = made
  await writeFile(join(dir, 'api-key'), 'kept\n')
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  ;({ port } = server.address() as AddressInfo)
})
afterAll(async () => {
  server.close()
})
afterEach(() => {
  requests = []
  vi.unstubAllEnvs()
})

/** Only these variables are set. */
function stub(env: Record<string, string>): void {
  const none = { WEIR_URL: '', WEIR_DEPLOYMENT_URL: '', PORT: '', DEPLOYMENT_PORT: '', WEIR_API_KEY: '' }
  for (const [name, value] of Object.entries({ ...none, DATA_DIR: dir, ...env })) vi.stubEnv(name, value)
}

describe('the key in DATA_DIR', () => {
  it('is not sent to a program at PORT or DEPLOYMENT_PORT that is not Weir', async () => {
    isWeir = false
    stub({ PORT: String(port), DEPLOYMENT_PORT: String(port) })
    await expect((await connectApi({})).text('/workspaces')).rejects.toThrow(
      `What listens at http://127.0.0.1:${port} (PORT) is not Weir, so the key in ${join(dir, 'api-key')} was not sent to it.`,
    )
    await expect((await connectDeployment({})).text('/runs')).rejects.toThrow('(DEPLOYMENT_PORT) is not Weir')
    const named = await connectApi({ url: `http://localhost:${port}` })
    await expect(named.text('/workspaces')).rejects.toThrow('(--url) is not Weir')
    expect(requests).toEqual([
      ['/api/v1/info', undefined],
      ['/info', undefined],
      ['/api/v1/info', undefined],
    ])
  })

  it('is sent to a Weir on this machine, which is asked once', async () => {
    isWeir = true
    stub({ PORT: String(port) })
    const api = await connectApi({})
    await api.text('/workspaces')
    await api.text('/workspaces')
    const call = ['/api/v1/workspaces', 'kept']
    expect(requests).toEqual([['/api/v1/info', undefined], call, call])
  })
})

it('a key that was given goes to the server that was named, without a question', async () => {
  isWeir = false
  stub({ WEIR_API_KEY: 'mine', WEIR_URL: `http://127.0.0.1:${port}` })
  await (await connectApi({})).text('/workspaces')
  expect(requests).toEqual([['/api/v1/workspaces', 'mine']])
})

describe('an address of an earlier start in a variable', () => {
  const NOW = { url: 'http://127.0.0.1:9', deploymentUrl: 'http://127.0.0.1:19' }
  const WHERE = 'The server that runs on DATA_DIR listens at'

  it('is named with the address that DATA_DIR knows when nothing listens there', async () => {
    await announceServer(dir, NOW)
    stub({ WEIR_URL: 'http://127.0.0.1:1', WEIR_DEPLOYMENT_URL: 'http://127.0.0.1:1' })
    await expect((await connectApi({})).text('/workspaces')).rejects.toThrow(
      `No server answers at http://127.0.0.1:1 (WEIR_URL). ${WHERE} http://127.0.0.1:9. WEIR_URL holds another address, perhaps that of an earlier start: unset WEIR_URL, or set it to that address.`,
    )
    await expect((await connectDeployment({})).text('/runs')).rejects.toThrow(
      `(WEIR_DEPLOYMENT_URL). ${WHERE} http://127.0.0.1:19. WEIR_DEPLOYMENT_URL holds another address`,
    )
    stub({})
    const flag = await connectApi({ url: 'http://127.0.0.1:1' })
    await expect(flag.text('/workspaces')).rejects.toThrow(`${WHERE} http://127.0.0.1:9. --url names another`)
    const deploy = await connectDeployments({}, { LANGSMITH_ENDPOINT: 'http://127.0.0.1:1' })
    await expect(deploy.text('/workspaces')).rejects.toThrow('unset LANGSMITH_ENDPOINT, or')
  })

  it('is named when another program listens there, and not for another machine', async () => {
    await announceServer(dir, NOW)
    isWeir = false
    stub({ WEIR_URL: `http://127.0.0.1:${port}` })
    await expect((await connectApi({})).text('/workspaces')).rejects.toThrow(
      `is called. ${WHERE} http://127.0.0.1:9. WEIR_URL holds`,
    )
    const error = await (await connectApi({ url: 'http://weir.invalid:1' })).text('/x').catch(String)
    expect(error).toContain('No server answers at http://weir.invalid:1. Start it')
  })
})
