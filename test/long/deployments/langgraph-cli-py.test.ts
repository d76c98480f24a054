import { spawn } from 'node:child_process'
import { cp, readFile, writeFile } from 'node:fs/promises'
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
const WANTED = join(ROOT, 'test/python/deploy-requirements.txt')
const ENVIRONMENT = join(ROOT, '.venv-deploy')
const INSTALL = 'test/python/install test/python/deploy-requirements.txt .venv-deploy'
const isInstalled = isUpToDate(join(ENVIRONMENT, 'requirements.txt'), WANTED)

const setup = useDeployCli()
let dir: string
let project: string
let weir: WeirProcess
beforeAll(() => void ({ dir, project, weir } = setup()))

/** Starts the unmodified `langgraph` in the project. Only the address and the key of the server are set. */
function startLanggraph(args: string[], env: Record<string, string> = {}, cwd = project) {
  return spawn(join(ENVIRONMENT, 'bin/langgraph'), args, {
    cwd,
    env: {
      PATH: process.env['PATH'],
      HOME: dir,
      LANGGRAPH_CLI_NO_ANALYTICS: '1',
      PYTHONUNBUFFERED: '1',
      LANGSMITH_ENDPOINT: weir.url,
      LANGSMITH_API_KEY: KEY,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function langgraph(args: string[], env: Record<string, string> = {}, cwd = project) {
  const child = startLanggraph(args, env, cwd)
  const code = new Promise<number | null>((resolve) => child.on('close', resolve))
  const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)])
  return { code: await code, text: stdout + stderr }
}

const DEPLOY = ['deploy', '--name', 'greeter', '--remote', '--no-input']

/** The last message of a run of a deployment's graph. */
async function answer(deployment: string, graph: string, content: string): Promise<string> {
  const body = { assistant_id: graph, input: { messages: [{ role: 'user', content }] } }
  const state = await weir.json<{ messages: { content: string }[] }>(
    `/deployments/${deployment}/runs/wait`,
    jsonBody('POST', body),
  )
  return state.messages.at(-1)?.content ?? ''
}

const ask = (content: string) => ({ messages: [{ role: 'user', content }] })
const FORM = { type: 'object', properties: { name: {}, founded: {} } }

const greeting = (): Promise<string> => answer('greeter', 'greeter', 'Ada')

describe.skipIf(!isInstalled)(
  `the unmodified langgraph-cli${isInstalled ? '' : ` (${INSTALL} has not been run)`}`,
  () => {
    it('deploys a TypeScript project, updates it, shows logs and revisions, and deletes it', async () => {
      const first = await langgraph([...DEPLOY, '--verbose'])
      expect(first.text).toContain('Deployment successful!')
      expect(first.text).toContain(`URL: ${weir.url}/deployments/greeter`)
      expect(first.text).toContain('| npm install')
      expect(await greeting()).toBe(`${SECRET}, Ada!`)

      const listedJson = await langgraph(['deploy', 'list', '--json'])
      expect(listedJson.text).toContain('"name": "greeter"')
      const follow = startLanggraph(['deploy', 'logs', '--name', 'greeter', '--follow'])
      await whileRunning(follow, async (printed) => {
        const count = (): number => printed().split('greeting Ada').length
        await eventually(async () => expect(count()).toBeGreaterThan(1))
        const before = count()
        expect(await greeting()).toBe(`${SECRET}, Ada!`)
        await eventually(async () => expect(count()).toBeGreaterThan(before))
      })
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

    it('P-20, P-28: deploys a Python project, updates it, and keeps what serves when its module cannot be loaded', async () => {
      const python = join(dir, 'python')
      await cp(join(ROOT, 'examples/python-agent'), python, { recursive: true })
      const deploy = ['deploy', '--name', 'weather', '--remote', '--no-input']
      const first = await langgraph([...deploy, '--verbose'], {}, python)
      expect(first.text).toContain('Deployment successful!')
      expect(first.text).toMatch(/\| pip install --editable \./)
      expect(await answer('weather', 'agent', 'What is the weather in Paris?')).toBe(
        'Paris: up to 19 °C, no rain.',
      )

      const agent = await readFile(join(python, 'agent.py'), 'utf8')
      await writeFile(join(python, 'agent.py'), `${agent}\nimport no_such_module\n`)
      const broken = await langgraph(deploy, {}, python)
      expect(broken.text).toContain('Deployment failed')
      const logs = await langgraph(['deploy', 'logs', '--name', 'weather'])
      expect(logs.text).toContain("No module named 'no_such_module'")
      expect(await answer('weather', 'agent', 'And in Rome?')).toBe('Rome: up to 18 °C, rain.')

      await writeFile(join(python, 'agent.py'), agent.replace('up to', 'at most'))
      expect(await langgraph(deploy, {}, python)).toMatchObject({ code: 0 })
      expect(await answer('weather', 'agent', 'And in Oslo?')).toMatch(/^Oslo: at most /)
    })

    it.each([
      ['react-agent', 'agent', ask('How is it in Paris?'), 'offline/small says: 21 °C'],
      ['enrichment-agent', 'agent', { topic: 'Weir', extraction_schema: FORM }, '"founded":"1899"'],
      ['memory-agent', 'assistant', ask('Tell me about owls'), '"sources":["owls 1","owls 2"]'],
      ['retrieval-agent', 'retrieval_graph', ask('zebras'), '"query":"zebras"'],
    ])('P-28: deploys %s, a project after a Python template', async (name, graph, input, answered) => {
      const folder = join(dir, name)
      await cp(join(ROOT, 'test/fixtures/python-projects', name), folder, { recursive: true })
      const deployed = await langgraph(['deploy', '--name', name, '--remote', '--no-input'], {}, folder)
      expect(deployed.text).toContain('Deployment successful!')
      const config = { configurable: { user_id: 'ada' } }
      const body = jsonBody('POST', { assistant_id: graph, input, config })
      expect(JSON.stringify(await weir.json(`/deployments/${name}/runs/wait`, body))).toContain(answered)
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

    it('P-3, P-10, P-12: makes a deployment of the type prod with a key of several workspaces, and prints which plan is needed', async () => {
      const { key, workspace } = await keyOfTwoWorkspaces(weir)
      const large = ['deploy', '--name', 'large', '--remote', '--no-input', '--no-wait']
      const deploy = [...large, '--deployment-type', 'prod']
      const unnamed = await langgraph(deploy, { LANGSMITH_API_KEY: key })
      expect(unnamed).toMatchObject({ code: 1, text: expect.stringContaining('requires a workspace ID') })
      const named = await langgraph(deploy, { LANGSMITH_API_KEY: key, LANGSMITH_TENANT_ID: workspace })
      expect(named).toMatchObject({ code: 0 })
      expect(await deploymentsOf(weir, workspace)).toMatchObject([
        { name: 'large', tenant_id: workspace, source_config: { deployment_type: 'prod' } },
      ])

      const small = await startWeir(join(dir, 'small'), { ORGANIZATION_PLAN: 'developer' })
      try {
        const refused = await langgraph(DEPLOY, { LANGSMITH_ENDPOINT: small.url })
        expect(refused.code).not.toBe(0)
        expect(refused.text).toContain('Deployments need the Plus plan or above')
      } finally {
        expect(await small.stop()).toBe(0)
      }
    })
  },
)
