import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonBody, KEY, startWeir, type WeirProcess } from '../support/servers/weir-process.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const WANTED = join(ROOT, 'test/python/deploy-requirements.txt')
const ENVIRONMENT = join(ROOT, '.venv-deploy')
const INSTALL = 'test/python/install test/python/deploy-requirements.txt .venv-deploy'
const SECRET = 'Welcome-in-secret'
const NETWORK = /^(?:HOME|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|npm_config_registry|https?_proxy|no_proxy)$/i

const installed = join(ENVIRONMENT, 'requirements.txt')
const isInstalled = existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(WANTED, 'utf8')

let dir: string
let project: string
let weir: WeirProcess
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'weir-deploy-cli-'))
  project = join(dir, 'project')
  await cp(join(ROOT, 'examples/deployment'), project, { recursive: true })
  await writeFile(join(project, '.env'), `GREETING=${SECRET}\n`)
  // The build loads packages as this machine does.
  const network = Object.entries(process.env).filter(([name]) => NETWORK.test(name))
  weir = await startWeir(join(dir, 'data'), Object.fromEntries(network) as Record<string, string>)
})
afterAll(async () => {
  expect(await weir.stop()).toBe(0)
  await rm(dir, { recursive: true, force: true })
})

/** Runs the unmodified `langgraph` in the project, with nothing set but the address and the key of the server. */
async function langgraph(args: string[], env: Record<string, string> = {}) {
  const child = spawn(join(ENVIRONMENT, 'bin/langgraph'), args, {
    cwd: project,
    env: {
      ...{ PATH: process.env['PATH'], HOME: dir, LANGGRAPH_CLI_NO_ANALYTICS: '1' },
      ...{ LANGSMITH_ENDPOINT: weir.url, LANGSMITH_API_KEY: KEY, ...env },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const code = new Promise<number | null>((resolve) => child.on('close', resolve))
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)])
  return { code: await code, text: stdout + stderr }
}

const DEPLOY = ['deploy', '--name', 'greeter', '--remote', '--no-input']

async function greeting(): Promise<string> {
  const body = { assistant_id: 'greeter', input: { messages: [{ role: 'user', content: 'Ada' }] } }
  const state = await weir.json<{ messages: { content: string }[] }>(
    '/deployments/greeter/runs/wait',
    jsonBody('POST', body),
  )
  return state.messages.at(-1)?.content ?? ''
}

describe.skipIf(!isInstalled)(
  `the unmodified langgraph-cli${isInstalled ? '' : ` (${INSTALL} has not been run)`}`,
  () => {
    it('deploys a TypeScript project, updates it, shows logs and revisions, and deletes it', async () => {
      const first = await langgraph([...DEPLOY, '--verbose'])
      expect(first.text).toContain('Deployment successful!')
      expect(first.text).toContain(`URL: ${weir.url}/deployments/greeter`)
      expect(first.text).toContain('| npm install')
      expect(await greeting()).toBe(`${SECRET}, Ada!`)

      const logs = await langgraph(['deploy', 'logs', '--name', 'greeter'])
      expect(logs.text).toMatch(/\[INFO\] greeting Ada/)
      expect(logs.text).not.toContain(SECRET)

      await writeFile(join(project, 'src/agent.ts'), "import 'no-such-package'\n")
      const broken = await langgraph([...DEPLOY])
      expect(broken.code).not.toBe(0)
      expect(broken.text).toContain('Deployment failed')
      expect(await greeting()).toBe(`${SECRET}, Ada!`)

      await writeFile(
        join(project, 'package.json'),
        '{ "dependencies": { "no-such-package-of-anybody": "1" } }',
      )
      const unbuilt = await langgraph([...DEPLOY])
      expect(unbuilt.text).toContain('Deployment failed')
      expect(unbuilt.text).toContain('no-such-package-of-anybody')

      const listed = await langgraph(['deploy', 'list'])
      const [id = ''] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(listed.text) ?? []
      expect(listed.text).toContain(`${weir.url}/deployments/greeter`)
      const revisions = await langgraph(['deploy', 'revisions', 'list', id])
      expect(revisions.text).toMatch(/BUILD_FAILED[^]*DEPLOY_FAILED[^]*DEPLOYED/)
      expect(await langgraph(['deploy', 'delete', id, '--force'])).toMatchObject({ code: 0 })
      expect((await weir.fetch('/deployments/greeter/info')).status).toBe(404)
    })

    it('prints why the server refuses', async () => {
      const badKey = await langgraph([...DEPLOY], { LANGSMITH_API_KEY: 'wrong' })
      expect(badKey.text).toContain('failed with status 401: Invalid token')
      const { key } = await weir.json<{ key: string }>(
        '/api/v1/orgs/current/service-keys',
        jsonBody('POST', { description: 'reads', role: 'viewer' }),
      )
      const reader = await langgraph([...DEPLOY], { LANGSMITH_API_KEY: key })
      expect(reader.text).toContain('deployments:manage')
      const image = await langgraph(['deploy', '--name', 'image', '--no-remote', '--no-input'])
      expect(image.code).not.toBe(0)
    })
  },
)
