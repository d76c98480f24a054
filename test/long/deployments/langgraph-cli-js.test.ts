import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { SECRET, isUpToDate, useDeployCli } from '../../support/deployments/deploy-cli.ts'
import { deploymentsOf, keyOfTwoWorkspaces } from '../../support/deployments/deploy-project.ts'
import { eventually } from '../../support/eventually.ts'
import { jsonBody, KEY, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { whileRunning } from '../../support/while-running.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Packages are installed, and every revision starts processes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const PACKAGES = join(ROOT, '.clients/langgraph-cli')
const PROGRAM = join(PACKAGES, 'node_modules/.bin/langgraphjs')
const WANTED = join(ROOT, 'test/langgraph-cli/package-lock.json')
const isInstalled = isUpToDate(join(PACKAGES, '.installed'), WANTED)

const setup = useDeployCli()
let dir: string
let project: string
let weir: WeirProcess
beforeAll(() => void ({ dir, project, weir } = setup()))

/** Starts the unmodified `langgraphjs deploy` in the project. Unlike the Python command, it needs `--host-url`. */
function startDeploy(args: string[], env: Record<string, string>, url: string) {
  const child = spawn(process.execPath, [PROGRAM, 'deploy', ...args, '--host-url', `${url}/api-host`], {
    cwd: project,
    env: {
      PATH: process.env['PATH'],
      HOME: dir,
      LANGGRAPH_CLI_NO_ANALYTICS: '1',
      LANGSMITH_API_KEY: KEY,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return { child, ended: new Promise<number | null>((resolve) => child.on('close', resolve)) }
}

async function deploy(args: string[], env: Record<string, string> = {}, url = weir.url) {
  const { child, ended } = startDeploy(args, env, url)
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)])
  return { code: await ended, stdout, text: stdout + stderr }
}

const REMOTE = ['--remote', '--no-input']
const create = (env: Record<string, string> = {}, url = weir.url) =>
  deploy(['--name', 'greeter', ...REMOTE], env, url)

/** The last message of a run of the deployed graph. */
async function greeting(): Promise<string> {
  const body = { assistant_id: 'greeter', input: { messages: [{ role: 'user', content: 'Ada' }] } }
  const state = await weir.json<{ messages: { content: string }[] }>(
    '/deployments/greeter/runs/wait',
    jsonBody('POST', body),
  )
  return state.messages.at(-1)?.content ?? ''
}

/** Runs the graph once more. Resolves when a command that follows the log has printed its greeting. */
async function followsGreetings(printed: () => string): Promise<void> {
  const count = (): number => printed().split('greeting Ada').length
  await eventually(async () => expect(count()).toBeGreaterThan(1))
  const before = count()
  expect(await greeting()).toBe(`${SECRET}, Ada!`)
  await eventually(async () => expect(count()).toBeGreaterThan(before))
}

describe.skipIf(!isInstalled)(
  `the unmodified langgraphjs${isInstalled ? '' : ' (test/langgraph-cli/install has not been run)'}`,
  () => {
    it('P-7, P-9: prints why the server refuses', async () => {
      expect(await deploy(['list'], { LANGSMITH_API_KEY: 'wrong' })).toMatchObject({
        text: expect.stringContaining('Invalid token'),
      })
      const { key } = await weir.json<{ key: string }>(
        '/api/v1/orgs/current/service-keys',
        jsonBody('POST', { description: 'reads', role: 'viewer' }),
      )
      const reader = await create({ LANGSMITH_API_KEY: key })
      expect(reader.text).toContain('deployments:manage')
      expect((await deploy(['--name', 'image', '--no-remote', '--no-input'])).code).not.toBe(0)
    })

    it('deploys a TypeScript project, updates it, shows logs and revisions, and deletes it', async () => {
      const first = await create()
      expect(first).toMatchObject({ code: 0 })
      expect(first.text).toContain(`${weir.url}/deployments/greeter`)
      expect(await greeting()).toBe(`${SECRET}, Ada!`)

      const { child } = startDeploy(['logs', '--name', 'greeter', '--follow'], {}, weir.url)
      await whileRunning(child, followsGreetings)
      const logs = await deploy(['logs', '--name', 'greeter'])
      expect(logs.text).toMatch(/greeting Ada/)
      expect(logs.text).not.toContain(SECRET)

      await writeFile(join(project, 'src/agent.ts'), "import 'no-such-package'\n")
      expect((await create()).code).not.toBe(0)
      expect(await greeting()).toBe(`${SECRET}, Ada!`)

      await writeFile(
        join(project, 'package.json'),
        '{ "dependencies": { "no-such-package-of-anybody": "1" } }',
      )
      const unbuilt = await create()
      expect(unbuilt.code).not.toBe(0)
      expect(unbuilt.text).toContain('no-such-package-of-anybody')

      const listed = await deploy(['list'])
      const [id = ''] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(listed.text) ?? []
      expect(listed.text).toContain('greeter')
      const revisions = await deploy(['revisions', 'list', id])
      expect(revisions.text).toMatch(/BUILD_FAILED[^]*DEPLOY_FAILED[^]*DEPLOYED/)
      expect(await deploy(['delete', id, '--force'])).toMatchObject({ code: 0 })
      expect((await weir.fetch('/deployments/greeter/info')).status).toBe(404)
    })

    it('P-3, P-10, P-12: makes a deployment of the type prod with a key of several workspaces, and prints which plan is needed', async () => {
      const { key, workspace } = await keyOfTwoWorkspaces(weir)
      const prod = ['--name', 'large', '--deployment-type', 'prod', ...REMOTE, '--no-wait', '--json']
      const unnamed = await deploy(prod, { LANGSMITH_API_KEY: key })
      expect(unnamed.code).not.toBe(0)
      expect(unnamed.text).toContain('requires a workspace ID')
      const named = await deploy(prod, { LANGSMITH_API_KEY: key, LANGSMITH_TENANT_ID: workspace })
      expect(named).toMatchObject({ code: 0 })
      const events = named.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object)
      expect(events).toContainEqual(expect.objectContaining({ event: 'status_url' }))
      expect(await deploymentsOf(weir, workspace)).toMatchObject([
        { name: 'large', tenant_id: workspace, source_config: { deployment_type: 'prod' } },
      ])

      const small = await startWeir(join(dir, 'small'), { ORGANIZATION_PLAN: 'developer' })
      try {
        const refused = await create({}, small.url)
        expect(refused.code).not.toBe(0)
        expect(refused.text).toContain('Deployments need the Plus plan or above')
      } finally {
        expect(await small.stop()).toBe(0)
      }
    })
  },
)
