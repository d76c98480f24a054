import type { Clock } from '../base/clock.ts'
import { AppError, toAppError } from '../base/errors.ts'
import { newTimeUuid } from '../base/ids.ts'
import type { Logger } from '../base/log.ts'
import type { JsonObject } from '../schema/json.ts'
import { nextRunDate } from './cron-schedule.ts'
import type { Cron, CronSearch, CronStore, DueCron } from './cron-store.ts'
import { createDueTimer } from './due-timer.ts'
import type { Caller, Tenant } from './model.ts'
import type { AssistantFacts } from './plan-run.ts'
import type { Call, RunRequest, Runs } from './runs.ts'
import type { Threads } from './threads.ts'
import { type WebhookRules, webhookTarget } from './webhook-rules.ts'

/** What a cron is made of, checked by its schema. */
export interface CronRequest {
  schedule: string
  /** IANA name; null or absent for UTC. */
  timezone?: string | null
  /** Epoch milliseconds. */
  end_time?: number | null
  enabled?: boolean
  /** Of threads made for its runs; default `delete`. */
  on_run_completed?: 'delete' | 'keep'
  /** Of the cron, and of its runs. */
  metadata?: JsonObject
  /** The run to be made, `assistant_id` included (run-api 1.5). */
  payload: RunRequest
}

/** What may be changed of a cron; `payload` is laid over what it has. */
export type CronChange = Partial<Omit<CronRequest, 'payload'>> & { payload?: Partial<RunRequest> }

/**
 * What the deployment API does with crons. What it refuses is an AppError: `not_found` (cron, thread, assistant),
 * `invalid_request` for a schedule or a webhook that cannot be used.
 */
export interface Crons {
  /** `thread_id` null: each run has a thread of its own. */
  create(call: Call, thread_id: string | null, request: CronRequest): Promise<Cron>
  get(call: Call, cron_id: string): Promise<Cron>
  update(call: Call, cron_id: string, change: CronChange): Promise<Cron>
  remove(call: Call, cron_id: string): Promise<void>
  search(call: Call, search: CronSearch): Promise<{ crons: Cron[]; total: number }>
  /** Makes no more runs. */
  stop(): Promise<void>
}

export interface CronsDeps {
  store: CronStore
  /** In whose name runs are made, and how they may make them. */
  runsOf(caller: Caller): Pick<Runs, 'create'>
  threads: Pick<Threads, 'get'>
  findAssistant(tenant: Tenant, id_or_graph: string): Promise<AssistantFacts | undefined>
  deployments: readonly string[]
  webhooks?: WebhookRules
  clock: Clock
  logger: Logger
}

/** Another process may have made a cron that this one has not heard of. */
const MAX_WAIT_MS = 60_000
const AT_ONCE = 100

/** Serves crons, and makes their runs when their time has come. */
export function startCrons(deps: CronsDeps): Crons {
  const { store, clock } = deps
  const timer = createDueTimer({ ...deps, look: () => runDue(deps), maxWaitMs: MAX_WAIT_MS })
  timer.ask()
  return {
    async create(call, thread_id, request) {
      const cron = await newCron(deps, call, thread_id, request)
      await store.create(call.tenant, cron)
      timer.ask()
      return cron
    },
    async get({ tenant }, cron_id) {
      const cron = await store.get(tenant, cron_id)
      if (cron === undefined) throw noCron(cron_id)
      return cron
    },
    async update(call, cron_id, change) {
      const asked = change.payload?.assistant_id
      assertPayload(deps, change.payload)
      const assistant_id = asked === undefined ? undefined : await assistantId(deps, call, asked)
      const now = clock.now()
      const cron = await store.update(call.tenant, cron_id, (before) =>
        changed(before, change, assistant_id, now),
      )
      if (cron === undefined) throw noCron(cron_id)
      timer.ask()
      return cron
    },
    async remove({ tenant }, cron_id) {
      if (!(await store.remove(tenant, cron_id))) throw noCron(cron_id)
    },
    search: ({ tenant }, search) => store.search(tenant, search),
    stop: () => timer.stop(),
  }
}

