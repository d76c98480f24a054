import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../../base/errors.ts'
import { isObject, type JsonObject } from '../../../schema/json.ts'
import type { RouteContext, RouteReply, ReplyBytes } from '../../api/route.ts'
import { assertAllowed } from '../../api/access.ts'
import { callOf } from '../call-of.ts'
import type { DeploymentDeps } from '../deps.ts'
import { HISTORY_SCOPE_HEADER } from './card.ts'
import { A2aFault, faultJson, toFault, toSentFault } from './faults.ts'
import { listTasks } from './list-tasks.ts'
import { type FoundTask, findTask, taskOf, type TaskView } from './load-task.ts'
import { isFinished, type Task, type TaskEvent } from './model.ts'
import { type A2aRequest, type Envelope, readEnvelope, readA2aRequest } from './request.ts'
import { planMessage } from './send-message.ts'
import { endEvents, taskEvents } from './task-stream.ts'
import { eventJson, taskJson } from './wire.ts'

/** A message is parsed in the main thread, so it has less room than a body of traces. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024
/** Messages of a history that a client can ask for, and those of one that asks for no number. */
const MAX_HISTORY = 10
const ALL_MESSAGES = 1000
/** Seconds after which a run that marks a cancelled task would begin, if the server died before it is cancelled. */
const MARK_SECONDS = 60

const CREATES = { needs: 'threads:create' } as const
const EVENT_STREAM = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}
const JSON_TYPE = { 'content-type': 'application/json' }

type Context = Pick<
  RouteContext<unknown, unknown, unknown, DeploymentDeps>,
  'deps' | 'principal' | 'req' | 'gone'
>

/** A request with what its methods work on. */
interface Work {
  context: Context
  assistant_id: string
  request: A2aRequest
}

/**
 * The answer to a POST of a client of the A2A protocol, in version 0.3 or 1.0 (rules A2A-2 to A2A-13).
 * @throws AppError forbidden, rate_limited and others that clients read as HTTP statuses
 */
export async function serveA2a(
  context: Context,
  body: Uint8Array,
  { assistant_id, card }: { assistant_id: string | undefined; card: JsonObject },
): Promise<RouteReply<ReplyBytes>> {
  if (body.length > MAX_MESSAGE_BYTES)
    throw new AppError('body_too_large', { message: 'A message can have at most 8 MiB.' })
  let envelope: Envelope = { id: null, version: '0.3', streams: false, message: {} }
  try {
    envelope = readEnvelope(body)
    const request = readA2aRequest(envelope, context.req.headers)
    if (assistant_id === undefined)
      throw new A2aFault('invalid_params', 'There is no assistant at this address.')
    return await answer({ context, assistant_id, request }, card)
  } catch (error) {
    const text = faultText(envelope, toFault(error))
    // A client that reads a stream takes any other answer for one that is not of the protocol.
    return envelope.streams && takesStream(context.req.headers)
      ? { headers: EVENT_STREAM, body: frame(text) }
      : { headers: JSON_TYPE, body: text }
  }
}

function takesStream({ accept = '' }: IncomingHttpHeaders): boolean {
  return accept.includes('text/event-stream')
}

type Place = Pick<Envelope, 'id' | 'version'>

function faultText({ id, version }: Place, fault: A2aFault): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: faultJson(fault, version) })
}

/** The text of an error after the answer has begun; one that nobody expects is logged too. */
function sentFaultText(place: Place, error: unknown, { deps }: Context): string {
  if (!(error instanceof AppError)) deps.logger.error({ err: error }, 'a call over A2A failed')
  return faultText(place, toSentFault(error))
}

async function answer(work: Work, card: JsonObject): Promise<RouteReply<ReplyBytes>> {
  const { context, assistant_id, request } = work
  const { action, params, version } = request
  const show = (task: Task): RouteReply<ReplyBytes> => plain(work, taskJson(task, version))
  switch (action) {
    case 'send':
      return await send(work)
    case 'stream':
      return await stream(work)
    case 'subscribe':
      return await subscribe(work)
    case 'get':
      return show(await taskOf(context, await find(work), viewOf(work, params)))
    case 'cancel':
      return show(await cancel(work))
    case 'list': {
      const view = { ...viewOf(work, params, 0), artifacts: params['includeArtifacts'] === true }
      return plain(work, await listTasks(context, assistant_id, params, view))
    }
    case 'card':
      return plain(work, card)
    case 'push':
      throw new A2aFault('no_push', 'Push notifications are not supported.')
  }
}

