import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@langchain/langgraph-sdk'
import { afterAll, describe, expect, it } from 'vitest'
import { useFolder } from '../../support/folder.ts'
import { NODE_COMPILE_CACHE } from '../../support/compile-cache.ts'
import { until } from '../../support/stores/clickhouse/embedded-clickhouse.ts'

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
const KEY = 'hosted_graphs_key_0123456789'

const WORKS = `
import { Annotation, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph'
import { getLogger } from '@langchain/langgraph-sdk/logging'
const logger = getLogger()
const State = Annotation.Root({ seen: Annotation<unknown>() })
const node = (_: unknown, { context, configurable }: LangGraphRunnableConfig) => {
  logger.warn('the node was here', { n: 7 })
  return { seen: { context, model: configurable?.model } }
}
export const graph = new StateGraph(State).addNode('node', node).addEdge(START, 'node').compile()
`

/** A module that cannot be loaded: its code, the line of the error, and the reason. */
type Broken = [code: string, line: number | null, reason: RegExp]
const BROKEN: [name: string, Broken][] = [
  [
    'throws.ts',
    ['const one: number = 1\n\nexport const graph = missing.name', 3, /^ReferenceError: missing is/],
  ],
  [
    'package.mjs',
    ["// asks for\nimport { x } from 'no-such-package'\nexport const graph = x", 2, /no-such-package/],
  ],
  ['exits.mjs', ['if (true) {\n  process.exit(3)\n}', 2, /process\.exit\(3\)/]],
  ['export.mjs', ['export const other = 1', null, /^It has no export "graph"\. It exports other\.$/]],
  ['syntax.ts', ['const one = 1\nexport const graph = ]', 2, /^SyntaxError: Unexpected/]],
  ['syntax.mjs', ['const one = 1\nexport const graph = ]', 2, /^SyntaxError: Unexpected token/]],
  ['module.ts', ["// asks for\nimport { x } from './none.js'\nexport const graph = x", 2, /none\.js/]],
  ['number.mjs', ['export const graph = 1', null, /neither a compiled graph, nor a builder/]],
]

interface LogLine {
  level: string
  msg: string
  graph?: string
  [field: string]: unknown
}

let dir: string
let child: ChildProcess
let url: string
let client: Client
let banner = ''
let output = ''
const log = (): LogLine[] =>
  output
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LogLine)
const listening = () => log().find(({ msg }) => msg === 'listening')
const failures = () => log().filter(({ msg }) => msg === 'a graph cannot be loaded')
/** The banner waits at most ten seconds for graphs. A busy machine may need longer to load them. */
const BANNER_MS = 9_000

useFolder(async (made) => {
  dir = made
  await writeFile(join(dir, 'works.ts'), WORKS)
  for (const [name, [text]] of BROKEN) await writeFile(join(dir, name), text)
  const names = ['works.ts', ...BROKEN.map(([name]) => name)]
  const config = { works: { configurable: { model: 'of env' }, context: { tone: 'dry' } } }
  const langgraph = {
    graphs: Object.fromEntries(names.map((name) => [name.replace(/\.ts$/, ''), `./${name}:graph`])),
    env: { LANGGRAPH_CONFIG: JSON.stringify(config) },
  }
  await writeFile(join(dir, 'langgraph.json'), JSON.stringify(langgraph))
  const ports = { PORT: '0', DEPLOYMENT_PORT: '0' }
  const places = { DATA_DIR: join(dir, 'data'), GRAPHS: join(dir, 'langgraph.json') }
  child = spawn(process.execPath, [MAIN, 'serve'], {
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE, BOOTSTRAP_API_KEY: KEY, ...ports, ...places },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout?.on('data', (text: Buffer) => void (output += text.toString()))
  child.stderr?.on('data', (text: Buffer) => void (banner += text.toString()))
  await until(`the banner is printed, after\n${output}`, () => banner.includes('API documentation'))
  await until('every broken graph is logged', () => failures().length >= BROKEN.length)
  url = String(listening()?.['deployment_url'])
  client = new Client({ apiUrl: url, apiKey: KEY })
})
afterAll(async () => {
  child.kill('SIGTERM')
  await once(child, 'exit')
})

describe('RUN-35: a graph that cannot be loaded', () => {
  it.each(BROKEN)('is reported in four places: %s', async (name, [, line, words]) => {
    const graph = name.replace(/\.ts$/, '')
    const file = join(dir, name)
    const told = failures().filter((one) => one.graph === graph)
    expect(told).toEqual([expect.objectContaining({ level: 'error', file, line })])
    const reason = String(told[0]?.['reason'])
    expect(reason).toMatch(words)
    const message = `Graph "${graph}" cannot be loaded: ${file}${line === null ? '' : `:${line}`}: ${reason}`
    const timeOf = (line: LogLine | undefined) => Date.parse(String(line?.['time']))
    const loadedAfter = timeOf(told[0]) - timeOf(listening())
    expect(loadedAfter).not.toBeNaN()
    if (loadedAfter < BANNER_MS) expect(banner).toContain(`\n${message}\n`)
    const ended = await client.runs.wait(null, graph, { input: {}, raiseError: false })
    expect(ended).toEqual({ __error__: { error: 'GraphLoadError', message } })
    const weir = { unavailable: message }
    const [found] = await client.assistants.search({ graphId: graph })
    expect(found).toMatchObject({ graph_id: graph, weir })
    expect(await client.assistants.get(found?.assistant_id ?? '')).toMatchObject({ weir })
  })

  it('fails a run after one attempt, and refuses calls that need its code', async () => {
    const thread = await client.threads.create()
    const run = await client.runs.create(thread.thread_id, 'throws', { input: {} })
    await client.runs.join(thread.thread_id, run.run_id)
    expect(await client.runs.get(thread.thread_id, run.run_id)).toMatchObject({
      status: 'error',
      weir: { attempt: 1 },
    })
    const answer = await fetch(`${url}/assistants/throws/schemas`, { headers: { 'x-api-key': KEY } })
    expect(answer.headers.get('retry-after')).toBeNull()
    expect([answer.status, await answer.json()]).toEqual([
      409,
      { detail: expect.stringContaining('throws.ts:3: ReferenceError'), code: 'graph_not_loaded' },
    ])
  })
})

describe('the other graphs', () => {
  it('work, with their defaults of LANGGRAPH_CONFIG', async () => {
    expect(await client.runs.wait(null, 'works', { input: {} })).toEqual({
      seen: { context: { tone: 'dry' }, model: 'of env' },
    })
    const [works] = await client.assistants.search({ graphId: 'works' })
    expect(works).not.toHaveProperty('weir')
    expect(works).toMatchObject({
      config: { configurable: { model: 'of env' } },
      context: { tone: 'dry' },
      metadata: { created_by: 'system' },
    })
  })

  it('log lines appear in the log of the server, with graph, run and node', async () => {
    const thread = await client.threads.create()
    const { run_id } = await client.runs.create(thread.thread_id, 'works', { input: {} })
    await client.runs.join(thread.thread_id, run_id)
    await until('the line is logged', () => log().some((line) => line['run_id'] === run_id))
    expect(log().find((line) => line['run_id'] === run_id)).toMatchObject({
      level: 'warn',
      msg: 'graph logged',
      text: 'the node was here',
      fields: { n: 7 },
      graph: 'works',
      node: 'node',
    })
  })
})
