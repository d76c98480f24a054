import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@langchain/langgraph-sdk'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { createLogger } from '../../../src/base/log.ts'
import { readConfig } from '../../../src/config.ts'
import { newTimeUuid } from '../../../src/base/ids.ts'
import type { DeploymentHosting, HostedDeployment, HostedRevision } from '../../../src/deploy/hosting.ts'
import { startServer, type WeirServer } from '../../../src/start/server.ts'
import { NODE_COMPILE_CACHE } from '../../support/compile-cache.ts'
import { eventually } from '../../support/eventually.ts'
import { inLong } from '../../support/length.ts'
import { useFolder } from '../../support/folder.ts'

// Revisions are built and start, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const DIR = fileURLToPath(new URL('../../fixtures/deployments/', import.meta.url))
const KEY = 'deployments_key_0123456789'

let server: WeirServer
let hosting: DeploymentHosting
let folder: string
let lines: string[]
let notes: string[]

useFolder(async (made) => {
  folder = made
  const config = readConfig({
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE,
    HOST: '127.0.0.1',
    PORT: '0',
    DEPLOYMENT_PORT: '0',
    OTLP_GRPC_PORT: 'off',
    DATA_DIR: join(folder, 'data'),
    BOOTSTRAP_API_KEY: KEY,
    // The graphs read and write files of the test, which an isolation would hide.
    DEPLOY_ISOLATION: 'none',
    GRAPHS: join(DIR, 'langgraph.json'),
    DEPLOYMENT_NAME: 'own',
    DEPLOY_DRAIN_SECONDS: '2',
  })
  server = await startServer(config, { logger: createLogger({ level: 'silent' }) })
  if (server.hosting === undefined) throw new Error('nothing can be hosted')
  hosting = server.hosting
})

afterAll(async () => {
  await server.stop()
})

function deployment(name: string): HostedDeployment {
  const limits = { hosts: 1, warm: 1, memory_bytes: 1 << 30, cpus: 1 }
  return { id: randomUUID(), name, workspace_id: server.identity.workspace.id, type: 'dev', limits }
}

let made = 0
function revision(number: number, config_path = 'langgraph.json'): HostedRevision {
  // Ids of revisions rise with time.
  return { id: newTimeUuid(++made), number, dir: DIR, config_path, env: { MARK: `r${number}` } }
}

function activate(to: HostedDeployment, wanted: HostedRevision) {
  lines = []
  notes = []
  return hosting.activate(to, wanted, {
    log: (line) => void lines.push(line),
    noted: (level, message) => void notes.push(`${level}: ${message}`),
    signal: new AbortController().signal,
  })
}

function clientOf(name: string): Client {
  return new Client({ apiUrl: `${server.url}/deployments/${name}`, apiKey: KEY })
}

function get(path: string): Promise<Response> {
  return fetch(`${server.url}${path}`, { headers: { 'x-api-key': KEY } })
}

/** Runs the graph `agent` to its end; returns the steps in its state. */
async function stepsOf(name: string): Promise<unknown> {
  const values = await clientOf(name).runs.wait(null, 'agent', { input: {} })
  return (values as { steps: unknown }).steps
}