function plain({ request: { id } }: Work, result: JsonObject): RouteReply<ReplyBytes> {
  return { headers: JSON_TYPE, body: JSON.stringify({ jsonrpc: '2.0', id, result }) }
}

async function find({ context, assistant_id, request: { params } }: Work): Promise<FoundTask> {
  const { id, contextId } = params
  return await findTask(context, assistant_id, { id, contextId })
}

/** Which messages are shown. @throws A2aFault invalid_params */
function viewOf({ context }: Work, options: JsonObject, otherwise = ALL_MESSAGES): TaskView {
  const { historyLength } = options
  // ProtoJSON may send null for a field that is not set.
  const isAsked = historyLength !== undefined && historyLength !== null
  const history = isAsked ? historyLength : otherwise
  if (typeof history !== 'number' || !Number.isInteger(history) || history < 0)
    throw new A2aFault('invalid_params', 'historyLength must be a number from 0.')
  if (isAsked && history > MAX_HISTORY)
    throw new A2aFault('invalid_params', `historyLength can be at most ${MAX_HISTORY}.`)
  const scope = options['historyScope'] ?? context.req.headers[HISTORY_SCOPE_HEADER] ?? 'context'
  if (scope !== 'context' && scope !== 'task')
    throw new A2aFault('invalid_params', 'historyScope must be context or task.')
  return { history, scope, artifacts: true }
}

/** The view and the kind of answer that a message asks for. @throws A2aFault, AppError */
function readConfiguration(work: Work): { view: TaskView; isBlocking: boolean } {
  const { context, request } = work
  assertAllowed(context.principal, CREATES)
  const { historyScope } = request.params
  const configuration = request.params['configuration'] ?? {}
  if (!isObject(configuration)) throw new A2aFault('invalid_params', 'configuration must be an object.')
  const { blocking, returnImmediately, pushNotificationConfig, taskPushNotificationConfig } = configuration
  if (isObject(pushNotificationConfig) || isObject(taskPushNotificationConfig))
    throw new A2aFault('no_push', 'Push notifications are not supported.')
  const options = { ...(historyScope !== undefined && { historyScope }), ...configuration }
  return {
    view: viewOf(work, options),
    isBlocking: blocking !== false && returnImmediately !== true,
  }
}

/** Makes a run for a message, and answers with its task: at the end of the run, unless the client does not wait. */
async function send(work: Work): Promise<RouteReply<ReplyBytes>> {
  const { context, assistant_id, request } = work
  const { view, isBlocking } = readConfiguration(work)
  const { task_id: id, thread_id, request: asked } = await planMessage(context, assistant_id, request.params)
  const { runs } = context.deps
  const call = callOf(context)
  const read = async (): Promise<JsonObject> =>
    eventJson(
      { task: await taskOf(context, await findTask(context, assistant_id, { id }), view) },
      request.version,
    )
  if (!isBlocking) {
    await runs.create(call, thread_id, asked)
    return plain(work, await read())
  }
  const { result } = await runs.wait(call, thread_id, asked, context.gone())
  const text = result
    .then(read)
    .then((task) => JSON.stringify({ jsonrpc: '2.0', id: request.id, result: task }))
    // The headers are sent: a task that was deleted meanwhile is told in the body.
    .catch((error: unknown) => sentFaultText(request, error, context))
  return { headers: JSON_TYPE, body: text }
}

async function stream(work: Work): Promise<RouteReply<ReplyBytes>> {
  const { context, assistant_id, request } = work
  const { view } = readConfiguration(work)
  const { task_id: id, thread_id, request: asked } = await planMessage(context, assistant_id, request.params)
  return await inPlace(context, async () => {
    const made = await context.deps.streams.create(callOf(context), thread_id, asked, context.gone())
    const read = async () => await findTask(context, assistant_id, { id })
    const submitted = { state: 'submitted', timestamp: new Date(made.run.created_at).toISOString() } as const
    const begun: Task = { id, contextId: thread_id, status: submitted }
    const end = async (): Promise<Task> => await taskOf(context, await read(), view)
    return streamReply(work, taskEvents(begun, made.stream, end), () => made.stream.close())
  })
}

