import { AppError, toAppError } from '../../../base/errors.ts'
import { parseUuid } from '../../../base/ids.ts'
import { isObject, type JsonObject, type JsonValue, text } from '../../../schema/json.ts'
import type { MultitaskStrategy, Run } from '../../model.ts'
import type { Call, RunRequest, Runs } from '../../runs.ts'
import type { Streams } from '../../streams/streams.ts'
import type { Threads } from '../../threads/threads.ts'
import { waitingInterrupts } from '../interrupts.ts'
import { keptEvents } from './kept-events.ts'
import { answersFirst, answersOf, planAnswers } from './respond.ts'
import { treeOf } from './run-tree.ts'

/** A command of protocol v2. */
export interface ProtocolCommand {
  id: number
  method: string
  params: JsonObject
}

export interface CommandDeps {
  runs: Pick<Runs, 'create' | 'recent' | 'cancel'>
  threads: Pick<Threads, 'get' | 'state' | 'history'>
  streams: Pick<Streams, 'lastSeq' | 'followThread'>
  /** A checked body of `POST …/runs`. @throws AppError invalid_request */
  toRunRequest(body: JsonObject): RunRequest
  /** @throws AppError forbidden */
  assertMay(permission: 'threads:update' | 'threads:create'): void
  /** Receives a failure that the command did not cause; the client gets `unknown_error`. */
  onFault(error: AppError): void
}

/** The error codes of the protocol (V-3). */
type Refusal =
  | 'invalid_argument'
  | 'unknown_command'
  | 'unknown_error'
  | 'no_such_run'
  | 'no_such_namespace'
  | 'no_such_interrupt'
  | 'no_such_checkpoint'
  | 'permission_denied'
  | 'not_supported'

class Refused extends Error {
  readonly refusal: Refusal
  constructor(refusal: Refusal, message: string) {
    super(message)
    this.refusal = refusal
  }
}

/** All modes, so that the streams of both protocols have all their events. */
const MODES = ['values', 'updates', 'messages-tuple', 'tools', 'custom', 'tasks', 'checkpoints']
/** Commands of the protocol that this server does not carry out over HTTP. */
const UNSUPPORTED = new Set([
  'input.inject',
  'subscription.subscribe',
  'subscription.unsubscribe',
  'subscription.reconnect',
])

/**
 * Carries out a command. Returns the envelope for the client, also for a refusal. @throws AppError if nothing was done
 * and the client may try again
 */
export async function carryOut(
  deps: CommandDeps,
  call: Call,
  thread_id: string,
  { id, method, params }: ProtocolCommand,
): Promise<JsonObject> {
  try {
    const applied_through_seq = await deps.streams.lastSeq(call, thread_id)
    const result = await resultOf(deps, call, thread_id, method, params)
    return { type: 'success', id, result, meta: { thread_id, applied_through_seq } }
  } catch (error) {
    if (error instanceof Refused) return { type: 'error', id, error: error.refusal, message: error.message }
    const failure = toAppError(error)
    // Errors after which a client tries again or must log in: they have the same status as in v1.
    if (failure.retryable || failure.code === 'unauthorized') throw error
    const refusal = refusalOf(failure)
    if (refusal === 'unknown_error') deps.onFault(failure)
    return { type: 'error', id, error: refusal, message: failure.message, code: failure.code }
  }
}

function refusalOf({ code, status, message }: AppError): Refusal {
  if (code === 'forbidden') return 'permission_denied'
  if (code === 'not_implemented') return 'not_supported'
  if (code === 'not_found' && /checkpoint/i.test(message)) return 'no_such_checkpoint'
  return status >= 500 ? 'unknown_error' : 'invalid_argument'
}

async function resultOf(
  deps: CommandDeps,
  call: Call,
  thread_id: string,
  method: string,
  params: JsonObject,
): Promise<JsonObject> {
  switch (method) {
    case 'run.start':
      return { run_id: (await startRun(deps, call, thread_id, params)).run_id }
    case 'state.fork': {
      const { checkpoint_id, ...rest } = params
      const thread = await deps.threads.get(call, thread_id)
      const config = isObject(rest['config']) ? rest['config'] : {}
      const configurable = isObject(config['configurable']) ? config['configurable'] : {}
      const asked = {
        assistant_id: thread.metadata['assistant_id'],
        ...rest,
        config: { ...config, configurable: { ...configurable, checkpoint_id: text(checkpoint_id) ?? '' } },
      }
      return { run_id: (await startRun(deps, call, thread_id, asked)).run_id, thread_id }
    }
    case 'input.respond':
      await respond(deps, call, thread_id, params)
      return {}
    case 'agent.getTree':
      return { tree: await runTree(deps, call, thread_id, params) }
    case 'state.get':
      return stateOf(deps, call, thread_id, params)
    case 'state.listCheckpoints':
      return checkpointsOf(deps, call, thread_id, params)
    default:
      if (UNSUPPORTED.has(method)) throw new Refused('not_supported', `${method} is not supported here.`)
      throw new Refused('unknown_command', `There is no command "${method}".`)
  }
}

