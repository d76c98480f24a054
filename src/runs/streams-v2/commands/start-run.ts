import { parseUuid } from '../../../base/ids.ts'
import { isObject, type JsonObject, text } from '../../../schema/json.ts'
import { Overtaken } from '../../create-runs.ts'
import type { MultitaskStrategy, Run } from '../../model.ts'
import type { Call, RunRequest, Runs } from '../../runs.ts'
import type { Threads } from '../../threads/threads.ts'
import { waitingInterrupts } from '../interrupts.ts'
import type { ReadDeps } from './kept-events.ts'
import { ifFound, Refused } from './refused.ts'
import { requestedIds } from './requested-ids.ts'

export interface StartDeps extends ReadDeps {
  runs: Pick<Runs, 'create' | 'recent'>
  threads: Pick<Threads, 'get' | 'state'>
  /** A checked body of `POST …/runs`. @throws AppError invalid_request */
  toRunRequest(body: JsonObject): RunRequest
  /** @throws AppError permission_required */
  assertMay(permission: 'threads:update' | 'threads:create'): void
}

/** All modes, so that the run makes all events that the streams of both protocols may show. */
const MODES = ['values', 'updates', 'messages-tuple', 'tools', 'custom', 'tasks', 'checkpoints']

/**
 * Carries out `run.start`. If the thread waits for an answer to an interrupt, the input is the answer (V-6). The answer may
 * come before the run that asks has ended, as in `input.respond` (V-12), unless the input is to end that run.
 */
export async function startRun(
  deps: StartDeps,
  call: Call,
  thread_id: string,
  params: JsonObject,
): Promise<{ run_id: string }> {
  deps.assertMay('threads:update')
  const { multitaskStrategy, langsmith_tracer: _tracer, input = null, ...rest } = params
  const thread = await ifFound(deps.threads.get(call, thread_id))
  if (thread === undefined) deps.assertMay('threads:create')
  const fork = await forkOf(deps, call, thread_id, params)
  const strategy = params['multitask_strategy'] ?? multitaskStrategy
  const body = {
    ...rest,
    ...(strategy !== undefined && { multitask_strategy: strategy as MultitaskStrategy }),
  }
  return await unlessOvertaken(async () => {
    const waits = strategy === undefined || strategy === 'enqueue'
    const isTurn = waits || thread?.status !== 'busy'
    // A fork from a checkpoint at which nothing was asked begins with the input.
    const mayAnswer = thread !== undefined && input !== null && isTurn && fork?.asks !== false
    const answering = mayAnswer ? await answerNow(deps, call, thread_id) : undefined
    const work: JsonObject = answering === undefined ? { input } : { command: { resume: input } }
    return createRun(deps, call, thread_id, { ...body, ...work }, answering)
  })
}

/** Carries out `state.fork`: a run of the thread's assistant that continues from a checkpoint. */
export async function forkState(
  deps: StartDeps,
  call: Call,
  thread_id: string,
  { checkpoint_id, ...rest }: JsonObject,
): Promise<{ run_id: string; thread_id: string }> {
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

/** The condition under which a run may be created as the answer; undefined if the thread waits for none. */
async function answerNow(
  deps: StartDeps,
  call: Call,
  thread_id: string,
): Promise<Pick<RunRequest, 'newest_run_id'> | undefined> {
  const [newest] = await deps.runs.recent(call, thread_id)
  // The thread is read after the runs. A run that is created in between either makes the thread busy, or is newer than
  // `newest_run_id`, so that the request is refused.
  const thread = await deps.threads.get(call, thread_id)
  const asks =
    thread.status === 'busy'
      ? (await requestedIds(deps, call, thread_id, newest)).size > 0
      : waitingInterrupts(thread, []).length > 0
  return asks ? { newest_run_id: newest?.run_id ?? null } : undefined
}

/** Creates a run over protocol v2. */
export function createRun(
  deps: StartDeps,
  call: Call,
  thread_id: string,
  body: JsonObject,
  options: Pick<RunRequest, 'strict_resume' | 'newest_run_id'> = {},
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

/**
 * Maximum number of attempts to create a run with `newest_run_id`. An attempt is repeated only if another run was
 * created.
 */
const MAX_ATTEMPTS = 20

/**
 * Calls `attempt`, which plans and creates a run. Repeats the call if it failed because another run was created
 * meanwhile.
 */
export async function unlessOvertaken<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = MAX_ATTEMPTS; ; left--) {
    try {
      return await attempt()
    } catch (error) {
      if (left <= 1 || !(error instanceof Overtaken)) throw error
    }
  }
}

/** The checkpoint from which a run is to begin, and whether it has interrupts; undefined for the present state. */
async function forkOf(
  deps: StartDeps,
  call: Call,
  thread_id: string,
  { config }: JsonObject,
): Promise<{ asks: boolean } | undefined> {
  const configurable = isObject(config) ? config['configurable'] : undefined
  const checkpoint_id = isObject(configurable) ? configurable['checkpoint_id'] : undefined
  if (checkpoint_id === undefined || checkpoint_id === null) return undefined
  if (typeof checkpoint_id !== 'string' || parseUuid(checkpoint_id) === undefined)
    throw new Refused('invalid_argument', 'checkpoint_id must be a UUID.')
  const reading = deps.threads.state(call, thread_id, { checkpoint: { checkpoint_id }, subgraphs: false })
  const state = await ifFound(reading)
  if (state === undefined)
    throw new Refused('no_such_checkpoint', `The thread has no checkpoint ${checkpoint_id}.`)
  const { interrupts } = JSON.parse(state) as JsonObject
  return { asks: Array.isArray(interrupts) && interrupts.length > 0 }
}
