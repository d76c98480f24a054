import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NODE_COMPILE_CACHE } from '../../support/compile-cache.ts'
import type { GraphLanguage } from '../../../src/graph/project/graph-spec.ts'
import { PYTHON } from '../../support/python.ts'
import { until } from '../../support/stores/clickhouse/embedded-clickhouse.ts'

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url))
const KEY = 'dev_command_key_0123456789'

let dir: string
let child: ChildProcess
let exited: Promise<unknown>
let output = ''
let client: Client

const at = (...names: string[]): string => join(dir, ...names)
/** Writes a file in one step, as editors do. Otherwise `weir dev` could load a half-written file. */
async function write(name: string, text: string): Promise<void> {
  await writeFile(at('half-written'), text)
  await rename(at('half-written'), at(name))
}

function langgraphJson(...graphs: string[]): string {
  const file = (name: string): string => `./${name}.${project.extension}:graph`
  return JSON.stringify({ graphs: Object.fromEntries(graphs.map((name) => [name, file(name)])), env: '.env' })
}

/** The parts of a project in one language. */
interface DevProject {
  extension: 'ts' | 'py'
  /** The source of a module that exports `says`. */
  says(text: string): string
  /** The source of a graph with one node, which returns `text` and can wait for a file. */
  graph(text: string): string
  /** An expression for `text`: what `says` returns, followed by the name in the environment variable WHOM. */
  greeting: string
  /** The error message of Python or Node for an undefined name. */
  missing: string
}

const TYPESCRIPT: DevProject = {
  extension: 'ts',
  says: (text) => `export const says: string = '${text}'`,
  graph: (text) => `
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { Annotation, START, StateGraph } from '@langchain/langgraph'
import { says } from './lib/says.js'
const State = Annotation.Root({ until: Annotation<string>(), text: Annotation<string>() })
const node = async ({ until }: { until?: string }) => {
  console.log('the node has begun')
  while (until && !existsSync(until)) await delay(5)
  return { text: ${text} }
}
export const graph = new StateGraph(State).addNode('node', node).addEdge(START, 'node').compile()
`,
  greeting: 'says + " to " + process.env.WHOM',
  missing: 'ReferenceError',
}

const PYTHON_PROJECT: DevProject = {
  extension: 'py',
  says: (text) => `says = '${text}'`,
  graph: (text) => `
import asyncio
import os
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict
from lib.says import says
State = TypedDict("State", {"until": str, "text": str}, total=False)
async def node(state: State):
    print("the node has begun")
    while state.get("until") and not os.path.exists(state["until"]):
        await asyncio.sleep(0.005)
    return {"text": ${text}}
graph = StateGraph(State).add_node("node", node).add_edge(START, "node").compile()
`,
  greeting: 'says + " to " + os.environ["WHOM"]',
  missing: 'NameError',
}

let project: DevProject

/** Writes `lib/says`. */
const writeSays = (text: string): Promise<void> => write(`lib/says.${project.extension}`, text)

/** Writes the file of a graph. */
const writeGraph = (name: string, text: string): Promise<void> => write(`${name}.${project.extension}`, text)

/** Waits until this text appears after position `since` of the output. */
async function said(words: string, since: number): Promise<void> {
  await until(`"${words}" is said in:\n${output}`, () => output.includes(words, since))
}

/** Makes a change, and waits until the output reports it. */
async function after(change: Promise<unknown>, words: string): Promise<void> {
  const since = output.length
  await change
  await said(words, since)
}

const run = async (graph: string, input: Record<string, unknown> = {}): Promise<unknown> =>
  client.runs.wait(null, graph, { input, raiseError: false })

async function breakAndRepairTwo(): Promise<void> {
  const broken = project.extension === 'py' ? 'graph = missing' : 'export const graph = missing'
  await after(writeGraph('two', broken), 'Graph "two" cannot be loaded')
  await said(`two.${project.extension}:1: ${project.missing}`, 0)
  expect(await run('one')).toMatchObject({ text: 'back to Grace' })
  expect(await run('two')).toMatchObject({ __error__: { error: 'GraphLoadError' } })
  await after(writeGraph('two', project.graph('"two"')), 'Graphs are loaded: one, two')
  expect(await run('two')).toMatchObject({ text: 'two' })
}

