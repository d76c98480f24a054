import { join } from 'node:path'
import { Client } from '@langchain/langgraph-sdk'
import { beforeAll, expect, it } from 'vitest'
import {
  addRevision,
  archiveOf,
  createDeployment,
  endedRevision,
  greeter,
  type Project,
} from './deploy-project.ts'
import { useOwnWeir } from '../servers/own-weir.ts'
import { KEY, type WeirProcess } from '../servers/weir-process.ts'

const SECRET = 'hidden-value-of-the-victim'
const VICTIM_SOURCE = 'text-of-the-victim'

/**
 * A project with a package whose install script leaves a file, and with a graph that reports everything that it can
 * reach.
 */
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
    const found = execSync('cat /proc/*/environ 2>/dev/null; find / -name api-key -o -name secrets-key -o -name steal.cjs 2>/dev/null; true', { maxBuffer: 1 << 28 })
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
          texts: attempt(() => shell('grep -rla -e [h]idden-value-of-the-victim -e [t]ext-of-the-victim ' + dataDir + ' ' + process.env.TMPDIR)),
          environ: attempt(() => readFileSync('/proc/' + pid + '/environ')),
          parent: attempt(() => readFileSync('/proc/' + process.ppid + '/environ')),
          environs: attempt(() => shell('cat /proc/[0-9]*/environ')),
          signal: attempt(() => process.kill(pid, 0)),
          write: attempt(() => writeFileSync('changed.txt', '')),
          passwords: attempt(() => readFileSync('/etc/shadow')),
          stolen: attempt(() => readFileSync('stolen.txt')),
        },
      }))
      .addEdge(START, 'steal')
      .addEdge('steal', END)
      .compile()
  `,
}

/** A project with one graph of one node; `code` is the source of the node. */
function graphOf(code: string, node: string): Project {
  return {
    'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' } }),
    'agent.ts': `
      import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
      const State = Annotation.Root({ n: Annotation<number>() })
      ${code}
      export const graph = new StateGraph(State).addNode('work', ${node}).addEdge(START, 'work').addEdge('work', END).compile()
    `,
  }
}

/** A project with an auth file and an app of its own. */
const WHOLE: Project = {
  ...graphOf('const work = () => ({ n: 1 })', 'work'),
  'langgraph.json': JSON.stringify({
    graphs: { agent: './agent.ts:graph' },
    auth: { path: './auth.ts:auth' },
    http: { app: './app.ts:app' },
  }),
  'auth.ts': `
    import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth'
    export const auth = new Auth().authenticate((request) => {
      if (request.headers.get('authorization') !== 'Bearer known') throw new HTTPException(401, { message: 'unknown' })
      return { identity: 'known', permissions: [] }
    })
  `,
  'app.ts': `
    import { Hono } from 'hono'
    export const app = new Hono().get('/hello', (c) => c.text('hello from the app'))
  `,
}

export interface TestedIsolation {
  isolation: 'uid' | 'sandbox' | 'container'
  runtime: 'process' | 'container'
  /** What the graph read: data of the server, or the code of the error. */
  seen: { list: string; environ: string; signal: string; write: string; passwords: string }
  /** Settings of a server with this isolation. */
  env: Readonly<Record<string, string>>
}

/** The results of hostile code when the isolation hides the files and processes of others. */
export const NOT_THERE: TestedIsolation['seen'] = {
  list: 'deployments',
  environ: 'refused: ENOENT',
  signal: 'refused: ESRCH',
  write: 'refused: EROFS',
  passwords: 'refused: ENOENT',
}
/** The results of hostile code when it can see the files and processes of others, which belong to another user. */
export const OF_OTHERS: TestedIsolation['seen'] = {
  list: 'refused: EACCES',
  environ: 'refused: EACCES',
  signal: 'refused: EPERM',
  write: 'refused: EACCES',
  passwords: 'refused: EACCES',
}

/** Tests that hostile deployments cannot read or damage anything outside their own files and processes. */
export function hostileDeployments({ isolation, runtime, seen, env }: TestedIsolation): void {
  // The hostile graph reads all that it can find, without a pause: on a busy machine for seconds.
  const server = useOwnWeir({ ...env, SECRET_OF_SERVER: 'of-the-server', HOST_STALL_SECONDS: '10' })
  let weir: WeirProcess
  beforeAll(() => {
    weir = server.current()
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
    expect(report).toMatchObject({ ...seen, all: '', texts: '' })
    // The install script has run, and what it found does not contain the secrets either.
    expect(report['stolen']).toContain('steal.cjs')
    const everything = Object.values(report).join('\n')
    for (const secret of [SECRET, VICTIM_SOURCE, KEY, 'of-the-server'])
      expect(everything).not.toContain(secret)
    // Names of files in DATA_DIR.
    for (const file of ['api-key', 'secrets-key']) expect(everything).not.toContain(join(weir.dataDir, file))
    await expect(hostile.threads.get(victimThread.thread_id)).rejects.toThrow(/404/)
  })

  it('ends a graph that loops, and names where (P-27)', async () => {
    const client = await deploy('loops', graphOf('function spin() { while (true) {} }', 'spin'))
    const thread = await client.threads.create()
    const run = await client.runs.create(thread.thread_id, 'agent', { input: {} })
    await client.runs.join(thread.thread_id, run.run_id).catch(() => undefined)
    const error = JSON.stringify((await client.threads.get(thread.thread_id)) as object)
    expect(error).toMatch(/agent\.ts:4/)
  })

  it('ends a graph that fills the memory, and the next run works', async () => {
    const leak = `
      async function leak({ n }) {
        if (n === 1) return { n: 2 }
        const kept = []
        for (;;) { kept.push(Buffer.alloc(1 << 22, 1)); await new Promise((turn) => setTimeout(turn, 2)) }
      }`
    const client = await deploy('leaks', graphOf(leak, 'leak'))
    const thread = await client.threads.create()
    const run = await client.runs.create(thread.thread_id, 'agent', { input: {} })
    await client.runs.join(thread.thread_id, run.run_id).catch(() => undefined)
    expect(await client.runs.get(thread.thread_id, run.run_id)).toMatchObject({ status: 'error' })
    expect(JSON.stringify(await client.threads.get(thread.thread_id))).toMatch(/memory/)
    expect(await client.runs.wait(null, 'agent', { input: { n: 1 } })).toEqual({ n: 2 })
  })

  it('serves the auth file and the custom app of a project', async () => {
    await deploy('whole', WHOLE)
    const url = `${weir.url}/deployments/whole`
    const headers = { authorization: 'Bearer known' }
    expect(await (await fetch(`${url}/hello`, { headers })).text()).toBe('hello from the app')
    expect((await fetch(`${url}/threads`, { method: 'POST' })).status).toBe(401)
    const known = new Client({ apiUrl: url, apiKey: null as never, defaultHeaders: headers })
    expect(await known.runs.wait(null, 'agent', { input: {} })).toEqual({ n: 1 })
  })

  it('the server and the deployment name the isolation', async () => {
    const runtimes = await weir.json<object[]>('/api/v1/deployments/runtimes')
    expect(runtimes.find((one) => 'in_use' in one && one.in_use)).toMatchObject({
      runtime,
      isolation,
      reason: null,
    })
    const { resources } = await weir.json<{ resources: object[] }>('/v2/deployments')
    expect(resources[0]).toMatchObject({ weir: { isolation, runtime } })
  })
}