describe('several deployments in one server', () => {
  it('have their own paths, graphs and rows', async () => {
    const [one, two] = [deployment('one'), deployment('two')]
    hosting.announce(one, 'It is being built.')
    const early = await get('/deployments/one/info')
    expect([early.status, await early.json()]).toMatchObject([503, { code: 'deployment_not_ready' }])
    expect(early.headers.get('retry-after')).not.toBeNull()
    await activate(one, revision(1))
    expect(lines).toHaveLength(3)
    await activate(two, revision(2))
    expect([await stepsOf('one'), await stepsOf('two')]).toEqual([
      ['begin r1', 'end r1'],
      ['begin r2', 'end r2'],
    ])
    const { thread_id } = await clientOf('one').threads.create()
    await clientOf('one').crons.create('agent', { schedule: '0 0 1 1 *' })
    expect(await clientOf('one').crons.search()).toHaveLength(1)
    for (const other of ['two', 'own']) {
      await expect(clientOf(other).threads.get(thread_id)).rejects.toMatchObject({ status: 404 })
      expect(await clientOf(other).crons.search()).toEqual([])
    }
    const report = await hosting.remove(one)
    expect(report).toMatchObject({ erased: { crons: 1 } })
    expect((await get('/deployments/one/info')).status).toBe(404)
    expect(await stepsOf('two')).toEqual(['begin r2', 'end r2'])
  })

  inLong(() => {
    it('P-25: give their hosts no address of the stores, and reach them', async () => {
      await activate(deployment('prying'), revision(1, 'prying.json'))
      const { found } = (await clientOf('prying').runs.wait(null, 'agent', { input: {} })) as {
        found: { kept: unknown; environment: Record<string, string>; started: string[]; files: string[] }
      }
      expect(found.kept).toEqual({ n: 1 })
      expect(found.environment['MARK']).toBe('r1')
      const seen = JSON.stringify(found)
      for (const secret of [join(folder, 'data'), 'runs.db', 'DATABASE_URL', 'REDIS_URL', 'CLICKHOUSE', KEY])
        expect(seen).not.toContain(secret)
    })

    it('have nothing of an earlier deployment with the same name', async () => {
      const [old, next] = [deployment('renewed'), deployment('renewed')]
      await activate(old, revision(1))
      const { thread_id } = await clientOf('renewed').threads.create()
      await hosting.remove(old)
      await activate(next, revision(2))
      await expect(clientOf('renewed').threads.get(thread_id)).rejects.toMatchObject({ status: 404 })
      expect(await hosting.remove(old)).toMatchObject({ cancelled_runs: 0, erased: { crons: 0, threads: 0 } })
    })

    it('P-33: end runs on the revision that began them, and go on on the new one after the time limit', async () => {
      const it = deployment('switched')
      const [first, second] = [revision(1), revision(2)]
      await activate(it, first)
      const client = clientOf('switched')
      const ends = join(folder, 'ends')
      const stays = join(folder, 'stays')
      const quick = await client.threads.create()
      const slow = await client.threads.create()
      const [a, b] = await Promise.all([
        client.runs.create(quick.thread_id, 'agent', { input: { file: ends } }),
        client.runs.create(slow.thread_id, 'agent', { input: { file: stays } }),
      ])
      const joined = client.runs.join(slow.thread_id, b.run_id)
      await eventually(async () => expect(hosting.status(it.id)?.active?.runs).toBe(2))
      await eventually(async () =>
        expect((await client.threads.getState(slow.thread_id)).values).toMatchObject({ steps: ['begin r1'] }),
      )
      expect(await activate(it, second)).toMatchObject({ draining_runs: 2 })
      expect(hosting.status(it.id)).toMatchObject({
        active: { revision_id: second.id, runs: 0 },
        draining: [{ revision_id: first.id, runs: 2 }],
      })
      // This file is written first, because the time limit of the first revision counts from the switch.
      await writeFile(ends, '')
      expect(await client.runs.join(quick.thread_id, a.run_id)).toMatchObject({
        steps: ['begin r1', 'end r1'],
      })
      expect(await stepsOf('switched')).toEqual(['begin r2', 'end r2'])
      await eventually(async () => expect(hosting.status(it.id)?.active?.runs).toBe(1))
      await writeFile(stays, '')
      expect(await joined).toMatchObject({ steps: ['begin r1', 'end r2'] })
      const revisionOf = async (thread: string, run: string) =>
        ((await client.runs.get(thread, run)) as unknown as { weir: object }).weir
      expect(await revisionOf(quick.thread_id, a.run_id)).toMatchObject({ revision_id: first.id, attempt: 1 })
      expect(await revisionOf(slow.thread_id, b.run_id)).toMatchObject({ revision_id: second.id, attempt: 2 })
    })

    it('P-39: the starts and deaths of hosts are reported, also while they execute runs', async () => {
      const it = deployment('mortal')
      await activate(it, revision(1))
      const [pid = 0] = hosting.status(it.id)?.active?.host_pids ?? []
      expect(notes).toContain(`INFO: The graph host ${pid} has started.`)
      const client = clientOf('mortal')
      const { thread_id } = await client.threads.create()
      const file = join(folder, 'mortal')
      await client.runs.create(thread_id, 'agent', { input: { file } })
      await eventually(async () =>
        expect((await client.threads.getState(thread_id)).values).toMatchObject({ steps: ['begin r1'] }),
      )
      const own = notes
      process.kill(pid, 'SIGKILL')
      const death = `WARNING: The graph host ${pid} has ended: The graph host ended unexpectedly (SIGKILL). Runs that it executed: 1.`
      await eventually(async () => expect(own).toContain(death))
      await writeFile(file, '')
      await hosting.remove(it)
      await eventually(async () =>
        expect(own.at(-1)).toMatch(/^INFO: The graph host \d+ has ended: The graph host was stopped\.$/),
      )
    })

    it('P-32, P-34: a revision that cannot be started changes nothing', async () => {
      const it = deployment('steady')
      await expect(activate(it, revision(1, 'broken.json'))).rejects.toMatchObject({
        code: 'deployment_failed',
        details: { graph: 'agent', file: join(DIR, 'broken.mjs'), line: 1 },
      })
      const refused = await get('/deployments/steady/info')
      expect([refused.status, await refused.text()]).toEqual([
        503,
        expect.stringContaining('no-such-package'),
      ])
      const good = revision(2)
      await activate(it, good)
      await expect(activate(it, revision(3, 'broken.json'))).rejects.toMatchObject({
        code: 'deployment_failed',
      })
      expect(hosting.status(it.id)).toMatchObject({ active: { revision_id: good.id }, draining: [] })
      expect(await stepsOf('steady')).toEqual(['begin r2', 'end r2'])
    })

    it('P-32: the default assistants are those of the committed revision', async () => {
      const it = deployment('assisted')
      await activate(it, revision(1))
      const assistants = async () =>
        (await clientOf('assisted').assistants.search({ sortBy: 'name', sortOrder: 'asc' })).map((found) => [
          found.name,
          found.description ?? null,
        ])
      const before = [['agent', null]]
      const found: unknown[] = []
      const commit = (outcome: boolean) => async () => {
        found.push(await assistants())
        return outcome
      }
      const described = revision(2, 'described.json')
      const attempt = (outcome: boolean) =>
        hosting.activate(it, described, {
          log: () => undefined,
          commit: commit(outcome),
          signal: new AbortController().signal,
        })
      await expect(attempt(false)).rejects.toThrow('not wanted')
      expect(await assistants()).toEqual(before)
      await attempt(true)
      expect(found).toEqual([before, before])
      expect(await assistants()).toEqual([
        ['agent', 'It has a description.'],
        ['other', null],
      ])
    })

    it('P-3: keep as many hosts ready as their type says', async () => {
      const it = deployment('ready')
      const prepared = { ...it, limits: { ...it.limits, hosts: 3, warm: 2 } }
      await activate(prepared, revision(1))
      await eventually(async () => expect(hosting.status(it.id)?.active?.host_pids).toHaveLength(2))
      await hosting.remove(prepared)
    })

    it('P-16: no value of a secret is in the error of a graph that throws it', async () => {
      const it = deployment('talkative')
      const env = { MARK: 'value-of-a-secret' }
      const started = hosting.activate(
        it,
        { ...revision(1, 'talkative.json'), env },
        {
          log: () => undefined,
          noted: (_level, message) => void notes.push(message),
          mask: (text) => text.replaceAll(env.MARK, '***'),
          signal: new AbortController().signal,
        },
      )
      const error = await started.then(
        () => undefined,
        (thrown: Error) => thrown,
      )
      expect(error?.message).toContain('the key *** is too short')
      const refused = await (await get('/deployments/talkative/info')).text()
      expect(refused).toContain('***')
      expect([error?.message, refused, ...notes].join('\n')).not.toContain(env.MARK)
    })
  })
})
