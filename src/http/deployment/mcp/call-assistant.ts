import { callOf } from '../call-of.ts'
import { parseExact } from '../../../schema/exact-json.ts'
import { isObject, type JsonObject, type JsonValue } from '../../../schema/json.ts'
import type { AskRoute } from '../../mcp/ask-route.ts'
import { RpcFault } from '../../mcp/message.ts'
import type { ToolCall, ToolOutcome, ToolQuestion, ToolResult } from '../../mcp/tool-server.ts'
import { assertAllowed } from '../../api/access.ts'
import { callerTrace } from '../request/caller-trace.ts'
import type { DeploymentContext } from '../route.ts'
import { type AskedState, argumentsDigest, openState, sealState, stateUntil } from './asked-state.ts'
import { messageKeys } from './input-schema.ts'
import { formOf, type AskedQuestion, questionsIn } from './question.ts'
import { resumeRun } from './resume-run.ts'
import { toolResult } from './run-result.ts'
import { nextRun, tellProgress, whileHere } from './watch-run.ts'

/** The caller of tools, and the ways to its runs. */
export interface ToolCaller {
  context: DeploymentContext
  ask: AskRoute
  gone(): AbortSignal
}

/** A call of an assistant on its thread. */
interface Work extends ToolCaller {
  assistant_id: string
  thread_id: string
  call: ToolCall
  output_schema: JsonValue | undefined
}

/** An outcome, and whether the thread is needed after it. */
interface Ended {
  outcome: ToolOutcome
  keeps_thread: boolean
}

/** Minutes for which the thread of a call that asks something is kept. */
const ASKING_MINUTES = 24 * 60
const CALLS = { needs: 'threads:create' } as const
const PROGRESS_MODES = ['tasks', 'messages']
const DECLINED: Ended = {
  outcome: {
    content: [{ type: 'text', text: 'The question was not answered: the run was cancelled.' }],
    isError: true,
  },
  keeps_thread: false,
}

/**
 * Runs an assistant on a thread that is deleted afterwards, unless the run asks something (rules MCP-7, MCP-8). A client
 * that leaves cancels the run. @throws RpcFault internal after the client has left; invalid_params for a wrong state
 */
export async function callAssistant(
  { assistant_id, schemas }: { assistant_id: string; schemas: JsonObject },
  call: ToolCall,
  caller: ToolCaller,
): Promise<ToolOutcome> {
  assertAllowed(caller.context.principal, CALLS)
  const { input_schema, output_schema } = schemas
  const work = { ...caller, assistant_id, call, output_schema }
  if (call.answers !== undefined) return await goOn(work, call.answers)
  const thread = { ttl: { strategy: 'delete', ttl: ASKING_MINUTES } }
  const { thread_id } = (await caller.ask('POST /threads', { body: thread })) as { thread_id: string }
  const { context, _meta: meta } = call.params
  const caller_trace = callerTrace(caller.context, isObject(meta) ? meta : {})
  const begun = { ...work, thread_id }
  return await finish(begun, async () => {
    const { run_id } = await caller.context.deps.runs.create(callOf(caller.context), thread_id, {
      assistant_id,
      input: inputOf(call.args, messageKeys(input_schema)),
      ...(call.tell !== undefined && { stream_mode: PROGRESS_MODES }),
      ...(isObject(context) && { context }),
      ...(caller_trace && { caller_trace }),
    })
    return await endOf(begun, run_id)
  })
}

/** The arguments as input: a text for a list of messages is one message of the user. */
function inputOf(args: JsonObject, keys: readonly string[]): JsonObject {
  const changed = keys.flatMap((key) =>
    typeof args[key] === 'string' ? [[key, [{ role: 'user', content: args[key] }]]] : [],
  )
  return { ...args, ...(Object.fromEntries(changed) as JsonObject) }
}

