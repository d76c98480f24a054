import type { Clock } from '../../base/clock.ts'
import { AppError, toAppError } from '../../base/errors.ts'
import { newTimeUuid } from '../../base/ids.ts'
import type { Logger } from '../../base/log.ts'
import type { JsonObject } from '../../schema/json.ts'
import { bounded } from '../../schema/merge-bounded.ts'
import { nextRunDate } from './schedule.ts'
import type { Cron, CronSearch, CronStore, DueCron } from './store.ts'
import { createDueTimer } from '../execute/due-timer.ts'
import type { Caller, Tenant } from '../model.ts'
import type { AssistantFacts } from '../plan-run.ts'
import type { Call, RunRequest, Runs } from '../runs.ts'
import type { Threads } from '../threads/threads.ts'
import { type WebhookRules, webhookTarget } from '../webhooks/rules.ts'

/** A request for a cron, checked by its schema. */
export interface CronRequest {
  schedule: string
  /** IANA name; null or absent for UTC. */
  timezone?: string | null
  /** Epoch milliseconds. */
  end_time?: number | null
  enabled?: boolean
  /** What happens to threads that were created for runs of the cron; default `delete`. */
  on_run_completed?: 'delete' | 'keep'
  metadata?: JsonObject
  /** The request of each run, including `assistant_id`. */
  payload: RunRequest
}

/** The fields of a cron that may change; `payload` is merged over the stored one. */
export type CronChange = Partial<Omit<CronRequest, 'payload'>> & { payload?: Partial<RunRequest> }

/**
 * Crons of the deployment API. Refusals are an AppError: `not_found` (cron, thread, assistant), `invalid_request` for
 * an invalid schedule or webhook.
 */
export interface Crons {
  /** `thread_id` null: each run has a thread of its own. */
  create(call: Call, thread_id: string | null, request: CronRequest): Promise<Cron>
  get(call: Call, cron_id: string): Promise<Cron>
  update(call: Call, cron_id: string, change: CronChange): Promise<Cron>
  remove(call: Call, cron_id: string): Promise<void>
  search(call: Call, search: CronSearch): Promise<{ crons: Cron[]; total: number }>
  stop(): Promise<void>
}

export interface CronsDeps {
  store: CronStore
  /** The run methods with the permissions of a caller. */
  runsOf(caller: Caller): Pick<Runs, 'create'>
  threads: Pick<Threads, 'get'>
  findAssistant(tenant: Tenant, id_or_graph: string): Promise<AssistantFacts | undefined>
  deployments: readonly string[]
  webhooks?: WebhookRules
  /** @throws AppError disk_full, disk_unwritable */
  assertRoom?(): Promise<void>
  clock: Clock
  logger: Logger
}

/**
 * Maximum time between two checks. It is limited because another process may have created a cron without notifying this
 * one.
 */
const MAX_WAIT_MS = 60_000
/** Pause after a check for due crons while the disk is full. */
const NO_ROOM_MS = 5_000
/** Time until the next attempt to create a run that a quota or the store refused. */
const REFUSED_MS = 60_000
const AT_ONCE = 100

/** Serves crons, and creates their runs when they are due. */
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

/** Checks a payload, so that no cron is stored whose runs would all be refused. @throws AppError invalid_request */
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

/** The cron after a change by a client. @throws AppError invalid_request */
function changed(cron: Cron, change: CronChange, assistant_id: string | undefined, now: number): Cron {
  const { payload, metadata, ...plain } = change
  const given = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined))
  const merged = bounded(cron.metadata, { ...cron.metadata, ...metadata }, 'metadata of the cron')
  const next = { ...cron, ...given, metadata: merged, updated_at: now }
  const id = assistant_id ?? cron.assistant_id
  return {
    ...next,
    assistant_id: id,
    payload: { ...cron.payload, ...(payload as JsonObject | undefined), assistant_id: id },
    next_run_date: next.enabled ? nextRunDate(next, now) : null,
  }
}

async function hasRoom({ assertRoom }: CronsDeps): Promise<boolean> {
  try {
    await assertRoom?.()
    return true
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/**
 * Creates the runs that are due; returns the time at which the next ones are due. A cron that missed several dates,
 * because no server was running, gets one run for all of them.
 */
async function runDue(deps: CronsDeps): Promise<number | undefined> {
  const { store, deployments, clock } = deps
  for (;;) {
    const due = await store.due(deployments, clock.now(), AT_ONCE)
    // The disk is checked before the next date is set. Otherwise the cron would have no run for this date if the disk
    // is full.
    if (due.length > 0 && !(await hasRoom(deps))) return clock.now() + NO_ROOM_MS
    for (const one of due) {
      await runOnce(deps, one)
      // A store in this process resolves without I/O, so yield to the event loop here.
      await new Promise((turn) => setImmediate(turn))
    }
    if (due.length === 0) return store.nextDue(deployments)
  }
}

/** Returns the next date; null for a stored schedule that this version can no longer read. */
function nextOf(cron: Cron, now: number): number | null {
  try {
    return nextRunDate(cron, now)
  } catch {
    return null
  }
}

/** Codes of temporary refusals, after which the run is tried again. After other refusals the date is skipped. */
const MAY_PASS: ReadonlySet<string> = new Set([
  'quota_reached',
  'store_unavailable',
  'disk_full',
  'disk_unwritable',
])

/**
 * Returns the time at which a cron is due again after its run was refused: soon after a temporary refusal, but never
 * later than its next date.
 */
function dueAgain(code: string, now: number, next: number | null): number | null {
  const again = now + REFUSED_MS
  return !MAY_PASS.has(code) || (next !== null && next <= again) ? next : again
}

async function runOnce(deps: CronsDeps, due: DueCron): Promise<void> {
  const { store, runsOf, clock, logger } = deps
  const { cron, workspace_id, deployment_id } = due
  const { cron_id, caller, thread_id, payload, on_run_completed, next_run_date } = cron
  // The clock may have been set back since the cron was due: its next date is never the same one.
  const next = nextOf(cron, Math.max(clock.now(), next_run_date ?? 0))
  // The transaction that creates the run also marks the date as used. So each date has exactly one run, even after a
  // crash.
  const date = { cron_id, due_at: next_run_date ?? 0, next }
  const call = { tenant: { workspace_id, deployment_id }, caller, headers: {}, cron: date }
  // The schedule was checked when the cron was created.
  const request = payload as unknown as RunRequest
  const metadata = { ...request.metadata, ...cron.metadata, cron_id }
  try {
    await runsOf(caller).create(call, thread_id, { ...request, metadata, on_completion: on_run_completed })
  } catch (error) {
    const { code } = toAppError(error)
    if (!(await store.advance(due, dueAgain(code, clock.now(), next)))) return
    if (code === 'internal') throw error
    logger.warn({ cron_id, code, err: error }, 'a cron could not create its run')
  }
}
