import { setTimeout as delay } from 'node:timers/promises'
import { pause } from '../../base/pause.ts'
import type { Clock } from '../../base/clock.ts'
import { AppError, toAppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { EventLog } from '../../events/event-log.ts'
import type { GraphEnd, GraphHost, GraphState, StreamItem } from './graph-host.ts'
import type { CancelAction, Run } from '../model.ts'
import { createPartialMessages } from '../streams/partial-messages.ts'
import { isFailure } from './end-event.ts'
import { answeredIds, pendingInterrupts } from '../streams-v2/interrupts.ts'
import { runBegun } from '../streams-v2/run-entries.ts'
import { deletedJson, errorJson, errorOf } from './end-response.ts'
import { traceAttempt } from '../trace-attempt.ts'
import type {
  AttemptEnd,
  Claim,
  Closing,
  ReportedNodes,
  RunEnd,
  RunStore,
  StateSummary,
} from '../run-store.ts'
import { type AttemptOutcome, closingEvents, createRunTape } from './tape.ts'
import { isInterrupted } from '../state.ts'

/** Time limit and retries of runs. */
export interface RunRules {
  /** Maximum duration of a run; a longer run ends with status `timeout`. */
  timeout_ms: number
  max_attempts: number
  /** Pause before the second attempt after a temporary failure; doubled before each further one. */
  retry_ms: number
  /**
   * Maximum time for which a run waits for the log of events when its events cannot be stored; after that the run
   * fails.
   */
  unlogged_ms: number
}

export interface JobDeps {
  store: RunStore
  host: GraphHost
  events: EventLog
  /** Ingests trace operations of the run (D-45). Never throws. */
  record(claim: Claim, body: Uint8Array): void
  /** The project to which runs are traced. */
  project: string
  rules: RunRules
  clock: Clock
  logger: Logger
}

export interface JobEnd {
  attemptEnd: AttemptEnd
  /** The response of `wait`; null if it is the stored values of the thread. */
  json: string | null
  /** The last values of the run as JSON text. */
  values_json: string | null
  /** The ended run; undefined if it was rolled back, is tried again, or its lease was lost. */
  run: Run | undefined
  /**
   * Whether the thread's stored state may be outdated, because the run's host ended before it could report the last
   * checkpoint.
   */
  stateUnknown: boolean
}

/** One running attempt of a run. */
export interface RunJob {
  readonly claim: Claim
  /** Cancels; a rollback overrides an interrupt. */
  cancel(action: CancelAction): void
  /** Stops the job without writing to the store, because its lease is lost. */
  lose(): void
  /** Returns the run to the store, to be claimed again later, unless the run ends first. */
  handBack(): void
  /** Never rejects. */
  readonly done: Promise<JobEnd>
}

type Stop = CancelAction | 'lost' | 'unlogged' | 'hand_back' | 'timeout'

/** A stronger reason replaces a weaker earlier one. */
const STRENGTH: Record<Stop, number> = {
  timeout: 0,
  hand_back: 1,
  unlogged: 2,
  interrupt: 3,
  rollback: 4,
  lost: 5,
}

const UNLOGGED = { error: 'EventsLost', message: 'The events of the run could not be stored.' }
const LOG_AWAY = 'EventStoreUnavailable'

/** Pause between tries to reach the store or the log of events. */
const STORE_RETRY_MS = 250
const LOG_AGAIN_MS = 60_000

function notEnded(attemptEnd: AttemptEnd): JobEnd {
  return { attemptEnd, json: null, values_json: null, run: undefined, stateUnknown: false }
}

const LOST = notEnded({ kind: 'lost' })

/** Executes a claimed run to its end, and writes the end to the store and to the events of its thread. */
export function startRunJob(deps: JobDeps, claim: Claim): RunJob {
  const abort = new AbortController()
  let stop: Stop | undefined
  let isHandedBack = false
  const stopFor = (reason: Stop): void => {
    if (stop === undefined || STRENGTH[reason] > STRENGTH[stop]) stop = reason
    // The host gets only the first reason. That is enough: `rollback`, for which the host omits the state, can only be
    // replaced by `lost`, which needs no state either.
    abort.abort(reason)
  }
  return {
    claim,
    cancel: stopFor,
    lose: () => stopFor('lost'),
    handBack() {
      isHandedBack = true
      stopFor('hand_back')
    },
    done: execute({
      ...deps,
      claim,
      abort,
      stopFor,
      stopped: () => stop,
      handedBack: () => isHandedBack,
    }).catch((error: unknown) => {
      deps.logger.error({ err: error, run_id: claim.run_id }, 'a run could not be ended')
      return LOST
    }),
  }
}

interface Execution extends JobDeps {
  claim: Claim
  abort: AbortController
  stopFor(reason: Stop): void
  stopped(): Stop | undefined
  /** Whether `handBack` was called; it ends a wait for another attempt. */
  handedBack(): boolean
}

async function execute(execution: Execution): Promise<JobEnd> {
  const { claim, host, events, abort, rules, stopFor } = execution
  const { run, token, workspace_id, deployment_id, run_id, thread_id } = claim
  const tenant = { workspace_id, deployment_id }
  const lease = { ...tenant, run_id, thread_id, token }
  const partial = createPartialMessages()
  const tape = createRunTape(events, { ...lease, attempt: run.attempt }, stopFor)
  const graph = host.graphs().find(({ graph_id }) => graph_id === run.graph_id)
  const begin = { answered: await answeredBy(execution), language: graph?.language }
  const items = (batch: readonly StreamItem[]): void => {
    for (const item of batch) partial.add(item)
    const [first, ...others] = batch
    tape.write(!tape.opened && first?.event === 'metadata' ? [first, runBegun(run, begin), ...others] : batch)
  }
  const { trace, ended: tracesEnd } = traceAttempt(execution)
  const timer = setTimeout(() => stopFor('timeout'), rules.timeout_ms)
  const job = { tenant, lease, run, trace_id: run.trace_id, ...(claim.fresh === true && { fresh: true }) }
  const ended =
    claim.abandoned === true ? Promise.resolve(NEWER) : host.run(job, { items, trace }, abort.signal)
  const end = await ended.catch(crashed).finally(() => clearTimeout(timer))
  tracesEnd(end)
  await tape.flushed()
  return recordEnd(execution, { end, tape, begin, partial: () => partial.unfinished(end.state?.values_json) })
}

/** Ids of the interrupts that the run answers. An answer without ids answers all pending interrupts. */
async function answeredBy({ store, claim }: Execution): Promise<string[]> {
  const { command } = claim.run.kwargs
  if (command?.['resume'] === undefined) return []
  const named = answeredIds(command)
  if (named !== undefined) return named
  const thread = await store.getThread(claim, claim.thread_id).catch(() => undefined)
  return thread === undefined ? [] : pendingInterrupts(thread.interrupts).map(({ id }) => id)
}

const NEWER: GraphEnd = {
  kind: 'failed',
  error: 'NewerReleaseNeeded',
  message: 'The run needs a later release of Weir, which no server has had for ten minutes.',
  retryable: false,
  state: undefined,
}

/**
 * The end of an attempt for which `GraphHost.run` rejected. It should never reject, so this is a fault of Weir, which
 * may be temporary.
 */
function crashed(error: unknown): GraphEnd {
  return {
    kind: 'lost',
    culprit: false,
    error: 'HostLost',
    message: toAppError(error).message,
    state: undefined,
  }
}

/** Facts that are known when the graph has ended. */
interface Ending extends AttemptOutcome {
  partial(): Run['partial_messages']
}

async function recordEnd(execution: Execution, ending: Ending): Promise<JobEnd> {
  const { claim, rules } = execution
  const { end } = ending
  const stop = execution.stopped()
  if (stop === 'lost') return LOST
  if (stop === 'rollback') return rollBack(execution, ending)
  if (stop === 'interrupt') return finish(execution, ending, 'interrupted', null)
  // Some events of the run were not stored. Another attempt produces them again, so that streams lose none.
  if (stop === 'unlogged') {
    const answers = await untilLogAnswers(execution)
    if (execution.stopped() !== stop) return recordEnd(execution, ending)
    if (!answers && !execution.handedBack()) return finish(execution, ending, 'error', logAway(rules))
    return giveBack(execution, ending, UNLOGGED, execution.handedBack())
  }
  if (end.kind === 'done') return finish(execution, ending, 'success', null)
  if (stop === 'timeout') {
    const seconds = rules.timeout_ms / 1000
    return finish(execution, ending, 'timeout', {
      error: 'TimeoutError',
      message: `The run exceeded its time limit of ${seconds} s.`,
    })
  }
  if (end.kind === 'failed') {
    const { error, message, retryable } = end
    if (!retryable || claim.run.attempt >= rules.max_attempts)
      return finish(execution, ending, 'error', { error, message })
    await backOff(execution)
    // A cancel may have ended the wait. The `error` item of this attempt is dropped if another attempt follows.
    return execution.stopped() === stop
      ? giveBack(execution, ending, { error, message })
      : recordEnd(execution, ending)
  }
  const message = end.kind === 'lost' ? end.message : 'The server stopped before the run had ended.'
  const why = { error: end.kind === 'lost' ? end.error : 'ServerStopped', message }
  if (end.kind === 'lost' && end.culprit) return finish(execution, ending, 'error', why)
  return giveBack(execution, ending, why, stop === 'hand_back')
}

/** Waits before another attempt; a stop of the run ends the wait. */
async function backOff({ rules, claim, abort }: Execution): Promise<void> {
  const ms = rules.retry_ms * 2 ** (claim.run.attempt - 1)
  await pause(ms, abort.signal)
}

function logAway({ unlogged_ms }: RunRules): Failure {
  const seconds = unlogged_ms / 1000
  const message = `The store of events has not answered for ${seconds} s, so nobody can follow the run.`
  return { error: LOG_AWAY, message }
}

/**
 * Waits until the log is available, since another attempt would fail in the same way. Returns false if the wait takes
 * too long, or if the run or the server is stopped meanwhile.
 */
async function untilLogAnswers(execution: Execution): Promise<boolean> {
  const { events, claim, logger, rules, stopped, handedBack } = execution
  const until = performance.now() + rules.unlogged_ms
  let wasReported = false
  while (stopped() === 'unlogged' && !handedBack() && performance.now() < until) {
    try {
      await events.check(claim)
      return true
    } catch (error) {
      if (!toAppError(error).retryable) return true
      if (!wasReported)
        logger.warn(
          { err: error, run_id: claim.run_id },
          'another attempt of a run waits for the log of events',
        )
      wasReported = true
      await delay(STORE_RETRY_MS)
    }
  }
  return false
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
  const nodes = nodesOf(ending)
  const end: RunEnd = { status, error, partial_messages, state: summary(ending.end.state), nodes }
  return conclude(execution, ending, (closing) => store.finish(claim, end, closing), end)
}

function rollBack(execution: Execution, ending: Ending): Promise<JobEnd> {
  const { store, claim } = execution
  const nothing = { error: null, partial_messages: null }
  return conclude(execution, ending, (closing) => store.rollback(claim, closing, nodesOf(ending)), nothing)
}

function giveBack(execution: Execution, ending: Ending, error: Failure, always = false): Promise<JobEnd> {
  const { store, claim, rules } = execution
  const attempts = always ? Number.MAX_SAFE_INTEGER : rules.max_attempts
  const end: RunEnd = { status: 'error', error, partial_messages: null, state: undefined }
  const release = (closing: Closing): Promise<AttemptEnd> =>
    store.release(claim, error, attempts, closing, nodesOf(ending))
  return conclude(execution, ending, release, end)
}

function nodesOf({ end }: Ending): ReportedNodes {
  return end.kind === 'lost' ? undefined : end.nodes
}

/**
 * Writes the end to the store and to the streams in one step, and retries until that succeeds. Returns the outcome for
 * waiters.
 */
async function conclude(
  execution: Execution,
  { end, tape, begin }: Ending,
  storeEnd: (closing: Closing) => Promise<AttemptEnd>,
  asked: Pick<RunEnd, 'error' | 'partial_messages'>,
): Promise<JobEnd> {
  const { claim, clock } = execution
  const closing: Closing = (status) =>
    closingEvents(
      { ...claim.run, status, error: isFailure(status) ? asked.error : null },
      { end, tape, begin },
    )
  const attemptEnd = await untilStored(execution, () => storeEnd(closing))
  if (attemptEnd.kind !== 'ended') return notEnded(attemptEnd)
  const { status } = attemptEnd
  const now = clock.now()
  const failed = isFailure(status)
  if (failed) logFailure(execution, asked.error, end)
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
      attemptEnd,
      json: deletedJson(claim.run_id),
      values_json: null,
      run: undefined,
      stateUnknown: false,
    }
  }
  const json = failed ? errorJson(errorOf({ status, error: run.error })) : values_json
  return { attemptEnd, json, values_json, run: { ...run, status }, stateUnknown }
}

const MAX_REASON_CHARS = 1_000

/** Logs one line about a failure for the operator. */
function logFailure({ logger, claim }: Execution, failure: Run['error'], end: GraphEnd): void {
  const { run_id, thread_id, graph_id } = claim.run
  const reason = (failure?.message ?? '').replace(/\s+/g, ' ').slice(0, MAX_REASON_CHARS)
  const { node, place } = end.kind === 'failed' ? end : {}
  logger.warn(
    { graph: graph_id, node, run_id, thread_id, error: failure?.error, reason, place },
    'a run failed',
  )
}

/** Calls `storeEnd` until the store answers, or until the lease is lost. */
async function untilStored(execution: Execution, storeEnd: () => Promise<AttemptEnd>): Promise<AttemptEnd> {
  let loggedAt = -Infinity
  while (execution.stopped() !== 'lost') {
    try {
      return await storeEnd()
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
