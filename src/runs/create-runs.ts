import type { Clock } from '../base/clock.ts'
import { AppError } from '../base/errors.ts'
import { newTimeUuid, parseUuid } from '../base/ids.ts'
import type { JsonObject } from '../schema/json.ts'
import { type AwaitDeps, endOf, expectRun, type Leaving, outcomeOf } from './await-run.ts'
import type { EarlyCancels } from './execute/early-cancels.ts'
import type { Run, Tenant, ThreadTtl } from './model.ts'
import { type AssistantFacts, planRun } from './plan-run.ts'
import { storedOutcome } from './execute/end-response.ts'
import type { RunAdmission, CancelResult, CancelSelector, RefusalReason } from './run-store.ts'
import type { Awaited, Call, CancelOptions, RunRequest, Runs } from './runs.ts'
import { isActive } from './state.ts'
import type { Waiter } from './execute/waiters.ts'
import type { Wake } from './execute/wake.ts'
import type { WebhookRules } from './webhooks/rules.ts'

export interface RunsDeps extends AwaitDeps {
  earlyCancels: EarlyCancels
  wake: Wake
  /** The assistant, by its id or by the name of its graph; undefined when there is none. */
  findAssistant(tenant: Tenant, id_or_graph: string): Promise<AssistantFacts | undefined>
  /** Whether a graph reads `context` and `config.configurable` as the same values; default: no graph does. */
  sharesContext?(graph_id: string): boolean
  /** Tokens and cost below a TraceRun; null while none of its data has arrived. */
  traceTotals(tenant: Tenant, place: { trace_id: string; run_id: string }): Promise<JsonObject | null>
  webhooks?: WebhookRules
  /** Checks for free disk space, which a run needs until it has ended. @throws AppError disk_full, disk_unwritable */
  assertRoom?(): Promise<void>
  /** The ttl of threads that runs create. Threads that are deleted with their run do not get it. */
  defaultTtl: ThreadTtl | null
  clock: Clock
}

/** The page that `recent` reads. */
const RECENT = { limit: 50, offset: 0, max_bytes: 4 << 20 }

export function createRuns(deps: RunsDeps): Runs {
  const { store } = deps
  return {
    async create(call, thread_id, request) {
      return (await launch(deps, await plan(deps, call, thread_id, request))).run
    },
    async createBatch(call, requests) {
      const plans = await Promise.all(requests.map((request) => plan(deps, call, null, request)))
      return await launchAll(deps, call, plans)
    },
    wait: (call, thread_id, request, gone) => wait(deps, call, { thread_id, request, gone }),
    join: (call, thread_id, run_id, { gone, cancel_on_disconnect }) =>
      awaiting(deps, call, run_id, { gone, cancels: cancel_on_disconnect }, async () => ({
        run: await getRun(deps, call, thread_id, run_id),
        isNew: false,
      })),
    get: (call, thread_id, run_id) => getRun(deps, call, thread_id, run_id),
    async statelessEnd({ tenant, caller: { user_id, api_key_id } }, run_id) {
      const end = await store.statelessEnd(tenant, run_id)
      const isOwn = end?.caller.user_id === user_id && end.caller.api_key_id === api_key_id
      return isOwn ? end : undefined
    },
    async recent({ tenant }, thread_id) {
      return (await store.listRuns(tenant, thread_id, RECENT))?.runs ?? []
    },
    async ofTask({ tenant }, thread_id, task_id) {
      const found = await store.taskRun(tenant, thread_id, task_id)
      if (found === undefined) throw noRun()
      return found
    },
    tasks: ({ tenant, access }, search) =>
      store.tasks(tenant, { ...search, ...(access?.visible && { visible: access.visible }) }),
    async remove({ tenant }, thread_id, run_id) {
      const outcome = await store.deleteRun(tenant, thread_id, run_id)
      if (outcome === 'not_found') throw noRun()
      if (outcome === 'active') {
        throw new AppError('conflict', { message: `Run ${run_id} is active: cancel it first.` })
      }
    },
    cancel: (call, thread_id, run_id, options) => cancel(deps, call, { thread_id, run_id }, options),
    cancelMany: (call, selector, options) => cancelMany(deps, call, selector, options),
    async totals({ tenant }, { trace_id: run_id, kwargs }) {
      if (run_id === null) return null
      return await deps.traceTotals(tenant, { trace_id: kwargs.caller_trace?.trace_id ?? run_id, run_id })
    },
  }
}

