import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { PYTHON, withoutPython } from '../../support/python.ts'
import { writePythonProject } from '../../support/runs/python-project.ts'
import { startWeir, type WeirProcess } from '../../support/servers/server.ts'
import { LONG_MS } from '../../support/campaign.ts'
import { newFolder } from '../../support/folder.ts'

// Python starts slowly, once for each host.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const FIXTURES = fileURLToPath(new URL('../../fixtures/', import.meta.url))
const ENVIRONMENT = join(PYTHON, '..', '..')
const WITHOUT = withoutPython()

interface TracedRun {
  id: string
  dotted_order: string
  parent_run_id: string | null
  status: string
  tags: string[]
  extra: { metadata: Record<string, unknown> }
  [field: string]: unknown
}

/** The part of the metadata that comes from LangChain, LangGraph and the test. */
function pick(metadata: Record<string, unknown>): Record<string, unknown> {
  const own = /^(of$|ls_|langgraph_(step|node|triggers|path)$)/
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => own.test(name)))
}

function withoutIds(value: object): object {
  const text = JSON.stringify(value).replaceAll(/"id":"[^"]*"/g, '"id":""')
  return JSON.parse(text) as object
}

describe.skipIf(WITHOUT !== '')(`more of Python graphs${WITHOUT}`, () => {
  let dir: string
  let weir: WeirProcess
  let client: Client
  const wait = async (graph: string, input: object, thread: string | null = null): Promise<unknown> =>
    client.runs.wait(thread as null, graph, { input: input as Record<string, unknown>, raiseError: false })

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'weir-python-'))
    const GRAPHS = await writePythonProject(dir)
    weir = await startWeir({ GRAPHS, VIRTUAL_ENV: ENVIRONMENT, HOST_STALL_SECONDS: '2', OTLP_GRPC_PORT: '0' })
    client = new Client({ apiUrl: weir.deploymentUrl, apiKey: weir.key })
  })
  afterAll(async () => {
    await weir.stop().catch(() => undefined)
    await rm(dir, { recursive: true })
  })

  it('D-45: have the trace that the SDK of LangSmith would have sent, with its tokens and costs', async () => {
    const alone = randomUUID()
    const env = {
      PATH: process.env['PATH'],
      LANGSMITH_TRACING: 'true',
      LANGSMITH_ENDPOINT: weir.url,
      LANGSMITH_API_KEY: weir.key,
      LANGSMITH_PROJECT: 'alone',
    }
    const cwd = `${FIXTURES}python-graphs`
    await promisify(execFile)(PYTHON, ['trace_alone.py', alone], { cwd, env })
    const { thread_id } = await client.threads.create()
    const input = { messages: [{ role: 'user', content: 'hi' }] }
    const config = { tags: ['mine'] }
    const { run_id } = await client.runs.create(thread_id, 'model', {
      input,
      config,
      metadata: { of: 'test' },
    })
    await client.runs.join(thread_id, run_id)
    const [own, sent] = [await traceOf(run_id), await traceOf(alone)]
    expect(own).toEqual(sent)
    expect(own.find(({ run_type }) => run_type === 'llm')).toMatchObject({
      prompt_tokens: 1000,
      completion_tokens: 4,
      // 0.15 $ and 0.60 $ for a million tokens.
      total_cost: '0.0001524',
    })
  })

  /** The runs of a finished trace in order, without the values that differ each time. */
  async function traceOf(trace: string): Promise<Record<string, unknown>[]> {
    const select = ['name', 'run_type', 'status', 'parent_run_id', 'inputs', 'outputs', 'tags', 'extra']
    const counts = ['prompt_tokens', 'completion_tokens', 'total_tokens', 'total_cost', 'dotted_order']
    return eventually(async () => {
      const { runs } = await weir.json<{ runs: TracedRun[] }>('/api/v1/runs/query', {
        trace,
        select: ['id', ...select, ...counts],
      })
      expect(runs.length).toBeGreaterThan(2)
      expect(runs.map(({ status }) => status)).not.toContain('pending')
      const ordered = runs.toSorted((a, b) => (a.dotted_order < b.dotted_order ? -1 : 1))
      const places = new Map(ordered.map(({ id }, place) => [id, place]))
      return ordered.map((one) => ({
        ...withoutIds(Object.fromEntries([...select, ...counts].map((field) => [field, one[field]]))),
        dotted_order: undefined,
        extra: pick(one.extra.metadata),
        tags: one.tags.toSorted(),
        parent_run_id: one.parent_run_id && places.get(one.parent_run_id),
      }))
    })
  }

  it('D-42: end their host alone, and the run at fault fails with the place', async () => {
    expect(await wait('hostile', { act: 'exit' })).toMatchObject({
      __error__: { error: 'HostLost', message: 'The graph ended its process with code 3.' },
    })
    const blocked = JSON.stringify(await wait('hostile', { act: 'block' }))
    expect(blocked).toMatch(/A node held up the graph host for \d+ s\. \(\S+hostile\.py:\d+\)/)
    const left = { __error__: { error: 'HostLost', message: 'The graph ended its process with code 4.' } }
    expect(await wait('spinning', { ask: 'leave' })).toMatchObject(left)
    // A signal handler of Python cannot interrupt native code.
    const spun = JSON.stringify(await wait('spinning', { ask: 'spin' }))
    expect(spun).toMatch(/A node held up the graph host for \d+ s\. \(\S+features\.py:\d+\)/)
    expect(await wait('hostile', { act: 'none' })).toMatchObject({ log: 'acted' })
  })
})

describe('a project with Python graphs on a machine without Python', () => {
  it('HOST-5: says what is missing, and the other graphs work', async () => {
    const dir = await newFolder()
    const GRAPHS = await writePythonProject(dir)
    const weir = await startWeir({ GRAPHS, PATH: dir, OTLP_GRPC_PORT: '0' })
    try {
      const client = new Client({ apiUrl: weir.deploymentUrl, apiKey: weir.key })
      const wait = (graph: string) =>
        client.runs.wait(null, graph, { input: { kind: 'plain' }, raiseError: false })
      expect(JSON.stringify(await wait('kinds'))).toContain('python3 is not on the PATH')
      expect(await wait('typescript')).toMatchObject({ log: ['begun', 'answered plain', 'finished'] })
    } finally {
      await weir.stop().catch(() => undefined)
    }
  })
})
