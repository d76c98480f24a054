import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { NODE_COMPILE_CACHE } from '../../support/compile-cache.ts'
import { greeter, keyOfTwoWorkspaces, type Project } from '../../support/deployments/deploy-project.ts'
import { eventually } from '../../support/eventually.ts'
import { jsonBody, KEY, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'
import { useFolder } from '../../support/folder.ts'

// Packages are installed, and every revision starts processes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
const SECRET = 'a-secret-of-the-project'

let dir: string
let folder: string
let weir: WeirProcess
const children = new Set<ChildProcess>()
useFolder(async (made) => {
  dir = made
  folder = join(dir, 'Support_Bot')
  weir = await startWeir(join(dir, 'data'), { DEPLOY_MAX_SOURCE_BYTES: '64KiB' })
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  expect(await weir.stop()).toBe(0)
})

async function write(project: Project): Promise<void> {
  for (const [path, text] of Object.entries(project)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}

function start(args: readonly string[], cwd = folder, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN, 'deploy', ...args], {
    cwd,
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE,
      DATA_DIR: join(dir, 'none'),
      LANGSMITH_ENDPOINT: weir.url,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  child.once('close', () => children.delete(child))
  return child
}

/** Runs `weir deploy` in the folder of the project and returns its result. */
async function weirDeploy(args: readonly string[], cwd?: string, env?: Record<string, string>) {
  const child = start(args, cwd, env)
  const [stdout, stderr, code] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    new Promise<number | null>((resolve) => child.on('close', resolve)),
  ])
  return { code, stdout, stderr }
}

