import { randomUUID } from 'node:crypto'
import { Client } from '@langchain/langgraph-sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import type { SchemaTypes } from '../../../src/schema/types.gen.ts'
import {
  addRevision,
  archiveOf,
  createDeployment,
  deployGreeter,
  endedRevision,
  greeter,
  greetingOf,
  type Project,
  type ShownRevision,
} from '../../support/deployments/deploy-project.ts'
import { useOwnWeir } from '../../support/servers/own-weir.ts'
import { jsonBody, KEY, type WeirProcess } from '../../support/servers/weir-process.ts'

/** A project whose one node executes `code`. */
function nodeOf(code: string): Project {
  return {
    'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' } }),
    'agent.ts': `
      import { writeSync } from 'node:fs'
      import { END, START, StateGraph } from '@langchain/langgraph'
      import { z } from 'zod'
      const put = (fd, bytes) => {
        for (let at = 0; at < bytes.length; ) try { at += writeSync(fd, bytes, at) } catch (e) { if (e.code !== 'EAGAIN') throw e }
      }
      const frame = (head) => {
        const lengths = Buffer.alloc(8)
        lengths.writeUInt32LE(head.length + 4, 0)
        lengths.writeUInt32LE(head.length, 4)
        return Buffer.concat([lengths, Buffer.from(head)])
      }
      export const graph = new StateGraph(z.object({ n: z.number().optional() }))
        .addNode('work', async () => { ${code}; return { n: 1 } })
        .addEdge(START, 'work').addEdge('work', END).compile()
    `,
  }
}

const GRAPH = greeter('hello')
const LANGGRAPH = 'node_modules/@langchain/langgraph'

/** Commands of builds that leave something for the server to read, and the message of their revision; null: none. */
const BUILDS: readonly (readonly [what: string, build_command: string, message: RegExp | null])[] = [
  ['pipe', 'rm langgraph.json && mkfifo langgraph.json', /"langgraph.json" is not a regular file/],
  ['device', 'ln -sf /dev/zero langgraph.json', /link that leads out|not a regular file/],
  ['link', 'ln -sf /etc/hostname langgraph.json', /link that leads out/],
  ['huge', 'truncate -s 1T langgraph.json', /has more than 262144 bytes/],
  ['deep', `head -c 200000 /dev/zero | tr '\\0' '[' > langgraph.json`, /nested too deep/],
  ['manifest', `mkdir -p ${LANGGRAPH} && mkfifo ${LANGGRAPH}/package.json`, /./],
  ['source', 'rm src/agent.ts && mkfifo src/agent.ts', /./],
  ['line', `timeout 5 cat /dev/zero | tr '\\0' a; true`, null],
  ['lines', 'timeout 5 yes; true', null],
  ['files', 'mkdir many && cd many && seq 100000 | xargs touch', null],
]

/** Code of nodes that harms its own run only, and the message of the run; null: it succeeds. */
const NODES: readonly (readonly [what: string, code: string, message: RegExp | null])[] = [
  ['head', `put(3, frame('{"x":[' + '{},'.repeat(2e7) + '0]}'))`, /its head has \d+ bytes/],
  ['garbage', `put(3, Buffer.alloc(1 << 24, 255))`, /it has 4294967295 bytes/],
  ['nojson', `put(3, frame('{'))`, /its head is not JSON/],
  [
    'beats',
    `const beat = frame('{"type":"beat"}'), many = Buffer.concat(Array(5000).fill(beat)); for (const end = Date.now() + 5000; Date.now() < end; ) put(3, many)`,
    null,
  ],
  [
    'prints',
    `const text = Buffer.alloc(1 << 20, 'x'); for (const end = Date.now() + 5000; Date.now() < end; ) put(1, text)`,
    null,
  ],
]

