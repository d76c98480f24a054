import { Client, RunTree } from 'langsmith'
import { drained } from '../../support/servers/server.ts'
import type { UsedWeir } from '../../support/servers/use-weir.ts'

const ANSWER = 'It is **18 °C** in Paris: <img src=x onerror=alert(1)>'
const CALL = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } }
const QUESTION = 'How warm is it? 日本語 مرحبا ![spy](https://spy.example/a.png)'
const CONVERSATION = [
  { role: 'assistant', content: null, tool_calls: [CALL] },
  { role: 'tool', tool_call_id: 'call_1', content: 'eighteen' },
]

/**
 * Sends a trace of an agent with one model call to a project, as the SDK does. Returns the call when the whole trace is
 * stored.
 */
export async function sendAgentTrace(
  weir: UsedWeir,
  question = QUESTION,
  { project = 'trips', thread }: { project?: string; thread?: string } = {},
): Promise<RunTree> {
  const client = new Client({ apiUrl: weir.url, apiKey: weir.key })
  const root = new RunTree({
    name: 'agent',
    run_type: 'chain',
    client,
    project_name: project,
    inputs: { n: 1 },
    ...(thread !== undefined && { metadata: { thread_id: thread } }),
  })
  const metadata = { ls_provider: 'openai', ls_model_name: 'gpt-4.1-mini' }
  const call = root.createChild({
    name: 'chat',
    run_type: 'llm',
    inputs: { messages: [{ role: 'user', content: question }, ...CONVERSATION] },
    metadata,
  })
  await root.postRun()
  await call.postRun()
  await call.end({
    choices: [{ message: { role: 'assistant', content: ANSWER } }],
    usage: {
      prompt_tokens: 30,
      completion_tokens: 10,
      total_tokens: 40,
      prompt_tokens_details: { cached_tokens: 10 },
    },
  })
  await call.patchRun()
  await root.end({ done: true })
  await root.patchRun()
  await client.awaitPendingTraceBatches()
  await drained(weir)
  return call
}

/** What `sendForPages` made: ids of a trace, of its model call, its project and its share, and the path of a thread. */
export interface SentForPages {
  project: string
  trace: string
  call: string
  shared: string
  thread: string
}

/** Sends two traces and shares one of them, so that every page has something to show. */
export async function sendForPages(weir: UsedWeir): Promise<SentForPages> {
  const [call, turn] = [
    await sendAgentTrace(weir),
    await sendAgentTrace(weir, QUESTION, { project: 'talks', thread: 'trip' }),
  ]
  const answer = await weir.request(`/api/v1/runs/${call.trace_id}/share`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ run_id: call.trace_id }),
  })
  const { share_token } = (await answer.json()) as { share_token: string }
  return {
    project: await projectOf(weir, call),
    trace: call.trace_id,
    call: call.id,
    shared: share_token,
    thread: `/threads/trip?project=${await projectOf(weir, turn)}`,
  }
}

export async function projectOf(weir: UsedWeir, run: RunTree): Promise<string> {
  return (await weir.json<{ session_id: string }>(`/api/v1/runs/${run.id}`)).session_id
}