/** Resolves with the result of `reading`, or with undefined if it fails with `not_found`. */
async function ifAny<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (toAppError(error).code === 'not_found') return undefined
    throw error
  }
}

/** Starts a run. If the thread waits for an answer to an interrupt, the input is the answer (V-6). */
async function startRun(
  deps: CommandDeps,
  call: Call,
  thread_id: string,
  params: JsonObject,
): Promise<{ run_id: string }> {
  deps.assertMay('threads:update')
  const { multitaskStrategy, langsmith_tracer: _tracer, input = null, ...rest } = params
  const thread = await ifAny(deps.threads.get(call, thread_id))
  if (thread === undefined) deps.assertMay('threads:create')
  await assertCheckpoint(deps, call, thread_id, params)
  const strategy = params['multitask_strategy'] ?? multitaskStrategy
  const isAsked = thread !== undefined && thread.status !== 'busy' && waitingInterrupts(thread, []).length > 0
  const work: JsonObject = isAsked && input !== null ? { command: { resume: input } } : { input }
  const body = {
    ...rest,
    ...work,
    ...(strategy !== undefined && { multitask_strategy: strategy as MultitaskStrategy }),
  }
  return await createRun(deps, call, thread_id, body)
}

function createRun(
  deps: CommandDeps,
  call: Call,
  thread_id: string,
  body: JsonObject,
  options: Pick<RunRequest, 'strict_resume'> = {},
): Promise<Run> {
  const request = deps.toRunRequest({
    ...body,
    stream_mode: MODES,
    stream_subgraphs: true,
    stream_resumable: true,
    if_not_exists: 'create',
  })
  return deps.runs.create(call, thread_id, { ...request, ...options, protocol: 2 })
}

async function assertCheckpoint(
  deps: CommandDeps,
  call: Call,
  thread_id: string,
  { config }: JsonObject,
): Promise<void> {
  const configurable = isObject(config) ? config['configurable'] : undefined
  const checkpoint_id = isObject(configurable) ? configurable['checkpoint_id'] : undefined
  if (checkpoint_id === undefined || checkpoint_id === null) return
  if (typeof checkpoint_id !== 'string' || parseUuid(checkpoint_id) === undefined)
    throw new Refused('invalid_argument', 'checkpoint_id must be a UUID.')
  try {
    await deps.threads.state(call, thread_id, { checkpoint: { checkpoint_id }, subgraphs: false })
  } catch (error) {
    if (toAppError(error).code !== 'not_found') throw error
    throw new Refused('no_such_checkpoint', `The thread has no checkpoint ${checkpoint_id}.`)
  }
}

async function respond(deps: CommandDeps, call: Call, thread_id: string, params: JsonObject): Promise<void> {
  deps.assertMay('threads:update')
  const { update, goto, config, metadata, strict_resume } = params
  const resume = answersOf(params)
  if (resume === undefined)
    throw new Refused('invalid_argument', 'input.respond needs interrupt_id and response, or responses.')
  const planned = await ifAny(planAnswers(deps, call, thread_id, resume))
  if (planned === undefined) throw noInterrupt(Object.keys(resume)[0] ?? '')
  if ('unknown' in planned) throw noInterrupt(planned.unknown)
  const { asking, assistant_id, run_id } = planned
  const body = {
    assistant_id,
    run_id,
    command: { resume, ...(update !== undefined && { update }), ...(goto !== undefined && { goto }) },
    ...(config !== undefined && { config }),
    ...(metadata !== undefined && { metadata }),
  }
  const options = strict_resume === true ? ({ strict_resume } as const) : {}
  const made = await createRun(deps, call, thread_id, body, options)
  if (!(await answersFirst(deps, call, made, asking))) throw noInterrupt(Object.keys(resume)[0] ?? '')
}

