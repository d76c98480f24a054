import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Client as GraphClient } from '@langchain/langgraph-sdk'
import type { Client as TraceClient } from 'langsmith'
import type { traceable as Traceable } from 'langsmith/traceable'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { LONG_MS } from '../support/campaign.ts'
import { eventually } from '../support/eventually.ts'
import { PYTHON, withoutPython } from '../support/python.ts'
import { unknownClientReads } from '../support/runs/python-client-reads.ts'
import { borrowWeir, type UsedWeir } from '../support/servers/use-weir.ts'
import { DEPLOYMENT_NAME } from '../support/servers/weir-pool.ts'
import {
  aliasOf,
  javascriptClients,
  langsmithEnvironments,
  langsmithPython,
  pythonClients,
  pythonFolder,
  withoutField,
} from './installed.ts'
import { type ClientRow, CLIENTS, type Language } from './table.ts'

// Many releases of the clients start beside each other.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

let weir: UsedWeir
beforeAll(async () => {
  weir = await borrowWeir('/weir/deployment')
})
afterAll(async () => {
  expect(await weir.stop()).toBe(0)
})
const deploymentUrl = (): string => new URL(`/deployments/${DEPLOYMENT_NAME}`, weir.url).href
const rows = (language: Language, name: string): ClientRow[] =>
  CLIENTS.filter((row) => row[0] === language && row[1] === name)

const RAN = {
  waited: ['begun', 'answered plain', 'finished'],
  streamed: ['metadata', 'updates', 'values'],
  interrupted: 'interrupted',
  answer: 'yes',
  history: true,
  item: { n: 1 },
}

const withoutJavascript = withoutField(javascriptClients())
describe.skipIf(withoutJavascript !== '')(`SDKs for JavaScript${withoutJavascript}`, () => {
  const require = createRequire(join(javascriptClients().path, 'package.json'))
  const load = async <Module>(specifier: string): Promise<Module> =>
    (await import(pathToFileURL(require.resolve(specifier)).href)) as Module

  it.each(rows('javascript', 'langsmith'))('%s: %s %s of %s traces and reads back', async (...row) => {
    const { Client } = await load<{ Client: typeof TraceClient }>(aliasOf(row))
    const { traceable } = await load<{ traceable: typeof Traceable }>(`${aliasOf(row)}/traceable`)
    const { url, key } = weir
    const client = new Client({ apiUrl: url, apiKey: key, autoBatchTracing: true })
    const project_name = `field-${randomUUID()}`
    const model = traceable(
      () => ({ usage_metadata: { input_tokens: 11, output_tokens: 7, total_tokens: 18 } }),
      { name: 'model', run_type: 'llm', client, project_name, tracingEnabled: true },
    )
    await traceable(async () => model(), { name: 'chain', client, project_name, tracingEnabled: true })()
    await client.awaitPendingTraceBatches()
    await eventually(async () => {
      const runs = []
      for await (const run of client.listRuns({ projectName: project_name })) runs.push(run)
      expect(runs.map(({ name }) => name).toSorted()).toEqual(['chain', 'model'])
      const root = runs.find(({ name }) => name === 'chain')
      expect(await client.readRun(root?.id ?? '')).toMatchObject({ total_tokens: 18, status: 'success' })
    })
  })

  it.each(rows('javascript', '@langchain/langgraph-sdk'))('%s: %s %s of %s runs a graph', async (...row) => {
    const { Client } = await load<{ Client: typeof GraphClient }>(aliasOf(row))
    const client = new Client({ apiUrl: deploymentUrl(), apiKey: weir.key })
    const { thread_id } = await client.threads.create()
    const waited = (await client.runs.wait(thread_id, 'kinds', { input: { kind: 'plain' } })) as {
      log: string[]
    }
    const streamed = new Set<string>()
    const streamMode = ['updates', 'values'] as ('updates' | 'values')[]
    const stream = client.runs.stream(thread_id, 'kinds', { input: { kind: 'plain' }, streamMode })
    for await (const { event } of stream) streamed.add(event)
    const asked = (await client.threads.create()).thread_id
    const { run_id } = await client.runs.create(asked, 'kinds', { input: { kind: 'ask' } })
    await client.runs.join(asked, run_id)
    const { status } = await client.threads.get(asked)
    const answered = await client.runs.wait(asked, 'kinds', { command: { resume: 'yes' } })
    await client.store.putItem(['field'], 'k', { n: 1 })
    expect({
      waited: waited.log,
      streamed: [...streamed].toSorted(),
      interrupted: status,
      answer: (answered as { answer: string }).answer,
      history: (await client.threads.getHistory(asked)).length > 3,
      item: (await client.store.getItem(['field'], 'k'))?.value,
    }).toEqual(RAN)
  })
})

const withoutPip = withoutPython() || withoutField(...langsmithEnvironments(), ...pythonClients())
describe.skipIf(withoutPip !== '')(`SDKs for Python${withoutPip}`, () => {
  /** The output of a script with a release, in the environment with what the release needs. */
  async function run(row: ClientRow, script: string, env: Record<string, string>): Promise<unknown> {
    const python = row[1] === 'langsmith' ? langsmithPython(row) : PYTHON
    const file = fileURLToPath(new URL(`clients/${script}`, import.meta.url))
    const { stdout } = await promisify(execFile)(python, ['-W', 'ignore', file], {
      env: { PATH: process.env['PATH'] ?? '', PYTHONPATH: pythonFolder(row), ...env },
    })
    return JSON.parse(stdout) as unknown
  }

  it.concurrent.each(rows('python', 'langsmith'))('%s: %s %s of %s traces and reads back', async (...row) => {
    const { url, key } = weir
    const account = { LANGSMITH_ENDPOINT: url, LANGSMITH_API_KEY: key, LANGSMITH_TRACING: 'true' }
    const said = await run(row, 'send_traces.py', { ...account, PROJECT: `field-${randomUUID()}` })
    expect(said).toMatchObject({ names: ['chain', 'model'], tokens: 18, feedback: [1] })
    // Releases before 0.9 have no resources of v2.
    const isOld = Number(row[2].split('.')[1]) < 9
    expect((said as { v2: unknown }).v2).toEqual(isOld ? null : ['chain', 'model'])
  })

  it.each(rows('python', 'langsmith'))(
    '%s: %s %s of %s reads only what the Python host knows',
    async (...row) => {
      expect(await unknownClientReads(pythonFolder(row))).toEqual([])
    },
  )

  it.concurrent.each(rows('python', 'langgraph-sdk'))('%s: %s %s of %s runs a graph', async (...row) => {
    const env = { DEPLOYMENT_URL: deploymentUrl(), KEY: weir.key }
    expect(await run(row, 'run_graphs.py', env)).toMatchObject({ ...RAN, assistants: 1 })
  })
})
