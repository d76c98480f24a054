import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { campaign, LONG_MS } from '../../support/campaign.ts'
import {
  addRevision,
  archiveOf,
  createDeployment,
  endedRevision,
  greeter,
  latestRevision,
} from '../../support/deployments/deploy-project.ts'
import { eventually } from '../../support/eventually.ts'
import { jsonBody, startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'

// Packages are installed, and every revision starts processes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

/** The states through which a revision goes, in order. */
const STATES = ['CREATING', 'AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOYED']
const ROUNDS = campaign(5, 2)

let dir: string
let weir: WeirProcess | undefined
afterEach(async () => {
  await weir?.stop()
  await rm(dir, { recursive: true, force: true })
})

/**
 * Makes a folder with an `npm` that takes half a second. It writes to the file `twice` if another one is still running
 * in the same folder.
 */
async function watchedNpm(twice: string): Promise<string> {
  const folder = join(dir, 'bin')
  await mkdir(folder)
  const text = `#!/bin/sh
if [ -e "$PWD/lock" ] && kill -0 "$(cat "$PWD/lock")" 2>/dev/null; then echo "$PWD" >> '${twice}'; fi
echo $$ > "$PWD/lock"
sleep 0.5
mkdir -p node_modules
rm "$PWD/lock"
`
  await writeFile(join(folder, 'npm'), text)
  await chmod(join(folder, 'npm'), 0o755)
  return folder
}

/** A graph that takes a moment to load, so that the test can find its revision in the state DEPLOYING. */
function project(text: string) {
  const files = greeter(text)
  const slow = 'await new Promise((resolve) => setTimeout(resolve, 300))\n'
  return {
    ...files,
    'src/agent.ts': `${files['src/agent.ts']}\n${slow}`,
    'package.json': '{"type": "module"}',
  }
}

async function answerOf(server: WeirProcess): Promise<string> {
  const { said } = await server.json<{ said: string }>(
    '/deployments/killed/runs/wait',
    jsonBody('POST', { assistant_id: 'agent', input: {} }),
  )
  return said
}

async function assistantsOf(server: WeirProcess): Promise<unknown[]> {
  const found = await server.json<{ name: string; description: string | null }[]>(
    '/deployments/killed/assistants/search',
    jsonBody('POST', {}),
  )
  return found.map(({ name, description }) => [name, description])
}

describe('a server that is killed between the commit of a revision and its assistants', () => {
  it('P-32: keeps the earlier ones until then, and has the new ones when it serves again', async () => {
    dir = await mkdtemp(join(tmpdir(), 'weir-deploy-kills-'))
    const data = join(dir, 'data')
    let server = (weir = await startWeir(data))
    const { id } = await createDeployment(server, 'killed')
    const files = greeter('it')
    await endedRevision(server, id, (await addRevision(server, id, await archiveOf(files))).id)
    expect(await assistantsOf(server)).toEqual([['agent', null]])
    // During this transaction the server can read its runs and assistants, but cannot write any.
    const other = new DatabaseSync(join(data, 'runs.db'))
    other.exec('BEGIN IMMEDIATE')
    const path = './src/agent.ts:graph'
    const graphs = { agent: { path, description: 'described' }, second: path }
    const described = await archiveOf({ ...files, 'langgraph.json': JSON.stringify({ graphs }) })
    const revision = await endedRevision(server, id, (await addRevision(server, id, described)).id)
    expect(revision).toMatchObject({ status: 'DEPLOYED' })
    expect(await assistantsOf(server)).toEqual([['agent', null]])
    await server.kill()
    other.exec('ROLLBACK')
    other.close()

    server = weir = await startWeir(data)
    const found = await eventually(() => assistantsOf(server))
    expect(found).toHaveLength(2)
    expect(found).toEqual(
      expect.arrayContaining([
        ['agent', 'described'],
        ['second', null],
      ]),
    )
  })
})

describe('a server that is killed in every state of a revision', () => {
  it(`P-5, P-36: ${ROUNDS} times each: nothing is stuck or built twice at a time, and the earlier revision serves until the new one does`, async () => {
    dir = await mkdtemp(join(tmpdir(), 'weir-deploy-kills-'))
    const twice = join(dir, 'twice')
    await writeFile(twice, '')
    const bin = await watchedNpm(twice)
    const env = { PATH: `${bin}:${process.env['PATH']}` }
    const data = join(dir, 'data')
    let server = (weir = await startWeir(data, env))
    const { id } = await createDeployment(server, 'killed')
    const first = await addRevision(server, id, await archiveOf(project('v0')))
    expect(await endedRevision(server, id, first.id)).toMatchObject({ status: 'DEPLOYED' })
    const met: string[] = []
    for (let round = 0; round < ROUNDS * STATES.length; round += 1) {
      const wanted = round % STATES.length
      const { id: revision_id } = await addRevision(server, id, await archiveOf(project(`v${round + 1}`)))
      const status = await eventually(async () => {
        const now = (await latestRevision(server, id)).status
        if (STATES.indexOf(now) < wanted) throw new Error(`it is ${now}`)
        return now
      })
      await server.kill()
      met.push(status)

      server = weir = await startWeir(data, env)
      const answer = await eventually(() => answerOf(server))
      expect([`v${round} nothing`, `v${round + 1} nothing`]).toContain(answer)
      expect([round, await endedRevision(server, id, revision_id)]).toMatchObject([
        round,
        { status: 'DEPLOYED', weir: { number: round + 2, is_active: true } },
      ])
      expect(await answerOf(server)).toBe(`v${round + 1} nothing`)
    }
    expect(await readFile(twice, 'utf8')).toBe('')
    expect(new Set(met).size).toBeGreaterThanOrEqual(3)
  })
})