describe('D-64: what deployed code leaves for the server to read', () => {
  const own = useOwnWeir({ DEPLOY_BUILDS: '4', DEPLOY_START_SECONDS: '120' })
  let weir: WeirProcess
  beforeAll(() => {
    weir = own.current()
  })

  async function deploy(
    name: string,
    project: Project,
    build_command: string | null = null,
  ): Promise<ShownRevision> {
    const { id } = await weir.json<SchemaTypes['deployment']>(
      '/api-host/v2/deployments',
      jsonBody('POST', {
        name,
        source: 'internal_source',
        source_config: { install_command: 'true', build_command },
      }),
    )
    const { id: revision } = await addRevision(weir, id, await archiveOf(project))
    return await endedRevision(weir, id, revision)
  }

  /** Calls of others, one after the other until `ended`; returns the 99th percentile of each kind in milliseconds. */
  async function latencies(ended: () => boolean): Promise<Record<string, number>> {
    const times: Record<string, number[]> = { ok: [], ingest: [], run: [] }
    const timed = async (kind: string, call: () => Promise<unknown>): Promise<void> => {
      const begun = performance.now()
      await call()
      times[kind]?.push(performance.now() - begun)
    }
    const trace = () => ({
      id: randomUUID(),
      name: 'x',
      run_type: 'chain',
      start_time: new Date().toISOString(),
      inputs: {},
    })
    while (!ended()) {
      for (let n = 0; n < 5; n++) await timed('ok', () => weir.fetch('/ok'))
      for (let n = 0; n < 5; n++)
        await timed('ingest', async () =>
          expect((await weir.fetch('/runs', jsonBody('POST', trace()))).status).toBe(202),
        )
      await timed('run', async () => expect(await greetingOf(weir, 'innocent')).toMatch(/^hello/))
    }
    const p99 = (all: number[]): number =>
      Math.round(all.toSorted((a, b) => a - b)[Math.floor(all.length * 0.99)] ?? 0)
    return Object.fromEntries(Object.entries(times).map(([kind, all]) => [kind, p99(all)]))
  }

  it('harms no other deployment, and no other part of the server', async () => {
    const { id } = await createDeployment(weir, 'innocent')
    expect(await deployGreeter(weir, id, 'hello')).toMatchObject({ status: 'DEPLOYED' })
    const quiet = Date.now() + 10_000
    const usual = await latencies(() => Date.now() > quiet)
    // Four honest builds, so that the work of building itself is part of what is usual.
    let isBuilt = false
    const building = Promise.all([1, 2, 3, 4].map((n) => deploy(`honest-${n}`, GRAPH, 'sleep 3'))).finally(
      () => (isBuilt = true),
    )
    const beside = await latencies(() => isBuilt)
    await building

    let isOver = false
    const attacks = Promise.all(
      BUILDS.map(([what, command]) => deploy(`build-${what}`, GRAPH, command)),
    ).finally(() => (isOver = true))
    const meanwhile = await latencies(() => isOver)
    const revisions = await attacks
    for (const [at, [what, , message]] of BUILDS.entries())
      expect
        .soft([what, revisions[at]?.status, revisions[at]?.weir.error?.message ?? null])
        .toEqual([
          what,
          message === null ? 'DEPLOYED' : 'DEPLOY_FAILED',
          message === null ? null : expect.stringMatching(message),
        ])

    for (const [what, code] of NODES)
      expect(await deploy(`node-${what}`, nodeOf(code))).toMatchObject({ status: 'DEPLOYED' })
    let isRun = false
    const runs = Promise.all(
      NODES.map(async ([what]) => {
        const client = new Client({ apiUrl: `${weir.url}/deployments/node-${what}`, apiKey: KEY })
        return JSON.stringify(await client.runs.wait(null, 'agent', { input: {}, raiseError: false }))
      }),
    ).finally(() => (isRun = true))
    const running = await latencies(() => isRun)
    const answers = await runs
    for (const [at, [what, , message]] of NODES.entries())
      expect.soft([what, answers[at]]).toEqual([what, expect.stringMatching(message ?? /"n":1/)])
    console.log(JSON.stringify({ usual, beside, meanwhile, running }))
    // The floor is a turn of a busy machine's scheduler.
    for (const kind of ['ok', 'ingest', 'run'])
      for (const [when, p99] of Object.entries({ meanwhile, running }))
        expect
          .soft(p99[kind], `${kind} ${when}`)
          .toBeLessThan(3 * Math.max(usual[kind] ?? 0, beside[kind] ?? 0, 50))
  }, 600_000) // Ten builds, each with a start of at most 120 s, on a machine with two cores.
})