interface RunPlanned {
  call: Call
  admission: Omit<RunAdmission, 'claim'>
  /** Whether the client chose the run's id. */
  chosen: boolean
}

async function plan(
  { findAssistant, sharesContext, clock, webhooks, defaultTtl }: RunsDeps,
  call: Call,
  thread_id: string | null,
  request: RunRequest,
): Promise<RunPlanned> {
  const assistant = await findAssistant(call.tenant, request.assistant_id)
  if (assistant === undefined) throw noAssistant(request.assistant_id)
  const now = clock.now()
  const admission = planRun({
    call,
    assistant,
    request,
    run_id: chosenId(request.run_id) ?? newTimeUuid(now),
    thread_id: thread_id ?? newTimeUuid(now),
    temporary: thread_id === null,
    defaultTtl,
    sharesContext: sharesContext?.(assistant.graph_id) ?? false,
    ...(webhooks && { webhooks }),
  })
  const chosen = request.run_id !== undefined
  return { call, admission: { ...admission, has_new_ids: thread_id === null && !chosen }, chosen }
}

interface Launched {
  run: Run
  /** False if the run existed already (D-47). */
  isNew: boolean
}

async function launch(deps: RunsDeps, planned: RunPlanned): Promise<Launched> {
  const { worker, store, earlyCancels } = deps
  await deps.assertRoom?.()
  const { call, admission, chosen } = planned
  const { tenant } = call
  const admitted = await worker.admit(tenant, admission)
  if (admitted.kind === 'refused') throw refusal(admitted.reason, admission)
  const { run } = admitted
  const isNew = admitted.kind === 'created'
  if (!chosen || !isNew) return { run, isNew }
  const { thread_id, run_id } = run
  const action = earlyCancels.take({ deployment_id: tenant.deployment_id, thread_id, run_id })
  if (action === undefined) return { run, isNew }
  await worker.cancel(tenant, { thread_id, run_ids: [run_id] }, action)
  return { run: (await store.getRun(tenant, thread_id, run_id)) ?? run, isNew }
}

/**
 * Creates stateless runs, all or none. No early cancels are looked up: the threads have new ids, so no client can have
 * sent a cancel for them.
 */
async function launchAll(deps: RunsDeps, { tenant }: Call, plans: readonly RunPlanned[]): Promise<Run[]> {
  await deps.assertRoom?.()
  const all = await deps.worker.admitAll(
    tenant,
    plans.map(({ admission }) => admission),
  )
  if (all.kind === 'created') return all.runs
  const refused = plans[all.index]
  if (refused === undefined) throw new AppError('internal')
  const { code, message } = refusal(all.reason, refused.admission)
  throw new AppError(code, { message: `No run was created. Run ${all.index + 1}: ${message}` })
}

async function wait(
  deps: RunsDeps,
  call: Call,
  { thread_id, request, gone }: { thread_id: string | null; request: RunRequest; gone: AbortSignal },
): Promise<Awaited> {
  const planned = await plan(deps, call, thread_id, request)
  const leaving = { gone, cancels: request.on_disconnect === 'cancel' }
  return awaiting(deps, call, planned.admission.run.run_id, leaving, () => launch(deps, planned))
}

/**
 * Waits for the run that `find` creates or finds. The waiter is registered before `find` is called, so that it receives
 * the end of a fast run too.
 */
