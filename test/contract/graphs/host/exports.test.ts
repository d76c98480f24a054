import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readDeploymentFile } from '../../../../src/graph/project/deployment-file.ts'
import type { JsonObject } from '../../../../src/schema/json.ts'
import { withoutPython } from '../../../support/python.ts'
import {
  ask,
  configOf,
  type HostBench,
  openHostBench,
  stateOf,
} from '../../../support/runs/hosts/graph-hosts.ts'

const MODULE = `
import { Annotation, START, StateGraph } from '@langchain/langgraph'
const State = Annotation.Root({ seen: Annotation() })
const graphOf = (seen, name = 'see') =>
  new StateGraph(State).addNode(name, () => ({ seen })).addEdge(START, name).compile()
// As createAgent of langchain and createDeepAgent of deepagents make them.
class Agent {
  constructor(graph) {
    this.graph = graph
  }
}
export const agent = new Agent(graphOf('an agent'))
export const later = Promise.resolve(agent)
export const makeAgent = async () => new Agent(graphOf('a made agent'))
export const makeGraph = (config, runtime) =>
  graphOf({ flavour: config.configurable.flavour, ...runtime }, runtime.accessContext.replace('.', '_'))
`
const EXPORTS = ['agent', 'later', 'makeAgent', 'makeGraph']

async function writeProject(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-exports-'))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

describe('exports of a TypeScript project', () => {
  let folder: string
  let bench: HostBench
  beforeAll(async () => {
    const graphs = Object.fromEntries(EXPORTS.map((name) => [name, `./graphs.mjs:${name}`]))
    folder = await writeProject({ 'langgraph.json': JSON.stringify({ graphs }), 'graphs.mjs': MODULE })
    bench = await openHostBench(EXPORTS, {
      file: await readDeploymentFile(join(folder, 'langgraph.json'), {}),
    })
  })
  afterAll(async () => {
    await bench.stop()
    await rm(folder, { recursive: true })
  })

  it.each([
    ['agent', 'an agent'],
    ['later', 'an agent'],
    ['makeAgent', 'a made agent'],
  ])('may be an agent that has its graph in a field: %s', async (name, seen) => {
    expect(stateOf((await bench.run(name, {})).end)).toEqual({ seen })
    expect(await ask(bench, { name: 'graph', graph_id: name, config: {}, xray: false })).toMatchObject({
      nodes: expect.arrayContaining([expect.objectContaining({ id: 'see' })]) as unknown,
    })
  })

  it('may be a factory, which gets the config and the runtime of the server', async () => {
    const config = { configurable: { flavour: 'sweet' } }
    const context = { tone: 'dry' }
    const job = await bench.job('makeGraph', {}, { config, context })
    expect(stateOf((await bench.execute(job)).end)).toEqual({
      seen: { flavour: 'sweet', accessContext: 'threads.create_run', executionRuntime: { context } },
    })
    const about = { graph_id: 'makeGraph', config: configOf({ thread_id: job.run.thread_id }) }
    await ask(bench, { name: 'update_state', ...about, values: { seen: 'x' }, as_node: 'threads_update' })
    const read = (await ask(bench, { name: 'state', ...about, subgraphs: false })) as { values: JsonObject }
    expect(read.values).toEqual({ seen: 'x' })
    const drawn = await ask(bench, {
      name: 'graph',
      graph_id: 'makeGraph',
      config: { configurable: {} },
      xray: false,
    })
    expect(JSON.stringify(drawn)).toContain('"assistants_read"')
  })
})

const WITHOUT = withoutPython()
it.skipIf(WITHOUT !== '')(
  `a Python graph imports from a folder of "dependencies" that is no package${WITHOUT}`,
  async () => {
    const folder = await writeProject({
      'langgraph.json': JSON.stringify({
        dependencies: ['./libs/common'],
        graphs: { dep: './apps/dep.py:graph' },
      }),
      'libs/common/shared_words.py': 'WORD = "from shared_words"\n',
      'apps/dep.py': `from langgraph.graph import START, StateGraph
from shared_words import WORD

graph = StateGraph(dict).add_node("see", lambda _: {"word": WORD}).add_edge(START, "see").compile()
`,
    })
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = await readDeploymentFile(join(folder, 'langgraph.json'), {})
    const bench = await openHostBench(['dep'], { file, language: 'python' })
    onTestFinished(() => bench.stop())
    const { end } = await bench.run('dep', {})
    expect(stateOf(end)).toEqual({ word: 'from shared_words' })
  },
)
