import { describe, expect, it } from 'vitest'
import { eventually } from '../../../../support/eventually.ts'
import { useDeployment } from '../../../deployments/use-deployment.ts'
import { inLong } from '../../../../support/length.ts'
import { jsonBody } from '../../../../support/servers/weir-process.ts'

const setup = useDeployment('protocol-v2')
const human = (content: string) => ({ messages: [{ role: 'user', content, id: 'u1' }] })

/** Starts a run over protocol v2; resolves with its id. */
async function start(thread_id: string, params: object): Promise<string> {
  const response = await setup().request(
    `/threads/${thread_id}/commands`,
    jsonBody('POST', { id: 1, method: 'run.start', params }),
  )
  const answer = (await response.json()) as { result: { run_id: string } }
  return answer.result.run_id
}

interface TracedCall {
  run_type: string
  [field: string]: unknown
}

/** The model call in the trace of the thread's only run. Waits until it has ended. */
function callOf(thread_id: string): Promise<TracedCall> {
  return eventually(async () => {
    const { runs } = await setup().weir.json<{ runs: TracedCall[] }>('/api/v1/runs/query', {
      filter: `eq(thread_id, "${thread_id}")`,
      select: [
        ...['name', 'run_type', 'status', 'llm', 'first_token_time', 'prompt_tokens', 'completion_tokens'],
        ...['total_tokens', 'total_cost', 'prompt_cost', 'prompt_token_details'],
      ],
    })
    const call = runs.find(({ run_type }) => run_type === 'llm')
    expect(call).toMatchObject({ status: 'success' })
    return call as TracedCall
  })
}

describe('a run of one protocol seen over the other (V-40, V-41, V-47)', () => {
  inLong(() => {
    it('model, tokens, cached ones too, cost and first token are equal (V-47)', async () => {
      const { thread_id } = await setup().client.threads.create()
      const stream = setup().client.runs.stream(thread_id, 'priced', {
        input: human('hi'),
        streamMode: ['messages-tuple'],
      })
      for await (const _ of stream);
      const second = crypto.randomUUID()
      await setup().client.runs.join(
        second,
        await start(second, { assistant_id: 'priced', input: human('hi') }),
      )
      const [v1, v2] = [await callOf(thread_id), await callOf(second)]
      expect(v1).toMatchObject({
        prompt_tokens: 1000,
        completion_tokens: 50,
        total_cost: expect.any(String) as string,
      })
      const counted = ['prompt_tokens', 'completion_tokens', 'total_tokens', 'prompt_token_details']
      const facts = ({ llm, first_token_time, ...call }: TracedCall) => ({
        ...Object.fromEntries([...counted, 'prompt_cost', 'total_cost'].map((name) => [name, call[name]])),
        usage: (llm as { usage_metadata?: object }).usage_metadata,
        model: (llm as { model?: string }).model,
        has_first_token: typeof first_token_time,
      })
      expect(facts(v2)).toEqual(facts(v1))
      expect(facts(v2)).toMatchObject({
        usage: { input_token_details: { cache_read: 800 } },
        has_first_token: 'string',
      })
    })
  })

  it('joined over v1 it has the modes and shapes of v1 (V-40, V-41)', async () => {
    const { thread_id } = await setup().client.threads.create()
    const streamMode = ['values', 'updates', 'messages-tuple', 'tasks', 'checkpoints'] as const
    const own: { event: string; data: unknown }[] = []
    for await (const item of setup().client.runs.stream(thread_id, 'chat', {
      input: human('hi'),
      streamMode: [...streamMode],
    }))
      own.push(item)
    const second = crypto.randomUUID()
    const run_id = await start(second, { assistant_id: 'chat', input: human('hi') })
    await setup().client.runs.join(second, run_id)
    expect(await setup().client.runs.get(second, run_id)).toMatchObject({
      kwargs: {
        stream_mode: expect.arrayContaining([...streamMode]) as string[],
        subgraphs: true,
        resumable: true,
      },
    })
    const joined: { event: string; data: unknown }[] = []
    for await (const item of setup().client.runs.joinStream(second, run_id, {
      lastEventId: '-',
      streamMode: [...streamMode],
    }))
      joined.push(item)
    const names = (items: typeof own) =>
      items.map(({ event }) => event).filter((event) => event !== 'messages')
    expect(names(joined)).toEqual(names(own))
    const textOf = (items: typeof own) =>
      items
        .filter(({ event }) => event === 'messages')
        .map(({ data }) => (data as [{ content: string; type: string }, object])[0].content)
        .join('')
    expect(textOf(joined)).toBe('Hello from the model.')
    expect(textOf(own)).toBe('Hello from the model.')
    const keys = (items: typeof own) =>
      items.flatMap(({ event, data }) =>
        ['updates', 'tasks', 'checkpoints'].includes(event) ? [Object.keys(data as object).toSorted()] : [],
      )
    expect(keys(joined)).toEqual(keys(own))
    /** The events of a thread's first run, read from the thread's stream over v1. */
    const inThread = async (thread: string): Promise<typeof own> => {
      const items: typeof own = []
      const options = { lastEventId: '-', streamMode: ['run_modes'] as ['run_modes'] }
      for await (const item of setup().client.threads.joinStream(thread, options)) {
        items.push(item)
        if ((item.data as { status?: string } | null)?.status === 'run_done') break
      }
      return items
    }
    const followed = await inThread(second)
    expect(names(followed)).toEqual(names(await inThread(thread_id)))
    expect(textOf(followed)).toBe('Hello from the model.')
  })
})
