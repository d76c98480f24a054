import { Client } from '@langchain/langgraph-sdk'
import * as stream from '@langchain/langgraph-sdk/stream'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../../../support/eventually.ts'
import { startRecordingProxy } from '../../../../support/runs/streams/recording-proxy.ts'
import { useDeployment } from '../../../deployments/use-deployment.ts'
import { describeCases, describeFaults } from './cases/player.ts'
import { inLong } from '../../../../support/length.ts'
import { jsonBody } from '../../../../support/servers/weir-process.ts'

const setup = useDeployment('protocol-v2')

describeCases({ version: '1.15.0', Client, stream }, setup)
describeFaults()

/** Sends a command with parameters that the SDK never sends. Resolves with the answer. */
async function command(thread_id: string, method: string, params: object): Promise<Record<string, unknown>> {
  const response = await setup().request(
    `/threads/${thread_id}/commands`,
    jsonBody('POST', { id: 1, method, params }),
  )
  return (await response.json()) as Record<string, unknown>
}

/** Starts the graph. Resolves with the ids of the interrupts that it sends, once there are `count`. */
async function asked(thread_id: string, params: object, count: number): Promise<string[]> {
  const proxy = await startRecordingProxy(setup().url, setup().weir.key)
  const end = new AbortController()
  try {
    expect(await command(thread_id, 'run.start', params)).toMatchObject({ type: 'success' })
    const stream = await fetch(`${proxy.url}/threads/${thread_id}/stream/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ channels: ['input'] }),
      signal: end.signal,
    })
    expect(stream.status).toBe(200)
    void stream.text().catch(() => undefined)
    return await eventually(async () => {
      const found = proxy.events
        .map(({ event }) => event)
        .filter(({ method }) => method === 'input.requested')
      expect(found.length).toBeGreaterThanOrEqual(count)
      return found.map(({ params }) => (params.data as { interrupt_id: string }).interrupt_id)
    })
  } finally {
    end.abort()
    await proxy.close()
  }
}

describe('answers to interrupts (V-10 to V-12) and agent.getTree', () => {
  it('an answer that comes before the asking run has ended waits for it; a second one is refused (V-12)', async () => {
    const thread_id = crypto.randomUUID()
    const config = { configurable: { delay: 3000 } }
    const [interrupt_id] = await asked(thread_id, { assistant_id: 'slowAsk', input: {}, config }, 1)
    const runs = await setup().client.runs.list(thread_id)
    expect(runs.map(({ status }) => status)).toEqual(['running'])
    const answer = { interrupt_id, response: 'early' }
    expect(await command(thread_id, 'input.respond', answer)).toMatchObject({ type: 'success' })
    expect(await command(thread_id, 'input.respond', answer)).toMatchObject({ error: 'no_such_interrupt' })
    await eventually(async () => {
      const { values } = await setup().client.threads.getState<{ a?: string; b?: string }>(thread_id)
      expect(values).toMatchObject({ a: 'early', b: 'slow' })
    })
    expect(await setup().client.runs.list(thread_id)).toHaveLength(2)
  })

  inLong(() => {
    it('an interrupt may be answered while the run of another answer goes on (V-11, V-12)', async () => {
      const thread_id = crypto.randomUUID()
      const ids = await asked(thread_id, { assistant_id: 'slowAnswers', input: {} }, 2)
      const statuses = async () => (await setup().client.runs.list(thread_id)).map(({ status }) => status)
      await eventually(async () => expect(await statuses()).not.toContain('running'))
      const respond = (interrupt_id: string | undefined, response: string) =>
        command(thread_id, 'input.respond', { interrupt_id, response })
      expect(await respond(ids[0], 'slow')).toMatchObject({ type: 'success' })
      await eventually(async () => expect(await statuses()).toContain('running'))
      expect(await respond(ids[1], 'quick')).toMatchObject({ type: 'success' })
      for (const id of ids) expect(await respond(id, 'again')).toMatchObject({ error: 'no_such_interrupt' })
      await eventually(async () => {
        const { values, next } = await setup().client.threads.getState<{ a?: string; b?: string }>(thread_id)
        expect([Object.values(values).toSorted(), next]).toEqual([['quick', 'slow'], []])
      })
    })

    it('overlapping answers at the same time answer each interrupt once (V-12)', async () => {
      const thread_id = crypto.randomUUID()
      const ids = await asked(thread_id, { assistant_id: 'both', input: {} }, 2)
      await eventually(async () => {
        const [run] = await setup().client.runs.list(thread_id)
        expect(run?.status).not.toBe('running')
      })
      const of = (list: readonly string[]) => ({
        responses: list.map((interrupt_id) => ({ interrupt_id, response: 'X' })),
      })
      const answers = await Promise.all(
        [ids, ids.slice(0, 1), ids.slice(1), ids].map((list) =>
          command(thread_id, 'input.respond', of(list)),
        ),
      )
      expect(answers.filter(({ type }) => type === 'success').length).toBeGreaterThan(0)
      await eventually(async () => {
        const runs = await setup().client.runs.list(thread_id)
        expect(runs.every(({ status }) => status === 'success' || status === 'interrupted')).toBe(true)
      })
      const runs = await setup().client.runs.list(thread_id)
      const times = new Map(ids.map((id) => [id, 0]))
      for (const { kwargs } of runs as unknown as { kwargs: { command: { resume?: object } | null } }[])
        for (const id of Object.keys(kwargs.command?.resume ?? {})) times.set(id, (times.get(id) ?? 0) + 1)
      expect(Math.max(...times.values())).toBe(1)
    })

    it('the answering run has the assistant of the run that asked (V-10)', async () => {
      const thread_id = crypto.randomUUID()
      const { assistant_id } = await setup().client.assistants.create({ graphId: 'approve' })
      const [interrupt_id] = await asked(thread_id, { assistant_id, input: { messages: [] } }, 1)
      await eventually(async () =>
        expect(await command(thread_id, 'input.respond', { interrupt_id, response: 1 })).toMatchObject({
          type: 'success',
        }),
      )
      const runs = await setup().client.runs.list(thread_id)
      expect(runs.map((run) => run.assistant_id)).toEqual([assistant_id, assistant_id])
    })
  })

  it('agent.getTree has the graphs and nodes of a run with their status', async () => {
    const thread_id = crypto.randomUUID()
    const { result } = await command(thread_id, 'run.start', {
      assistant_id: 'nested',
      input: { messages: [{ role: 'user', content: 'hi' }] },
    })
    const { run_id } = result as { run_id: string }
    await setup().client.runs.join(thread_id, run_id)
    const node = (graph_name: string, ...children: object[]) => ({
      graph_name,
      status: 'completed',
      ...(children.length > 0 && { children }),
    })
    await eventually(async () =>
      expect((await command(thread_id, 'agent.getTree', { run_id }))['result']).toMatchObject({
        tree: { namespace: [], ...node('nested', node('after'), node('child', node('speak'))) },
      }),
    )
    expect(await command(thread_id, 'agent.getTree', { run_id: crypto.randomUUID() })).toMatchObject({
      error: 'no_such_run',
    })
  })
})