/** Registers the tests of `weir dev` with a project in one language. */
export function devTests(language: GraphLanguage): void {
  beforeAll(async () => {
    project = language === 'python' ? PYTHON_PROJECT : TYPESCRIPT
    dir = await mkdtemp(join(tmpdir(), 'weir-dev-'))
    await mkdir(at('lib'))
    await write('.env', 'WHOM=Ada')
    await writeSays(project.says('hello'))
    await writeGraph('one', project.graph(project.greeting))
    await write('langgraph.json', langgraphJson('one'))
    child = spawn(process.execPath, [MAIN, 'dev'], {
      cwd: dir,
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE,
        VIRTUAL_ENV: join(PYTHON, '..', '..'),
        DATA_DIR: at('data'),
        BOOTSTRAP_API_KEY: KEY,
        PORT: '0',
        DEPLOYMENT_PORT: '0',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    exited = once(child, 'exit')
    child.stdout?.on('data', (text: Buffer) => void (output += text.toString()))
    child.stderr?.on('data', (text: Buffer) => void (output += text.toString()))
    await said('Graphs are loaded: one', 0)
    const apiUrl = /Deployment +(\S+)/.exec(output)?.[1] ?? ''
    client = new Client({ apiUrl, apiKey: KEY })
  })
  afterAll(async () => {
    child.kill('SIGTERM')
    await exited
    await rm(dir, { recursive: true, force: true, maxRetries: 5 })
    expect(child.exitCode).toBe(0)
  })

  describe('weir dev', () => {
    it('prints the addresses, and the output of graphs', async () => {
      expect(output).toMatch(/Graphs +langgraph\.json/)
      expect(output).toMatch(/Platform +http:\/\/127\.0\.0\.1:\d+/)
      expect(output).toContain('the value of BOOTSTRAP_API_KEY')
      expect(output).not.toContain(KEY)
      await after(run('one'), 'the node has begun')
    })

    it('serves changed modules and env, while active runs end with the code they began with', async () => {
      const { thread_id } = await client.threads.create()
      const before = output.length
      const under = client.runs.wait(thread_id, 'one', { input: { until: at('go') } })
      await said('the node has begun', before)
      await after(writeSays(project.says('good morning')), 'Graphs are loaded: one')
      expect(await run('one')).toMatchObject({ text: 'good morning to Ada' })
      await after(write('.env', 'WHOM=Grace'), 'Graphs are loaded: one')
      expect(await run('one')).toMatchObject({ text: 'good morning to Grace' })
      await write('go', '')
      expect(await under).toMatchObject({ text: 'hello to Ada' })
    })

    it('reports why code cannot be loaded, fails runs meanwhile, and serves it once it is corrected', async () => {
      await after(writeSays('says = ('), 'cannot be loaded')
      expect(await run('one')).toMatchObject({
        __error__: { error: 'GraphLoadError', message: expect.stringContaining(`says.${project.extension}`) },
      })
      expect(await client.threads.search()).not.toEqual([])
      await after(rm(at(`lib/says.${project.extension}`)), 'cannot be loaded')
      await after(writeSays(project.says('back')), 'Graphs are loaded: one')
      expect(await run('one')).toMatchObject({ text: 'back to Grace' })
    })

    it('follows langgraph.json, and keeps its previous content while it is invalid', async () => {
      await writeGraph('two', project.graph('"two"'))
      await after(write('langgraph.json', langgraphJson('one', 'two')), 'Graphs are loaded: one, two')
      expect(await run('two')).toMatchObject({ text: 'two' })
      expect((await client.assistants.search()).map(({ graph_id }) => graph_id).sort()).toEqual([
        'one',
        'two',
      ])
      await breakAndRepairTwo()
      await after(write('langgraph.json', '{ "graphs"'), 'is not valid JSON')
      expect(await run('two')).toMatchObject({ text: 'two' })
      await after(write('langgraph.json', langgraphJson('two')), 'Graphs are loaded: two')
      await expect(run('one')).rejects.toMatchObject({ status: 404 })
    })
  })
}
