import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, parse } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { LONG_MS } from '../support/campaign.ts'
import { eventually } from '../support/eventually.ts'
import { startWeir, type WeirProcess } from '../support/servers/server.ts'
import { frameworks, withoutField } from './installed.ts'
import { type FrameworkRow, FRAMEWORKS, type Language } from './table.ts'

// A host loads all frameworks of its language, which takes minutes on a busy machine.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const PROJECT = fileURLToPath(new URL('../fixtures/field', import.meta.url))
const idOf = ([, , , module, graph]: FrameworkRow): string => `${parse(module).name}_${graph}`
const INPUT = { messages: [{ role: 'user', content: '1 + 2' }] }

interface TracedRun {
  id: string
  run_type: string
  status: string
  parent_run_id: string | null
  total_tokens: number
}

describe.each(['javascript', 'python'] satisfies Language[])('frameworks for %s', (language) => {
  const { path } = frameworks(language)
  const without = withoutField(frameworks(language))
  const rows = FRAMEWORKS.filter(([one]) => one === language)
  let dir: string
  let weir: WeirProcess
  let client: Client

  beforeAll(async () => {
    if (without !== '') return
    dir = await mkdtemp(join(tmpdir(), 'weir-field-'))
    await cp(PROJECT, dir, { recursive: true })
    if (language === 'javascript') await symlink(join(path, 'node_modules'), join(dir, 'node_modules'))
    const file = join(dir, 'langgraph.json')
    const graphs = Object.fromEntries(rows.map((row) => [idOf(row), `./${row[3]}:${row[4]}`]))
    await writeFile(file, JSON.stringify({ dependencies: ['.'], graphs }))
    const python: Record<string, string> = language === 'python' ? { VIRTUAL_ENV: path } : {}
    weir = await startWeir({ GRAPHS: file, OTLP_GRPC_PORT: '0', ...python })
    client = new Client({ apiUrl: weir.deploymentUrl, apiKey: weir.key })
  })
  afterAll(async () => {
    if (without !== '') return
    await weir.stop().catch(() => undefined)
    await rm(dir, { recursive: true })
  })

  it.skipIf(without !== '').each(rows)(
    `%s %s %s is hosted: %s, %s answers, streams, draws itself and is traced whole${without}`,
    async (...row) => {
      const graph = idOf(row)
      const { thread_id } = await client.threads.create()
      let values = await client.runs.wait(thread_id, graph, { input: INPUT, raiseError: false })
      if (graph.endsWith('human_in_the_loop')) {
        expect(values).toMatchObject({ __interrupt__: [expect.anything()] })
        const command = { resume: { decisions: [{ type: 'approve' }] } }
        values = await client.runs.wait(thread_id, graph, { command, raiseError: false })
      }
      expect(values).toMatchObject({ messages: expect.any(Array) as unknown })
      const { messages } = values as { messages: { type: string; content: string }[] }
      expect(messages.at(-1)).toMatchObject({ type: 'ai', content: 'the sum is 3' })
      const streamed: string[] = []
      const streamMode = ['messages-tuple', 'updates'] as ('messages-tuple' | 'updates')[]
      for await (const { event } of client.runs.stream(null, graph, { input: INPUT, streamMode }))
        streamed.push(event)
      expect(streamed).toContain('updates')
      expect(streamed).not.toContain('error')
      if (!graph.endsWith('lcel')) expect(streamed).toContain('messages')
      expect((await client.assistants.getGraph(graph)).nodes.length).toBeGreaterThan(1)
      await expectWholeTrace(thread_id, /lcel|human_in_the_loop/.test(graph) ? 1 : 2)
    },
  )

  /** All answers of models in the thread's newest run are in its trace, once, with their tokens. */
  async function expectWholeTrace(thread_id: string, calls: number): Promise<void> {
    const [run] = await client.runs.list(thread_id)
    const trace = (run as unknown as { weir: { trace_id: string } }).weir.trace_id
    const select = ['id', 'run_type', 'status', 'parent_run_id', 'total_tokens']
    await eventually(async () => {
      const { runs } = await weir.json<{ runs: TracedRun[] }>('/api/v1/runs/query', { trace, select })
      const ids = new Set(runs.map(({ id }) => id))
      expect(runs.filter(({ parent_run_id }) => parent_run_id !== null && !ids.has(parent_run_id))).toEqual(
        [],
      )
      expect(runs.map(({ status }) => status)).not.toContain('pending')
      const models = runs.filter(({ run_type, status }) => run_type === 'llm' && status === 'success')
      expect(models.length).toBeGreaterThanOrEqual(calls)
      expect(models.map(({ total_tokens }) => total_tokens)).toEqual(models.map(() => 18))
    })
  }
})