/** Goes on with a call that its client repeats with the answers. */
async function goOn(
  work: Omit<Work, 'thread_id'>,
  { state: sealed, responses }: NonNullable<ToolCall['answers']>,
): Promise<ToolOutcome> {
  const { context, assistant_id, call } = work
  const state = await openState(context, sealed)
  if (state.assistant_id !== assistant_id || state.digest !== argumentsDigest(call.args))
    throw new RpcFault('invalid_params', 'requestState is that of another call.')
  const missing = state.asked.find(([id]) => !isObject(responses[id]))
  if (missing !== undefined)
    throw new RpcFault('invalid_params', `inputResponses has no answer to ${missing[0]}.`)
  const run_id = await resumeRun(context, state, (id) => responses[id])
  const there = { ...work, thread_id: state.thread_id }
  return await finish(there, async () => (run_id === undefined ? DECLINED : await endOf(there, run_id)))
}

/** Takes an answer that a client sends to a stream, whose server goes on with the call. @throws RpcFault invalid_params */
export async function answerStream(
  { context, ask }: ToolCaller,
  sealed: string,
  result: JsonObject | undefined,
): Promise<void> {
  assertAllowed(context.principal, CALLS)
  const state = await openState(context, sealed)
  const run_id = await resumeRun(context, state, () => result)
  if (run_id === undefined) await deleteThread(ask, state.thread_id)
}

/** The outcome; deletes the thread if nothing needs it. */
async function finish({ thread_id, ask }: Work, act: () => Promise<Ended>): Promise<ToolOutcome> {
  let isKept = false
  try {
    const { outcome, keeps_thread } = await act()
    isKept = keeps_thread
    return outcome
  } finally {
    if (!isKept) await deleteThread(ask, thread_id)
  }
}

/** Who may not delete threads leaves it to the thread's time to live. */
async function deleteThread(ask: AskRoute, thread_id: string): Promise<void> {
  await ask('DELETE /threads/{thread_id}', { params: { thread_id } }).catch(() => undefined)
}

/** Waits for a run, which may end with a question. */
async function endOf(work: Work, run_id: string): Promise<Ended> {
  const { context, thread_id, call, gone } = work
  const { runs, streams } = context.deps
  const own = callOf(context)
  const place = { thread_id, run_id, gone: gone() }
  const stop = call.tell && tellProgress(streams, own, place, call.tell)
  try {
    const joined = await runs.join(own, thread_id, run_id, { gone: gone(), cancel_on_disconnect: true })
    const output = parseExact(await whileHere(joined.result, gone()))
    const questions = questionsIn(output)
    if (questions.length > 0) return { outcome: await asking(work, run_id, questions), keeps_thread: true }
    return { outcome: toolResult(output, work.output_schema), keeps_thread: false }
  } finally {
    stop?.()
  }
}

/** What the client gets of questions: forms if it can show them, otherwise their text. */
async function asking(work: Work, run_id: string, questions: readonly AskedQuestion[]): Promise<ToolOutcome> {
  const { context, thread_id, assistant_id, call } = work
  if (call.asks === undefined) return textOf(questions, { thread_id, run_id })
  // A stream has one form after the other: the run asks the others again.
  const shown = call.asks === 'stream' ? questions.slice(0, 1) : questions
  const forms = shown.map((question) => ({ id: question.id, ...formOf(question) }))
  const state: AskedState = {
    assistant_id,
    digest: argumentsDigest(call.args),
    thread_id,
    run_id,
    asked: forms.map(({ id, is_whole }) => [id, is_whole]),
    is_all: shown.length === questions.length,
    until: stateUntil(context),
  }
  const asked: ToolQuestion = {
    forms: Object.fromEntries(
      forms.map(({ id, message, requestedSchema }) => [id, { message, requestedSchema }]),
    ),
    state: await sealState(context, state),
  }
  if (call.asks === 'again') return asked
  call.tell?.('waiting for an answer')
  const { streams } = context.deps
  // The client may send its answer to another server, so the thread tells when a run goes on.
  const { run } = await nextRun(streams, callOf(context), { thread_id, run_id, gone: work.gone() })
  return {
    ...asked,
    answered: () =>
      finish(work, async () => {
        const found = await whileHere(run, work.gone())
        return found === undefined ? DECLINED : await endOf(work, found)
      }),
  }
}

/** For clients that cannot show forms: whoever reads it answers over the run API. */
function textOf(
  questions: readonly AskedQuestion[],
  place: { thread_id: string; run_id: string },
): ToolResult {
  const shown = questions.map(({ id, value }) => ({ id, value }))
  return { content: [{ type: 'text', text: JSON.stringify({ __interrupt__: shown, ...place }) }] }
}
