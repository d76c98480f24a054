import { randomUUID } from 'node:crypto'
import { Client } from '@langchain/langgraph-sdk'
import type { SchemaTypes } from '../../../src/schema/types.gen.ts'
import { jsonBody, KEY, type WeirProcess } from '../servers/weir-process.ts'
import {
  addRevision,
  archiveOf,
  endedRevision,
  greeter,
  greetingOf,
  type Project,
  type ShownRevision,
} from './deploy-project.ts'

const LANGGRAPH = 'node_modules/@langchain/langgraph'

/** Commands of builds that leave something for the server to read, and the message of their revision; null: none. */
export const BUILDS: readonly (readonly [what: string, build_command: string, message: RegExp | null])[] = [
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
export const NODES: readonly (readonly [what: string, code: string, message: RegExp | null])[] = [
  ['head', `put(3, frame('{"x":[' + '{},'.repeat(2e7) + '0]}'))`, /its head has \d+ bytes/],
  ['garbage', `put(3, Buffer.alloc(1 << 24, 255))`, /it is no frame/],
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

const LIBRARY = `
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
  const graphOf = (node) => new StateGraph(z.object({ n: z.number().optional() }))
    .addNode('work', async () => { await node(); return { n: 1 } })
    .addEdge(START, 'work').addEdge('work', END).compile()
`

const ATTACKERS: Project = {
  'langgraph.json': JSON.stringify({
    graphs: Object.fromEntries(NODES.map(([what]) => [what, `./agent.ts:${what}`])),
  }),
  'agent.ts':
    LIBRARY +
    NODES.map(([what, code]) => `export const ${what} = graphOf(async () => { ${code} })`).join('\n'),
}

/** Deploys the project with a build command; resolves with its revision once it has ended. */
export async function deployBuilt(
  weir: WeirProcess,
  name: string,
  build_command: string | null,
  project: Project = greeter('hello'),
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

/** Deploys a graph for each of NODES as `attackers`. */
export function deployAttackers(weir: WeirProcess): Promise<ShownRevision> {
  return deployBuilt(weir, 'attackers', null, ATTACKERS)
}

/** Executes NODES, one at a time; resolves with the texts of their answers. */
export async function runAttackers({ url }: WeirProcess): Promise<string[]> {
  const client = new Client({
    apiUrl: `${url}/deployments/attackers`,
    apiKey: KEY,
  })
  const answers = []
  for (const [what] of NODES)
    answers.push(JSON.stringify(await client.runs.wait(null, what, { input: {}, raiseError: false })))
  return answers
}

/** Milliseconds of calls, by what was called. */
export type CallTimes = Record<'ok' | 'ingest' | 'run', number[]>

/**
 * Calls parts of the server that have nothing to do with the attacked deployments, until `work` has ended. `innocent`
 * is a deployment of a `greeter('hello')`; `traces` are the ids that ingest has acknowledged. @throws Error if one of
 * them fails
 */
export async function callMeanwhile<T>(
  weir: WeirProcess,
  innocent: string,
  work: Promise<T>,
): Promise<{ result: T; times: CallTimes; traces: string[] }> {
  let isOver = false
  const done = work.finally(() => (isOver = true))
  const times: CallTimes = { ok: [], ingest: [], run: [] }
  const traces: string[] = []
  const timed = async (kind: keyof CallTimes, expected: unknown, call: () => Promise<unknown>) => {
    const begun = performance.now()
    const answer = await call()
    if (answer !== expected) throw new Error(`${kind} was answered with ${String(answer)}`)
    times[kind].push(performance.now() - begun)
  }
  const calls = async (): Promise<void> => {
    while (!isOver) {
      for (let n = 0; n < 5; n++) {
        await timed('ok', 200, async () => (await weir.fetch('/ok')).status)
        const sent = trace()
        await timed('ingest', 202, async () => (await weir.fetch('/runs', jsonBody('POST', sent))).status)
        traces.push(sent.id)
      }
      await timed('run', 'hello nothing', () => greetingOf(weir, innocent))
    }
  }
  const [result] = await Promise.all([done, calls()])
  return { result, times, traces }
}

const trace = () => ({
  id: randomUUID(),
  name: 'x',
  run_type: 'chain',
  start_time: new Date().toISOString(),
  inputs: {},
})
