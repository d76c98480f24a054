import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSandbox } from '../../src/deploy/isolation/sandbox.ts'
import {
  addRevision,
  archiveOf,
  createDeployment,
  endedRevision,
  greeter,
  type Project,
} from '../support/deploy-project.ts'
import { KEY, startWeir, type WeirProcess } from '../support/servers/weir-process.ts'

const SECRET = 'hidden-value-of-the-victim'
const VICTIM_SOURCE = 'text-of-the-victim'

const probed = await openSandbox({ env: process.env, dataDir: tmpdir() })
const reason = 'reason' in probed ? probed.reason : undefined
if (reason !== undefined) console.log(`skipped: isolation of deployments: ${reason}`)

/** A package whose install script leaves a file, and a graph that reads all that it can and reports it. */
const HOSTILE: Project = {
  'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' } }),
  'package.json': JSON.stringify({
    name: 'hostile',
    version: '1.0.0',
    scripts: { install: 'node steal.cjs' },
  }),
  'steal.cjs': `
    const { execSync } = require('node:child_process')
    const { writeFileSync } = require('node:fs')
    const found = execSync('cat /proc/*/environ 2>/dev/null; ls -R / 2>/dev/null; true', { maxBuffer: 1 << 28 })
    writeFileSync('stolen.txt', found)
  `,
  'agent.ts': `
    import { execSync } from 'node:child_process'
    import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
    import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
    const State = Annotation.Root({ dataDir: Annotation<string>(), pid: Annotation<number>(), report: Annotation<object>() })
    const attempt = (read: () => unknown) => {
      try { return String(read()) } catch (error) { return 'refused: ' + error.code }
    }
    const shell = (command: string) => execSync(command + ' 2>/dev/null; true', { maxBuffer: 1 << 28 }).toString()
    export const graph = new StateGraph(State)
      .addNode('steal', ({ dataDir, pid }) => ({
        report: {
          list: attempt(() => readdirSync(dataDir)),
          all: attempt(() => shell('find ' + dataDir + ' -type f -not -path "' + process.cwd() + '/*"')),
          texts: attempt(() => shell('grep -rla -e [h]idden-value-of-the-victim -e [t]ext-of-the-victim ' + dataDir + ' /tmp')),
          environ: attempt(() => readFileSync('/proc/' + pid + '/environ')),
          parent: attempt(() => readFileSync('/proc/' + process.ppid + '/environ')),
          environs: attempt(() => shell('cat /proc/[0-9]*/environ')),
          signal: attempt(() => process.kill(pid, 0)),
          write: attempt(() => writeFileSync('changed.txt', '')),
          root: attempt(() => readdirSync('/root')),
          stolen: attempt(() => readFileSync('stolen.txt')),
        },
      }))
      .addEdge(START, 'steal')
      .addEdge('steal', END)
      .compile()
  `,
}

describe.skipIf(reason !== undefined)('P-23: a hostile graph in the sandbox', () => {
  let dir: string
  let weir: WeirProcess
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'weir-deploy-isolation-'))
    weir = await startWeir(join(dir, 'data'), {
      DEPLOY_ISOLATION: 'sandbox',
      SECRET_OF_SERVER: 'of-the-server',
    })
  })
  afterAll(async () => {
    expect(await weir.stop()).toBe(0)
    await rm(dir, { recursive: true, force: true })
  })

  const deploy = async (name: string, project: Project): Promise<Client> => {
    const { id } = await createDeployment(weir, name)
    const secrets = [{ name: 'GREETING', value: SECRET }]
    const made = await addRevision(weir, id, await archiveOf(project), name === 'victim' ? secrets : [])
    const ended = await endedRevision(weir, id, made.id)
    expect(ended).toMatchObject({ status: 'DEPLOYED' })
    return new Client({ apiUrl: `${weir.url}/deployments/${name}`, apiKey: KEY })
  }

  it('gets nothing of the server or of another deployment, nor does an install script (P-20, P-25)', async () => {
    const victim = await deploy('victim', greeter(VICTIM_SOURCE))
    const victimThread = await victim.threads.create()
    const values = await victim.runs.wait(victimThread.thread_id, 'agent', { input: {} })
    expect(values).toMatchObject({ said: `${VICTIM_SOURCE} ${SECRET}` })

    const hostile = await deploy('hostile', HOSTILE)
    const input = { dataDir: weir.dataDir, pid: weir.pid }
    const { report } = (await hostile.runs.wait(null, 'agent', { input })) as {
      report: Record<string, string>
    }
    expect(report).toMatchObject({
      list: 'deployments',
      all: '',
      texts: '',
      environ: 'refused: ENOENT',
      signal: 'refused: ESRCH',
      write: 'refused: EROFS',
      root: 'refused: ENOENT',
    })
    // What its install script read was there, and had none of it either.
    expect(report['stolen']).toContain('steal.cjs')
    const everything = JSON.stringify(report)
    for (const secret of [SECRET, VICTIM_SOURCE, KEY, 'of-the-server', 'api-key', 'secrets-key'])
      expect(everything).not.toContain(secret)
    await expect(hostile.threads.get(victimThread.thread_id)).rejects.toThrow(/404/)
  })

  it('the server and the deployment name the isolation', async () => {
    const runtimes = await weir.json<object[]>('/api/v1/deployments/runtimes')
    expect(runtimes[0]).toMatchObject({ runtime: 'process', isolation: 'sandbox', reason: null })
    const { resources } = await weir.json<{ resources: object[] }>('/v2/deployments')
    expect(resources[0]).toMatchObject({ weir: { isolation: 'sandbox' } })
  })
})