function noCron(cron_id: string): AppError {
  return new AppError('not_found', { message: `Cron with ID ${cron_id} not found` })
}

async function assistantId({ findAssistant }: CronsDeps, { tenant }: Call, asked: string): Promise<string> {
  const assistant = await findAssistant(tenant, asked)
  if (assistant === undefined)
    throw new AppError('not_found', { message: `No assistant found for "${asked}".` })
  return assistant.assistant_id
}

/** What would refuse each of its runs refuses the cron. @throws AppError invalid_request */
function assertPayload({ webhooks }: CronsDeps, payload: Partial<RunRequest> | undefined): void {
  if (typeof payload?.webhook === 'string') webhookTarget(payload.webhook, webhooks)
}

async function newCron(
  deps: CronsDeps,
  call: Call,
  thread_id: string | null,
  request: CronRequest,
): Promise<Cron> {
  const { schedule, payload, timezone = null, end_time = null, enabled = true } = request
  assertPayload(deps, payload)
  const assistant_id = await assistantId(deps, call, payload.assistant_id)
  if (thread_id !== null) await deps.threads.get(call, thread_id)
  const now = deps.clock.now()
  const next = nextRunDate({ schedule, timezone, end_time }, now)
  return {
    cron_id: newTimeUuid(now),
    assistant_id,
    thread_id,
    on_run_completed: request.on_run_completed ?? 'delete',
    schedule,
    timezone,
    end_time,
    next_run_date: enabled ? next : null,
    enabled,
    caller: call.caller,
    payload: { ...payload, assistant_id },
    metadata: request.metadata ?? {},
    created_at: now,
    updated_at: now,
  }
}

/** @throws AppError invalid_request */
function changed(cron: Cron, change: CronChange, assistant_id: string | undefined, now: number): Cron {
  const { payload, metadata, ...plain } = change
  const given = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined))
  const next = { ...cron, ...given, metadata: { ...cron.metadata, ...metadata }, updated_at: now }
  const id = assistant_id ?? cron.assistant_id
  return {
    ...next,
    assistant_id: id,
    payload: { ...cron.payload, ...(payload as JsonObject | undefined), assistant_id: id },
    next_run_date: next.enabled ? nextRunDate(next, now) : null,
  }
}

/** Makes the runs that are due; answers when there are more. What was missed while no server ran is made up for once. */
async function runDue(deps: CronsDeps): Promise<number | undefined> {
  const { store, deployments, clock } = deps
  for (;;) {
    const due = await store.due(deployments, clock.now(), AT_ONCE)
    for (const one of due) {
      await runOnce(deps, one)
      // A store in this process answers at once: others get their turn here.
      await new Promise((turn) => setImmediate(turn))
    }
    if (due.length === 0) return store.nextDue(deployments)
  }
}

/** A schedule that could be read when it was made, and no longer can, has come to its end. */
function nextOf(cron: Cron, now: number): number | null {
  try {
    return nextRunDate(cron, now)
  } catch {
    return null
  }
}

async function runOnce({ store, runsOf, clock, logger }: CronsDeps, due: DueCron): Promise<void> {
  const { cron, workspace_id, deployment_id } = due
  const { cron_id, caller, thread_id, payload, on_run_completed } = cron
  const next = nextOf(cron, clock.now())
  // Whoever moves its time makes the run; a death in between leaves one out rather than making two.
  if (!(await store.advance(due, next))) return
  const call = { tenant: { workspace_id, deployment_id }, caller, headers: {} }
  // It was checked when the cron was made.
  const request = payload as unknown as RunRequest
  const metadata = { ...request.metadata, ...cron.metadata, cron_id }
  try {
    await runsOf(caller).create(call, thread_id, { ...request, metadata, on_completion: on_run_completed })
  } catch (error) {
    const { code } = toAppError(error)
    if (code === 'internal') throw error
    logger.warn({ cron_id, code, err: error }, 'a cron could not make its run')
  }
}
