import type { JsonObject } from '../../schema/json.ts'
import { noRun, noThread } from '../create-runs.ts'
import type { Run } from '../model.ts'
import type { Call, RunRequest, Runs } from '../runs.ts'
import type { Threads } from '../threads/threads.ts'
import { type AccessEvent, type Ask, passesRuling } from './rulings.ts'
import { unlessGone } from './threads.ts'

/** Checks before a user creates, reads or ends runs. The user must be allowed to see the threads of the runs. */
export interface RunChecks {
  /** @throws AppError not_found for a thread that the user does not see */
  thread(call: Call, thread_id: string, event: AccessEvent, value?: JsonObject): Promise<void>
  /** The run, if the user may see its thread. @throws AppError not_found */
  run(
    call: Call,
    thread_id: string | null,
    run_id: string,
    event: AccessEvent,
    value?: JsonObject,
  ): Promise<Run>
  /**
   * Whether the run and its thread exist. Returns false for a missing run instead of throwing, because the stream of a
   * deleted run may still be kept. @throws AppError not_found for a run whose thread the user may not see
   */
  runIfThere(call: Call, thread_id: string | null, run_id: string, event: AccessEvent): Promise<boolean>
  /**
   * The request of a run after the handlers' changes, and the call with which the run is created. @throws AppError
   * not_found, forbidden
   */
  creation(
    call: Call,
    thread_id: string | null,
    request: RunRequest,
  ): Promise<{ call: Call; request: RunRequest }>
}

export interface RunChecksDeps {
  runs: Pick<Runs, 'get' | 'statelessEnd'>
  threads: Pick<Threads, 'get'>
  /** @throws AppError not_found for an assistant that the user must not run */
  assertAssistant(call: Call, id_or_graph: string): Promise<void>
}

export function createRunChecks({ runs, threads, assertAssistant }: RunChecksDeps, ask: Ask): RunChecks {
  return {
    async thread(call, thread_id, event, value = {}) {
      const ruling = await ask(event, { thread_id, ...value })
      const thread = await threads.get(call, thread_id)
      if (!passesRuling(ruling, thread.metadata)) throw noThread(thread_id)
    },
    async run(call, thread_id, run_id, event, value = {}) {
      const ruling = await ask(event, { ...(thread_id !== null && { thread_id }), run_id, ...value })
      const run = await runs.get(call, thread_id, run_id)
      const thread = await threads.get(call, run.thread_id)
      if (!passesRuling(ruling, thread.metadata)) throw noRun()
      return run
    },
    async runIfThere(call, thread_id, run_id, event) {
      const ruling = await ask(event, { ...(thread_id !== null && { thread_id }), run_id })
      const run = await runs.get(call, thread_id, run_id).catch(unlessGone)
      const thread = run && (await threads.get(call, run.thread_id).catch(unlessGone))
      const known = thread ?? (await runs.statelessEnd(call, run_id))
      if (known !== undefined && !passesRuling(ruling, known.metadata)) throw noRun()
      return thread !== undefined
    },
    async creation(call, thread_id, request) {
      await assertAssistant(call, request.assistant_id)
      const { visible, value } = await ask('threads:create_run', runValue(thread_id, request))
      const { metadata } = value
      return { call: { ...call, access: { visible } }, request: { ...request, metadata } }
    },
  }
}

/** A run as LangGraph passes it to `threads:create_run` handlers. */
function runValue(thread_id: string | null, request: RunRequest) {
  const { assistant_id, run_id, metadata = {}, multitask_strategy, if_not_exists, after_seconds } = request
  const { input = null, command = null, config = {}, context = {} } = request
  return {
    ...(thread_id !== null && { thread_id }),
    assistant_id,
    ...(run_id !== undefined && { run_id }),
    status: 'pending',
    metadata,
    multitask_strategy: multitask_strategy ?? 'enqueue',
    if_not_exists: if_not_exists ?? 'reject',
    after_seconds: after_seconds ?? 0,
    kwargs: { input, command, config, context },
  }
}
