import { AppError, toAppError } from '../../../base/errors.ts'
import { isObject, type JsonObject } from '../../../schema/json.ts'
import type { Call } from '../../runs.ts'
import type { ReadDeps } from './kept-events.ts'
import { type ReadStateDeps, checkpointsOf, stateOf } from './read-state.ts'
import { Refused, refusalOf } from './refused.ts'
import { respond } from './respond.ts'
import { runTree } from './run-tree.ts'
import { forkState, type StartDeps, startRun } from './start-run.ts'

/** A command of protocol v2. */
export interface ProtocolCommand {
  id: number
  method: string
  params: JsonObject
}

export interface CommandDeps extends StartDeps, ReadDeps {
  threads: StartDeps['threads'] & ReadStateDeps['threads']
  /** Receives a failure that the command did not cause; the client gets `unknown_error`. */
  onFault(error: AppError): void
}

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
    if (error instanceof Refused) {
      const { refusal, message, code } = error
      return { type: 'error', id, error: refusal, message, code }
    }
    const failure = toAppError(error)
    // Errors after which a client tries again or must log in: they have the same status as in v1.
    if (failure.retryable || failure.code === 'unauthorized') throw error
    const refusal = refusalOf(failure)
    if (refusal === 'unknown_error') deps.onFault(failure)
    return { type: 'error', id, error: refusal, message: failure.message, code: failure.code }
  }
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
    case 'state.fork':
      return forkState(deps, call, thread_id, params)
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
