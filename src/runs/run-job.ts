import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import { AppError, toAppError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { EventDraft, EventLog } from '../events/event-log.ts'
import type { GraphEnd, GraphHost, GraphState, StreamItem } from './graph-host.ts'
import type { CancelAction, Run } from './model.ts'
import { createPartialMessages } from './partial-messages.ts'
import { type EndedStatus, runDone } from './run-done.ts'
import { deletedJson, errorJson, errorOf } from './run-outcome.ts'
import type { Claim, Closing, RunEnd, RunStore, Settled, StateSummary } from './run-store.ts'
import { createRunTape, type RunTape } from './run-tape.ts'
import { isInterrupted } from './state.ts'
import { stateEvent } from './state-event.ts'

/** How long runs may take, and how often they are tried. */
export interface RunRules {
  /** A run that takes longer ends `timeout`. */
  timeout_ms: number
  max_attempts: number
  /** Before the second attempt after a failure that may pass; doubled before the next. */
  retry_ms: number
}

/** What a job stands on. */
export interface JobDeps {
  store: RunStore
  host: GraphHost
  events: EventLog
  /** Takes trace operations of the run (D-45). Never throws. */
  record(claim: Claim, body: Uint8Array): void
  rules: RunRules
  clock: Clock
  logger: Logger
}

/** How a job ended. */
export interface JobEnd {
  settled: Settled
  /** What `wait` answers; null: the thread's values, as stored. */
  json: string | null
  /** The last values of the run as JSON text. */
  values_json: string | null
  /** The run as it ended; undefined when it was rolled back, is tried again or is no longer ours. */
  run: Run | undefined
  /** The store has not been told what the run has reached, because its host died with it. */
  stateUnknown: boolean
}

/** One attempt of a run that is under way. */
export interface RunJob {
  readonly claim: Claim
  /** Cancels; a rollback wins over an interrupt. */
  cancel(action: CancelAction): void
  /** The lease is lost: stops without a word to the store. */
  lose(): void
  /** Gives the run back to be taken up later, unless it ends first. */
  handBack(): void
  /** Never rejects. */
  readonly done: Promise<JobEnd>
}

/** Why a job was stopped from outside. */
type Stop = CancelAction | 'lost' | 'unlogged' | 'hand_back' | 'timeout'

/** Later words that are stronger replace earlier ones. */
const STRENGTH: Record<Stop, number> = {
  timeout: 0,
  hand_back: 1,
  unlogged: 2,
  interrupt: 3,
  rollback: 4,
  lost: 5,
}

const UNLOGGED = { error: 'EventsLost', message: 'What the run streamed could not be stored.' }

/** Between tries to reach the store, or the log of events. */
const STORE_RETRY_MS = 250
const LOG_AGAIN_MS = 60_000

function notEnded(settled: Settled): JobEnd {
  return { settled, json: null, values_json: null, run: undefined, stateUnknown: false }
}

const LOST = notEnded({ kind: 'lost' })

/** Executes a run that has been taken, to whatever end, and tells store and events. */
export function startRunJob(deps: JobDeps, claim: Claim): RunJob {
  const abort = new AbortController()
  let stop: Stop | undefined
  const stopFor = (reason: Stop): void => {
    if (stop === undefined || STRENGTH[reason] > STRENGTH[stop]) stop = reason
    abort.abort()
  }
  return {
    claim,
    cancel: stopFor,
    lose: () => stopFor('lost'),
    handBack: () => stopFor('hand_back'),
    done: execute({ ...deps, claim, abort, stopFor, stopped: () => stop }).catch((error: unknown) => {
      deps.logger.error({ err: error, run_id: claim.run_id }, 'a run could not be settled')
      return LOST
    }),
  }
}

interface Execution extends JobDeps {
  claim: Claim
  abort: AbortController
  stopFor(reason: Stop): void
  stopped(): Stop | undefined
}

async function execute(execution: Execution): Promise<JobEnd> {
  const { claim, host, events, abort, rules, stopFor } = execution
  const { run, token, workspace_id, deployment_id, run_id, thread_id } = claim
  const tenant = { workspace_id, deployment_id }
  const lease = { ...tenant, run_id, thread_id, token }
  const partial = createPartialMessages()
  const tape = createRunTape(events, { ...lease, attempt: run.attempt }, stopFor)
  const items = (batch: readonly StreamItem[]): void => {
    for (const item of batch) partial.add(item)
    tape.write(batch)
  }
  const trace = (body: Uint8Array): void => execution.record(claim, body)
  const timer = setTimeout(() => stopFor('timeout'), rules.timeout_ms)
  const job = { tenant, lease, run, trace_id: run.trace_id }
  const end = await host
    .run(job, { items, trace }, abort.signal)
    .catch(crashed)
    .finally(() => clearTimeout(timer))
  await tape.flushed()
  return settle(execution, { end, tape, partial: () => partial.unfinished(end.state?.values_json) })
}

/** A host does not reject; if it does, the fault is ours and may pass. */
function crashed(error: unknown): GraphEnd {
  return { kind: 'lost', culprit: false, message: toAppError(error).message, state: undefined }
}

/** What is known when the graph has ended. */
interface Ending {
  end: GraphEnd
  tape: RunTape
  partial(): Run['partial_messages']
}

async function settle(execution: Execution, ending: Ending): Promise<JobEnd> {
  const { claim, rules } = execution
  const { end } = ending
  const stop = execution.stopped()
  if (stop === 'lost') return LOST
  if (stop === 'rollback') return rollBack(execution, ending)
  if (stop === 'interrupt') return finish(execution, ending, 'interrupted', null)
  // Streams must not lose what the run has made: another attempt makes it again.
  if (stop === 'unlogged') {
    await untilLogAnswers(execution)
    return execution.stopped() === stop ? giveBack(execution, ending, UNLOGGED) : settle(execution, ending)
  }
  if (end.kind === 'done') return finish(execution, ending, 'success', null)
  if (stop === 'timeout') {
    const seconds = rules.timeout_ms / 1000
    return finish(execution, ending, 'timeout', {
      error: 'TimeoutError',
      message: `The run took longer than the ${seconds} s that a run may take.`,
    })
  }
  if (end.kind === 'failed') {
    const { error, message, retryable } = end
    if (!retryable || claim.run.attempt >= rules.max_attempts)
      return finish(execution, ending, 'error', { error, message })
    await backOff(execution)
    // A cancel may have come meanwhile, and an error is not the end of a run that is tried again.
    return execution.stopped() === stop
      ? giveBack(execution, ending, { error, message })
      : settle(execution, ending)
  }
  const message = end.kind === 'lost' ? end.message : 'The server stopped before the run had ended.'
  const why = { error: end.kind === 'lost' ? 'HostLost' : 'ServerStopped', message }
  if (end.kind === 'lost' && end.culprit) return finish(execution, ending, 'error', why)
  return giveBack(execution, ending, why, stop === 'hand_back')
}

/** Waits before another attempt, not longer than until someone stops the run. */
async function backOff({ rules, claim, abort }: Execution): Promise<void> {
  const ms = rules.retry_ms * 2 ** (claim.run.attempt - 1)
  await delay(ms, undefined, { signal: abort.signal }).catch(() => undefined)
}

/** Waits while the log is away, where another attempt would come to the same end, or until someone stops the run. */
async function untilLogAnswers({ events, claim, logger, stopped }: Execution): Promise<void> {
  while (stopped() === 'unlogged') {
    try {
      await events.check(claim)
      return
    } catch (error) {
      if (!toAppError(error).retryable) return
      logger.warn(
        { err: error, run_id: claim.run_id },
        'another attempt of a run waits for the log of events',
      )
      await delay(STORE_RETRY_MS)
    }
  }
}

type Failure = { error: string; message: string }

function summary(state: GraphState | undefined): StateSummary | undefined {
  if (state === undefined) return undefined
  const { values_json, next, interrupts } = state
  return { values_json, next, interrupts }
}

function finish(
  execution: Execution,
  ending: Ending,
  status: RunEnd['status'],
  error: Failure | null,
): Promise<JobEnd> {
  const { store, claim } = execution
  const partial_messages = status === 'success' ? null : ending.partial()
  const end: RunEnd = { status, error, partial_messages, state: summary(ending.end.state) }
  return conclude(execution, ending, (closing) => store.finish(claim, end, closing), end)
}

function rollBack(execution: Execution, ending: Ending): Promise<JobEnd> {
  const { store, claim } = execution
  const nothing = { error: null, partial_messages: null }
  return conclude(execution, ending, (closing) => store.rollback(claim, closing), nothing)
}

function giveBack(execution: Execution, ending: Ending, error: Failure, always = false): Promise<JobEnd> {
  const { store, claim, rules } = execution
  const attempts = always ? Number.MAX_SAFE_INTEGER : rules.max_attempts
  const end: RunEnd = { status: 'error', error, partial_messages: null, state: undefined }
  return conclude(execution, ending, (closing) => store.release(claim, error, attempts, closing), end)
}

/** Tells the store, and with it the streams, until it has heard, and says what waiters are answered. */
async function conclude(
  execution: Execution,
  { end, tape }: Ending,
  tell: (closing: Closing) => Promise<Settled>,
  asked: Pick<RunEnd, 'error' | 'partial_messages'>,
): Promise<JobEnd> {
  const { claim, clock } = execution
  const closing: Closing = (status) =>
    closingEvents({ ...claim.run, status, error: isFailure(status) ? asked.error : null }, { end, tape })
  const settled = await untilTold(execution, () => tell(closing))
  if (settled.kind !== 'ended') return notEnded(settled)
  const { status } = settled
  const now = clock.now()
  const failed = isFailure(status)
  const { partial_messages } = asked
  const run = {
    ...claim.run,
    status,
    error: failed ? asked.error : null,
    partial_messages,
    interrupted: isInterrupted(status, end.state?.next),
    updated_at: now,
    ended_at: now,
  }
  const values_json = end.kind === 'done' ? end.values : (end.state?.values_json ?? null)
  const stateUnknown = end.state === undefined && end.kind === 'lost'
  if (status === 'deleted') {
    return {
      settled,
      json: deletedJson(claim.run_id),
      values_json: null,
      run: undefined,
      stateUnknown: false,
    }
  }
  const json = failed ? errorJson(errorOf({ status, error: run.error })) : values_json
  return { settled, json, values_json, run: { ...run, status }, stateUnknown }
}

function isFailure(status: EndedStatus): boolean {
  return status === 'error' || status === 'timeout'
}

/** What closes a run in its thread's log: its failure, its end, and what the thread is now. */
function closingEvents(
  { run_id, thread_id, attempt, status, error }: Omit<Run, 'status'> & { status: EndedStatus },
  { end, tape }: Pick<Ending, 'end' | 'tape'>,
): EventDraft[] {
  const items: StreamItem[] = []
  if (!tape.opened) items.push({ event: 'metadata', data: JSON.stringify({ run_id, attempt }) })
  if (error !== null) items.push(tape.error ?? { event: 'error', data: JSON.stringify(error) })
  items.push(runDone(run_id, status))
  if (end.state !== undefined && status !== 'deleted') items.push(stateEvent(thread_id, end.state))
  return items.map((item) => ({ ...item, run_id }))
}

/** A store that does not answer is asked again until it does, or until the lease is known to be lost. */
async function untilTold(execution: Execution, tell: () => Promise<Settled>): Promise<Settled> {
  let loggedAt = -Infinity
  while (execution.stopped() !== 'lost') {
    try {
      return await tell()
    } catch (error) {
      if (!(error instanceof AppError) || !error.retryable) throw error
      if (performance.now() - loggedAt > LOG_AGAIN_MS) {
        const { code, message } = error
        const { run_id } = execution.claim
        execution.logger.warn({ run_id, code, reason: message }, 'the end of a run waits for the store')
        loggedAt = performance.now()
      }
      await delay(STORE_RETRY_MS)
    }
  }
  return { kind: 'lost' }
}
