import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { afterAll, afterEach, expect, it } from 'vitest'
import { Refusal } from '../server/api-client.ts'
import { deployProject } from './deploy-project.ts'
import { textProgress } from './progress.ts'
import { useFolder } from '../../../test/support/folder.ts'

const FULL = 'The disk of DATA_DIR is full: nothing is stored until space is free.'
const FULL_DISK: [number, object] = [503, { detail: FULL, code: 'disk_full' }]
const IGNORED = {
  stdout: () => undefined,
  stderr: () => undefined,
  isTerminal: false,
  now: () => new Date(),
}
let dir: string
let url: string
/** The answer to an upload. */
let uploaded = FULL_DISK
let calls: string[] = []
let isKnown = false
/** Why the server cannot build with uv. */
let uv_fault: string | null = null
/** A server with a full disk, which creates deployments and refuses sources. */
const server = createServer((req, res) => void answer(req, res))

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const call = `${req.method} ${req.url?.split('?')[0]}`
  await textOf(req)
  calls.push(call)
  const deployment = { id: 'd', name: 'shop' }
  const answers: Record<string, [number, object | undefined]> = {
    'GET /api/v1/v2/deployments': [200, { resources: isKnown ? [deployment] : [] }],
    'POST /api/v1/v2/deployments': [201, deployment],
    'POST /api/v1/v2/deployments/d/upload-url': [200, { upload_url: `${url}/upload`, object_path: 'o' }],
    'GET /api/v1/v2/deployments/d/revisions': [200, { resources: [] }],
    'DELETE /api/v1/v2/deployments/d': [204, undefined],
    'GET /api/v1/deployments/runtimes': [200, [{ runtime: 'process', in_use: true, uv_fault }]],
    'PUT /upload': uploaded,
  }
  const [status, body] = answers[call] ?? [404, { detail: 'Not found' }]
  res.writeHead(status).end(body && JSON.stringify(body))
}
useFolder(async (made) => {
  dir = made
  await writeFile(join(dir, 'langgraph.json'), '{"graphs":{"agent":"./agent.ts:graph"}}')
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.close()
})
afterEach(() => void (calls = []))

/** Deploys the project and returns the message of the error. */
async function deploy(): Promise<string> {
  const flags = { config: join(dir, 'langgraph.json'), name: 'shop', url, 'api-key': 'key' }
  return await deployProject(flags, textProgress(IGNORED)).then(String, (error: Error) => error.message)
}
it('P-43: a source that is too large is refused by the server, so that the command ends with 1', async () => {
  uploaded = [413, { detail: 'too large', code: 'body_too_large' }]
  const flags = { config: join(dir, 'langgraph.json'), name: 'shop', url, 'api-key': 'key' }
  const refused = deployProject(flags, textProgress(IGNORED))
  await expect(refused).rejects.toBeInstanceOf(Refusal)
  await expect(refused).rejects.toMatchObject({
    answered: 413,
    message: expect.stringContaining('.dockerignore'),
  })
  uploaded = FULL_DISK
})

const WORDS = `The source could not be uploaded. ${FULL} (503)`

it('a full disk is printed in words, and the deployment made for the upload is removed', async () => {
  expect(await deploy()).toBe(WORDS)
  expect(calls.at(-1)).toBe('DELETE /api/v1/v2/deployments/d')
})

it('a deployment that was there before stays', async () => {
  isKnown = true
  expect(await deploy()).toBe(WORDS)
  expect(calls.at(-1)).toBe('PUT /upload')
})

it('says before the upload that the server cannot build a project with a uv.lock', async () => {
  await writeFile(join(dir, 'langgraph.json'), '{"graphs":{"agent":"./agent.py:graph"}}')
  await writeFile(join(dir, 'uv.lock'), '')
  uv_fault = 'uv is not installed on this server.'
  expect(await deploy()).toBe(uv_fault)
  expect(calls.at(-1)).toBe('GET /api/v1/deployments/runtimes')
  uv_fault = null
  expect(await deploy()).toBe(WORDS)
  await writeFile(join(dir, '.dockerignore'), 'uv.lock')
  calls = []
  await deploy()
  expect(calls).not.toContain('GET /api/v1/deployments/runtimes')
})