function noInterrupt(id: string): Refused {
  return new Refused('no_such_interrupt', `No interrupt ${id} waits for an answer.`)
}

/** The tree of a run, by default of the thread's last run. */
async function runTree(
  deps: CommandDeps,
  call: Call,
  thread_id: string,
  { run_id }: JsonObject,
): Promise<JsonObject> {
  const thread = await ifAny(deps.threads.get(call, thread_id))
  const events = thread === undefined ? [] : await keptEvents(deps, call, thread_id, ['lifecycle'])
  const asked = text(run_id) ?? events.at(-1)?.run_id
  const tree = treeOf(events.filter((event) => event.run_id === asked))
  if (tree === undefined) throw new Refused('no_such_run', 'The thread has no events of such a run.')
  return tree
}

async function stateOf(
  deps: CommandDeps,
  call: Call,
  thread_id: string,
  { namespace, keys }: JsonObject,
): Promise<JsonObject> {
  const checkpoint_ns = checkpointNamespace(namespace)
  const checkpoint = checkpoint_ns === '' ? {} : { checkpoint: { checkpoint_ns } }
  const reading = deps.threads.state(call, thread_id, { ...checkpoint, subgraphs: false })
  const state = JSON.parse(await inNamespace(checkpoint_ns, reading)) as JsonObject
  const values = isObject(state['values']) ? state['values'] : {}
  const shown = Array.isArray(keys)
    ? Object.fromEntries(Object.entries(values).filter(([key]) => keys.includes(key)))
    : values
  const at = isObject(state['checkpoint']) ? state['checkpoint'] : {}
  const id = text(at['checkpoint_id']) ?? null
  // LangGraph reads the state of a subgraph that has none as an empty one.
  if (id === null && checkpoint_ns !== '') throw noNamespace(checkpoint_ns)
  return {
    values: shown,
    checkpoint: { id, ns: at['checkpoint_ns'] ?? checkpoint_ns },
  }
}

function checkpointNamespace(namespace: JsonValue | undefined): string {
  return Array.isArray(namespace) ? namespace.map(String).join('|') : ''
}

function noNamespace(checkpoint_ns: string): Refused {
  return new Refused('no_such_namespace', `The thread has no state in the namespace "${checkpoint_ns}".`)
}

/** The result of reading a namespace. LangGraph for Python fails for a subgraph that the graph does not have. */
async function inNamespace<T>(checkpoint_ns: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    const { code, message } = toAppError(error)
    if (checkpoint_ns !== '' && code === 'invalid_request' && /^Subgraph .* not found$/.test(message))
      throw noNamespace(checkpoint_ns)
    throw error
  }
}

const MAX_CHECKPOINTS = 100

async function checkpointsOf(
  deps: CommandDeps,
  call: Call,
  thread_id: string,
  params: JsonObject,
): Promise<JsonObject> {
  const { limit, before, namespace } = params
  const checkpoint_ns = checkpointNamespace(namespace)
  const reading = deps.threads.history(call, thread_id, {
    limit: typeof limit === 'number' ? Math.max(1, Math.min(limit, MAX_CHECKPOINTS)) : 10,
    before: typeof before === 'string' ? { checkpoint_id: before } : null,
    metadata: null,
    select: ['checkpoint', 'created_at', 'metadata'],
    checkpoint: checkpoint_ns === '' ? null : { checkpoint_ns },
  })
  const { body } = await inNamespace(checkpoint_ns, reading)
  const states = JSON.parse(body) as JsonObject[]
  if (states.length === 0 && checkpoint_ns !== '' && typeof before !== 'string')
    throw noNamespace(checkpoint_ns)
  const checkpoints = states.map(({ checkpoint, created_at = null, metadata = null }) => ({
    id: isObject(checkpoint) ? (checkpoint['checkpoint_id'] ?? null) : null,
    timestamp: created_at,
    step: isObject(metadata) ? (metadata['step'] ?? null) : null,
    metadata,
  }))
  return { checkpoints }
}

/** Reads a command from a parsed body. @throws AppError invalid_request */
export function readCommand(body: unknown): ProtocolCommand {
  if (!isObject(body)) throw notCommand()
  const { id, method, params = {} } = body
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0 || typeof method !== 'string')
    throw notCommand()
  if (params !== null && !isObject(params)) throw notCommand()
  return { id, method, params: params ?? {} }
}

function notCommand(): AppError {
  return new AppError('invalid_request', {
    message: 'A command is a JSON object with an integer id from 0 on, a text method and an object params.',
  })
}