async function awaiting(
  deps: RunsDeps,
  { tenant }: Call,
  run_id: string,
  leaving: Leaving,
  find: () => Promise<Launched>,
): Promise<Awaited> {
  const waiter: Waiter = expectRun(deps, tenant, run_id)
  try {
    const { run, isNew } = await find()
    const isOpen = isNew && isActive(run.status)
    const outcome = isOpen ? undefined : await storedOutcome(deps.store, tenant, run)
    if (outcome === undefined) {
      const result = outcomeOf(deps, waiter, tenant, run, leaving)
      return { run, result: result.then(({ json }) => json) }
    }
    waiter.end()
    return { run, result: Promise.resolve(outcome.json) }
  } catch (error) {
    waiter.end()
    throw error
  }
}

async function getRun(
  { store }: RunsDeps,
  { tenant }: Call,
  thread_id: string | null,
  run_id: string,
): Promise<Run> {
  const run = await store.getRun(tenant, thread_id, run_id)
  if (run === undefined) throw noRun()
  return run
}

async function cancel(
  deps: RunsDeps,
  { tenant }: Call,
  asked: { thread_id: string | null; run_id: string },
  { action, wait: waits, early }: CancelOptions,
): Promise<void> {
  const { run_id } = asked
  const { worker, store, earlyCancels, wake } = deps
  const thread_id = asked.thread_id ?? (await store.getRun(tenant, null, run_id))?.thread_id
  if (thread_id === undefined) throw noRun()
  const [result] = await worker.cancel(tenant, { thread_id, run_ids: [run_id] }, action)
  if (result === undefined || result.outcome === 'not_found') {
    if (!early) throw noRun()
    const expected = { deployment_id: tenant.deployment_id, thread_id, run_id }
    earlyCancels.remember(expected, action)
    wake.send({ kind: 'early_cancel', ...expected, action })
    return
  }
  if (result.outcome === 'not_active') {
    const message = `Run ${run_id} is not pending or running (status: ${result.status})`
    throw new AppError('run_not_active', { message })
  }
  if (waits && result.outcome === 'requested') await endOf(deps, tenant, thread_id, run_id)
}

async function cancelMany(
  deps: RunsDeps,
  { tenant }: Call,
  selector: CancelSelector,
  { action, wait: waits }: Pick<CancelOptions, 'action' | 'wait'>,
): Promise<CancelResult[]> {
  const results = await deps.worker.cancel(tenant, selector, action)
  if (!results.some(({ outcome }) => outcome === 'ended' || outcome === 'requested')) {
    throw new AppError('not_found', { message: 'No runs found to cancel.' })
  }
  if (!waits) return results
  return Promise.all(
    results.map(async (result) => {
      if (result.outcome !== 'requested') return result
      return { ...result, status: await endOf(deps, tenant, result.thread_id, result.run_id) }
    }),
  )
}

function chosenId(run_id: string | undefined): string | undefined {
  if (run_id === undefined) return undefined
  const id = parseUuid(run_id)
  if (id === undefined) throw new AppError('invalid_request', { message: 'run_id must be a UUID.' })
  return id
}

export function noRun(): AppError {
  return new AppError('not_found', { message: 'Run not found' })
}

/** The error for an assistant that the tenant does not have. `asked` is its name in the request of the run. */
export function noAssistant(asked: string): AppError {
  const message = `No assistant found for "${asked}". Make sure the assistant ID is for a valid assistant or a valid graph ID.`
  return new AppError('not_found', { message })
}

export function noThread(thread_id: string): AppError {
  return new AppError('not_found', { message: `Thread with ID ${thread_id} not found` })
}

/** Another run was created on the thread after the request was checked. The caller may plan the same request again. */
export class Overtaken extends AppError {
  constructor() {
    super('conflict', { message: 'Another run was created on the thread at the same time.' })
  }
}

function refusal(reason: RefusalReason, { run: { thread_id } }: Pick<RunAdmission, 'run'>): AppError {
  if (reason === 'thread_not_found') return noThread(thread_id)
  if (reason === 'run_id_taken') return new AppError('run_id_taken')
  if (reason === 'overtaken') return new Overtaken()
  if (reason === 'date_taken')
    return new AppError('conflict', { message: 'The run for this date of the cron exists already.' })
  const message =
    'Thread is already running a task. Wait for it to finish or choose a different multitask strategy.'
  return new AppError('thread_busy', { message })
}