describe('weir deploy', () => {
  it('P-42: deploys a project, shows what fails, rolls back, shows logs and deletes', async () => {
    // The key is read from the project's .env. It is not sent as a secret of the deployment.
    const one = greeter('one')
    await write({
      ...one,
      '.env': `GREETING=${SECRET}\nLANGSMITH_API_KEY=${KEY}\n`,
      // Editors on Windows put a byte order mark first (P-21).
      'langgraph.json': `\uFEFF${one['langgraph.json']}`,
    })
    const first = await weirDeploy([])
    expect(first).toMatchObject({ code: 0, stdout: `${weir.url}/deployments/support-bot\n` })
    expect(first.stderr).toMatch(
      /✓ langgraph\.json +1 graph: agent\n.*✓ source +2 files.*✓ revision 1 .*✓ switched/s,
    )
    expect(first.stderr).toContain(`  Studio  ${weir.url}/app/deployments/support-bot/studio\n`)
    const run = { assistant_id: 'agent', input: {} }
    const answer = await weir.fetch('/deployments/support-bot/runs/wait', jsonBody('POST', run))
    expect(await answer.json()).toEqual({ said: `one ${SECRET}` })
    const shown = await weir.json<{ resources: { secrets: { name: string }[] }[] }>('/v2/deployments')
    expect(shown.resources[0]?.secrets.map(({ name }) => name)).toEqual(['GREETING'])

    await write({ 'src/agent.ts': greeter('two')['src/agent.ts'] ?? '' })
    const second = await weirDeploy(['--name', 'Support Bot', '--json'])
    expect(second.code).toBe(0)
    const events = second.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string })
    expect(events[0]).toMatchObject({ event: 'warn', message: 'The name is used as "support-bot".' })
    expect(events).toContainEqual({ event: 'upload_progress', size_mb: 0, pct: 100 })
    expect(events).toContainEqual({
      event: 'status_url',
      url: `${weir.url}/app/deployments/support-bot/studio`,
    })
    expect(events.at(-1)).toMatchObject({ event: 'result', status: 'succeeded' })

    await write({ 'src/agent.ts': "import 'no-such-package'\n" })
    const failed = await weirDeploy([])
    expect(failed).toMatchObject({ code: 1, stdout: '' })
    expect(failed.stderr).toMatch(
      /✗ started +src\/agent\.ts:1 .*no-such-package.*Add it to "dependencies" of package\.json.*revision 3 failed; revision 2 goes on/s,
    )

    const back = await weirDeploy(['rollback', 'support-bot'])
    expect(back).toMatchObject({ code: 0, stdout: first.stdout })
    const revisions = await weirDeploy(['revisions', 'support-bot'])
    expect(revisions.stdout).toMatch(
      /4 +SERVING.*as revision 1\n3 +DEPLOY_FAILED.*\n2 +REPLACED.*\n1 +REPLACED/,
    )
    const list = await weirDeploy(['list'])
    expect(list.stdout).toMatch(/support-bot +dev +READY +4 +process, not isolated/)

    // Without a name the command shows the log of the project's deployment.
    const own = await weirDeploy(['logs', '--limit', '1'])
    expect(own).toMatchObject({ code: 0, stderr: '' })
    expect(own.stdout).toMatch(/^\S+ INFO .*\n$/)

    const tail = start(['logs', 'support-bot', '--type', 'server', '--follow', '--limit', '1'])
    let lines = ''
    tail.stdout.on('data', (text: Buffer) => (lines += text.toString()))
    await eventually(async () => {
      await weir.json('/deployments/support-bot/runs/wait', jsonBody('POST', run))
      expect(lines).toMatch(/INFO +saying one \*\*\*/)
    })
    const ended = new Promise((resolve) => tail.once('close', resolve))
    tail.kill('SIGINT')
    expect(await ended).toBe(130)

    const unsure = await weirDeploy(['delete', 'support-bot'])
    expect(unsure).toMatchObject({ code: 2, stderr: expect.stringContaining('Add --force') })
    expect(await weirDeploy(['delete', 'support-bot', '--force'])).toMatchObject({ code: 0, stdout: '' })
    expect((await weir.fetch('/deployments/support-bot/info')).status).toBe(404)
  })

  it('P-43: reports what is wrong with a call; the exit code is 2 for flags, files, keys and addresses, otherwise 1', async () => {
    await write({ ...greeter('one'), '.env': '' })
    const key = { WEIR_API_KEY: KEY }
    const viewer = await weir.json<{ key: string }>(
      '/api/v1/orgs/current/service-keys',
      jsonBody('POST', { description: 'viewer', role: 'viewer' }),
    )
    const unknown = '01990000-0000-7000-8000-000000000000'
    const readOnly = { WEIR_API_KEY: viewer.key }
    const several = { WEIR_API_KEY: (await keyOfTwoWorkspaces(weir)).key }
    const wrong: [args: string[], code: number, says: string, cwd?: string, env?: Record<string, string>][] =
      [
        [[], 2, 'There is no langgraph.json in this folder', dir],
        [['--deployment-type', 'test'], 2, 'must be dev or prod'],
        [['list'], 2, 'There is no API key: pass --api-key, or set WEIR_API_KEY'],
        [['list'], 2, 'refused the key of LANGSMITH_API_KEY (401)', folder, { LANGSMITH_API_KEY: 'wrong' }],
        [['list', '--api-key', 'wrong'], 2, 'refused the key of --api-key (401)'],
        [[], 1, 'needs the permission deployments:manage. (403) Use a key with the role', folder, readOnly],
        [['list'], 1, 'sends the workspace that --workspace names', folder, several],
        [['--name', '!?'], 2, '"!?" has no letter (a-z) and no digit', folder, key],
        [['list', '--url', 'http://127.0.0.1:1'], 2, 'No server answers at http://127.0.0.1:1.', folder, key],
        [['list', '--url', 'https://api.smith.langchain.com'], 2, 'is LangSmith', folder, key],
        [
          ['delete', unknown, '--force'],
          1,
          `There is no deployment ${unknown}; weir deploy list`,
          folder,
          key,
        ],
        [['rollback'], 2, 'rollback takes one name or id', folder, key],
      ]
    for (const [args, code, says, cwd, env] of wrong)
      expect([args, await weirDeploy(args, cwd, env)]).toMatchObject([
        args,
        { code, stderr: expect.stringContaining(says) },
      ])
    const noise = Array.from({ length: 20_000 }, () => Math.random().toString(36)).join('')
    await write({ 'data/large.txt': noise })
    const large = await weirDeploy([], folder, key)
    expect(large).toMatchObject({ code: 1, stderr: expect.stringContaining('data/large.txt (0.') })
    expect(large.stderr).toContain('add them to .dockerignore')
  })
})