/** The task, then the events of its run until the run ends. @throws A2aFault unsupported for a finished task */
async function subscribe(work: Work): Promise<RouteReply<ReplyBytes>> {
  const { context, request } = work
  const view = viewOf(work, request.params)
  const found = await find(work)
  const { run, state } = found
  if (isFinished(state)) throw new A2aFault('unsupported', `The task is ${state}.`)
  const begun = await taskOf(context, found, view)
  return await inPlace(context, async () => {
    if (state === 'input-required') {
      const events = async function* (): AsyncGenerator<TaskEvent> {
        yield { task: begun }
        yield* endEvents({ ...begun, artifacts: [] })
      }
      return streamReply(work, events(), () => undefined)
    }
    const joining = {
      from: 'start',
      modes: ['messages'],
      gone: context.gone(),
      cancel_on_disconnect: false,
    } as const
    const joined = await context.deps.streams.joinRun(callOf(context), run.thread_id, run.run_id, joining)
    const end = async (): Promise<Task> => await taskOf(context, await find(work), view)
    return streamReply(work, taskEvents(begun, joined, end), () => joined.close())
  })
}

/** Opens a stream that counts against the limit of open streams until its response ends. */
async function inPlace(
  { deps, principal }: Context,
  open: () => Promise<RouteReply<ReplyBytes>>,
): Promise<RouteReply<ReplyBytes>> {
  const leave = deps.sse.enter(principal.holder)
  try {
    return { ...(await open()), sent: leave }
  } catch (error) {
    leave()
    throw error
  }
}

function streamReply(
  { context, request }: Work,
  events: AsyncIterable<TaskEvent>,
  close: () => void,
): RouteReply<ReplyBytes> {
  const { deps, principal } = context
  const { id, version } = request
  const frames = async function* (): AsyncGenerator<readonly Uint8Array[]> {
    try {
      for await (const event of events)
        yield [frame(JSON.stringify({ jsonrpc: '2.0', id, result: eventJson(event, version) }))]
    } catch (error) {
      // A client that loses its connection subscribes again; after an error it does not.
      if (error instanceof AppError && error.retryable) throw error
      yield [frame(sentFaultText(request, error, context))]
    }
  }
  return { headers: EVENT_STREAM, body: deps.sse.framesBody(frames(), { holder: principal.holder, close }) }
}

function frame(message: string): Uint8Array {
  return Buffer.from(`data: ${message}\n\n`)
}

/** Cancels the active runs of a task; a task that waits is ended by a run that is cancelled before it begins. */
async function cancel(work: Work): Promise<Task> {
  const { context, assistant_id } = work
  assertAllowed(context.principal, CREATES)
  const found = await find(work)
  const { id, run, state, thread, active_run_ids } = found
  const { runs } = context.deps
  const call = callOf(context)
  if (isFinished(state)) throw new A2aFault('not_cancelable', `The task is ${state}.`)
  const interrupt = { action: 'interrupt', wait: true, early: false } as const
  const { thread_id } = thread
  if (state === 'input-required') {
    const metadata = { a2a: { task_id: id } }
    const mark = { assistant_id, metadata, after_seconds: MARK_SECONDS, newest_run_id: run.run_id }
    const { run_id } = await runs.create(call, thread_id, mark)
    await runs.cancel(call, thread_id, run_id, interrupt)
  } else {
    // The newest one first, so that none of them begins when another one ends.
    for (const run_id of active_run_ids.toReversed())
      await runs.cancel(call, thread_id, run_id, interrupt).catch((error: unknown) => {
        if (!(error instanceof AppError) || error.code !== 'run_not_active') throw error
      })
  }
  const ended = await find(work)
  if (ended.state !== 'canceled') throw new A2aFault('not_cancelable', `The task is ${ended.state}.`)
  return await taskOf(context, ended, viewOf(work, {}))
}
