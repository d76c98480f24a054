import type { CancelAction, MultitaskStrategy, RunStatus, ThreadStatus } from '../../../src/runs/model.ts'

interface ModelRun {
  run_id: string
  thread_id: string
  seq: number
  status: RunStatus
  due_at: number
  attempt: number
  cancel: CancelAction | null
  owner: string
  until: number
  /** The number of the claim that holds the run. */
  claim: number
}

interface ModelThread {
  rest: Exclude<ThreadStatus, 'busy'>
  hasNext: boolean
  values: string | null
  seq: number
  /** The run that wrote each checkpoint; `DELETED` if the run was deleted since. */
  checkpoints: string[]
}

/** The state of the reference model: plain data, so that it can be cloned. */
export interface ModelState {
  now: number
  threads: Record<string, ModelThread>
  runs: ModelRun[]
  /** Number of claims of each run id. */
  claims: Record<string, number>
}

/** The n-th claim of a run. */
export interface ModelLease {
  run_id: string
  claim: number
}

/**
 * A command that first looks for the threads with work, and then does the work. `among` names the threads that it
 * found; other commands may have changed some of them before the work is done.
 */
type Looking<Command> = Command & { among?: string[] }

export type ModelCommand =
  | { verb: 'tick'; ms: number }
  | {
      verb: 'admit'
      run_id: string
      thread_id: string
      strategy: MultitaskStrategy
      delay: number
      claim: boolean
      create: boolean
    }
  | Looking<{ verb: 'claim'; owner: string; limit: number }>
  | { verb: 'write'; lease: ModelLease }
  | {
      verb: 'finish'
      lease: ModelLease
      status: 'success' | 'error' | 'timeout' | 'interrupted'
      next: boolean
      values: string | undefined
    }
  | { verb: 'rollback'; lease: ModelLease }
  | { verb: 'release'; lease: ModelLease; max: number }
  | { verb: 'renew'; leases: ModelLease[] }
  | { verb: 'recover'; owner: string; max: number }
  | { verb: 'cancel'; thread_id: string; run_ids: string[]; action: CancelAction }
  | Looking<{ verb: 'cancelAll'; status: 'pending' | 'running' | 'all'; action: CancelAction }>
  | { verb: 'deleteRun'; thread_id: string; run_id: string }
  | { verb: 'deleteThread'; thread_id: string }
  | { verb: 'update'; thread_id: string; values: string; next: boolean }

export type LookingCommand = ModelCommand & { verb: 'claim' | 'cancelAll' }

export const LEASE_MS = 1000
export const ADMIT_OWNER = 'admitter'
const DELETED = ''

export function emptyModel(now: number): ModelState {
  return { now, threads: {}, runs: [], claims: {} }
}

const isActive = (run: ModelRun): boolean => run.status === 'pending' || run.status === 'running'
const bySeq = (a: ModelRun, b: ModelRun): number => a.seq - b.seq
const byQueue = (a: ModelRun, b: ModelRun): number => a.due_at - b.due_at || a.seq - b.seq

function runsOf(state: ModelState, thread_id: string): ModelRun[] {
  return state.runs.filter((run) => run.thread_id === thread_id).sort(bySeq)
}

function threadOf(state: ModelState, thread_id: string): ModelThread {
  const thread = state.threads[thread_id]
  if (thread === undefined) throw new Error('the model lost a thread')
  return thread
}

function take(state: ModelState, run: ModelRun, owner: string): void {
  const claim = (state.claims[run.run_id] ?? 0) + 1
  state.claims[run.run_id] = claim
  Object.assign(run, { status: 'running', owner, until: state.now + LEASE_MS, claim })
}

function held(state: ModelState, lease: ModelLease): ModelRun | undefined {
  return state.runs.find(
    (run) => run.run_id === lease.run_id && run.status === 'running' && run.claim === lease.claim,
  )
}

function remove(state: ModelState, run: ModelRun): void {
  state.runs = state.runs.filter((other) => other !== run)
  const thread = threadOf(state, run.thread_id)
  thread.checkpoints = thread.checkpoints.filter((writer) => writer !== run.run_id)
}

function rest(state: ModelState, run: ModelRun, failed: boolean): void {
  const thread = threadOf(state, run.thread_id)
  thread.rest = failed ? 'error' : thread.hasNext ? 'interrupted' : 'idle'
}

function cancel(state: ModelState, run: ModelRun, action: CancelAction): void {
  if (run.status === 'running') run.cancel = run.cancel === 'rollback' ? 'rollback' : action
  else if (action === 'rollback') remove(state, run)
  else {
    run.status = 'interrupted'
    rest(state, run, false)
  }
}

function more(state: ModelState, thread_id: string): boolean {
  return runsOf(state, thread_id).some(isActive)
}

type Fate = 'rollback' | 'retry' | 'success' | 'error' | 'timeout' | 'interrupted'

function end(state: ModelState, run: ModelRun, wanted: Fate, values?: string, next?: boolean): unknown {
  const asked: Fate | null = run.cancel === 'interrupt' ? 'interrupted' : run.cancel
  const fate = wanted === 'rollback' ? wanted : (asked ?? wanted)
  run.cancel = null
  if (fate === 'retry') {
    run.status = 'pending'
    run.attempt += 1
    return { kind: 'retried' }
  }
  if (fate === 'rollback') {
    remove(state, run)
    return { kind: 'ended', status: 'deleted', more: more(state, run.thread_id) }
  }
  run.status = fate
  const thread = threadOf(state, run.thread_id)
  if (values !== undefined) Object.assign(thread, { values, hasNext: next })
  rest(state, run, fate === 'error' || fate === 'timeout')
  return { kind: 'ended', status: fate, more: more(state, run.thread_id) }
}

function admit(state: ModelState, command: ModelCommand & { verb: 'admit' }): unknown {
  const { run_id, thread_id, strategy, delay } = command
  const { now } = state
  const known = state.runs.find((run) => run.run_id === run_id)
  if (known !== undefined) {
    if (known.thread_id === thread_id) return { kind: 'known', status: known.status }
    return { kind: 'refused', reason: 'run_id_taken' }
  }
  if (state.threads[thread_id] === undefined) {
    if (!command.create) return { kind: 'refused', reason: 'thread_not_found' }
    state.threads[thread_id] = { rest: 'idle', hasNext: false, values: null, seq: 0, checkpoints: [] }
  }
  const thread = threadOf(state, thread_id)
  const active = runsOf(state, thread_id).filter(isActive)
  if (strategy === 'reject' && active.length > 0) return { kind: 'refused', reason: 'thread_busy' }
  const cancels = strategy === 'interrupt' || strategy === 'rollback'
  const ended = cancels ? active.filter((run) => run.status === 'pending').map((run) => run.run_id) : []
  if (cancels) for (const run of active) cancel(state, run, strategy)
  const cancelling = cancels ? active.filter((run) => run.status === 'running') : []
  const before = runsOf(state, thread_id).filter(isActive)
  const free = before.every((run) => run.status === 'pending' && run.due_at > now)
  const run: ModelRun = {
    run_id,
    thread_id,
    seq: ++thread.seq,
    status: 'pending',
    due_at: now + delay,
    attempt: 1,
    cancel: null,
    owner: '',
    until: 0,
    claim: 0,
  }
  state.runs.push(run)
  if (command.claim && delay === 0 && free) take(state, run, ADMIT_OWNER)
  return {
    kind: 'created',
    status: run.status,
    ended,
    cancelling: cancelling.map((other) => [other.run_id, other.cancel]),
  }
}

/** The run of the thread that can be claimed next, and the time from which it can be claimed. */
function nextOf(state: ModelState, thread_id: string): { due_at: number; run: ModelRun } | undefined {
  const active = runsOf(state, thread_id).filter(isActive)
  if (active.some((run) => run.status === 'running')) return undefined
  const [first] = active.sort(byQueue)
  return first && { due_at: first.due_at, run: first }
}

function dueOf(state: ModelState, thread_ids: readonly string[]): { due_at: number; run: ModelRun }[] {
  return thread_ids
    .flatMap((thread_id) => nextOf(state, thread_id) ?? [])
    .filter(({ due_at }) => due_at <= state.now)
}

function claim(state: ModelState, owner: string, thread_ids: readonly string[]): string[] {
  const due = dueOf(state, thread_ids)
  for (const { run } of due) take(state, run, owner)
  return due.map(({ run }) => `${run.run_id} ${run.attempt}`)
}

function cancelSome(state: ModelState, runs: readonly ModelRun[], action: CancelAction): string[] {
  return runs.map((run) => {
    const outcome = { pending: 'ended', running: 'requested' }[run.status as string] ?? 'not_active'
    if (isActive(run)) cancel(state, run, action)
    return `${run.run_id} ${outcome}`
  })
}

function recover(state: ModelState, owner: string, max: number): string[] {
  const lost = state.runs.filter(
    (run) => run.status === 'running' && (run.owner === owner || run.until <= state.now),
  )
  for (const run of lost) end(state, run, run.attempt >= max ? 'error' : 'retry')
  return lost.map((run) => {
    const status = state.runs.includes(run) ? run.status : 'deleted'
    return `${run.run_id} ${status}`
  })
}

function ofLease(state: ModelState, lease: ModelLease, work: (run: ModelRun) => unknown): unknown {
  const run = held(state, lease)
  return run === undefined ? { kind: 'lost' } : work(run)
}

function renew(state: ModelState, leases: readonly ModelLease[]): unknown {
  const kept = leases.flatMap((lease) => held(state, lease) ?? [])
  for (const run of kept) run.until = state.now + LEASE_MS
  return {
    lost: leases.filter((lease) => held(state, lease) === undefined).map(({ run_id }) => run_id),
    cancel: kept.filter((run) => run.cancel !== null).map((run) => `${run.run_id} ${run.cancel}`),
  }
}

function update(state: ModelState, command: ModelCommand & { verb: 'update' }): boolean {
  const thread = state.threads[command.thread_id]
  if (thread === undefined) return false
  if (runsOf(state, command.thread_id).some((run) => run.status === 'running')) return true
  Object.assign(thread, { values: command.values, hasNext: command.next })
  if (thread.rest !== 'error') thread.rest = command.next ? 'interrupted' : 'idle'
  return true
}

function deleteRun(state: ModelState, thread_id: string, run_id: string): string {
  const run = runsOf(state, thread_id).find((other) => other.run_id === run_id)
  if (run === undefined) return 'not_found'
  if (isActive(run)) return 'active'
  state.runs = state.runs.filter((other) => other !== run)
  const thread = threadOf(state, thread_id)
  thread.checkpoints = thread.checkpoints.map((writer) => (writer === run_id ? DELETED : writer))
  return 'deleted'
}

/** Executes a command on the model; returns the value that the store must return, with unordered lists sorted. */
export function applyToModel(state: ModelState, command: ModelCommand): unknown {
  switch (command.verb) {
    case 'tick':
      state.now += command.ms
      return undefined
    case 'admit':
      return admit(state, command)
    case 'claim':
      return claim(state, command.owner, command.among ?? threadsFor(state, command))
    case 'write':
      return ofLease(state, command.lease, (run) => {
        threadOf(state, run.thread_id).checkpoints.push(run.run_id)
        return true
      })
    case 'finish':
      return ofLease(state, command.lease, (run) =>
        end(state, run, command.status, command.values, command.next),
      )
    case 'rollback':
      return ofLease(state, command.lease, (run) => end(state, run, 'rollback'))
    case 'release':
      return ofLease(state, command.lease, (run) =>
        end(state, run, run.attempt >= command.max ? 'error' : 'retry'),
      )
    case 'renew':
      return renew(state, command.leases)
    case 'recover':
      return recover(state, command.owner, command.max).sort()
    case 'cancel': {
      const { thread_id, action } = command
      const found = runsOf(state, thread_id).filter((run) => command.run_ids.includes(run.run_id))
      return cancelSome(state, found, action).sort()
    }
    case 'cancelAll': {
      const among = command.among ?? threadsFor(state, command)
      const found = state.runs.filter((run) => isWanted(run, command) && among.includes(run.thread_id))
      return cancelSome(state, found, command.action).sort()
    }
    case 'deleteRun':
      return deleteRun(state, command.thread_id, command.run_id)
    case 'deleteThread': {
      if (state.threads[command.thread_id] === undefined) return 0
      delete state.threads[command.thread_id]
      state.runs = state.runs.filter((run) => run.thread_id !== command.thread_id)
      return 1
    }
    case 'update':
      return update(state, command)
  }
}

function isWanted(run: ModelRun, { status }: ModelCommand & { verb: 'cancelAll' }): boolean {
  return isActive(run) && (status === 'all' || run.status === status)
}

/** The threads that have work for the command, in the order in which it is done. */
export function threadsFor(state: ModelState, command: LookingCommand): string[] {
  if (command.verb === 'cancelAll') {
    return state.runs.filter((run) => isWanted(run, command)).map(({ thread_id }) => thread_id)
  }
  return dueOf(state, Object.keys(state.threads))
    .sort((a, b) => a.due_at - b.due_at || (a.run.thread_id < b.run.thread_id ? -1 : 1))
    .slice(0, command.limit)
    .map(({ run }) => run.thread_id)
}

/** The state to compare with the store's: what clients can see, and what later responses depend on. */
export function viewOfModel(state: ModelState): unknown {
  const waiting = Object.keys(state.threads)
    .flatMap((thread_id) => nextOf(state, thread_id)?.due_at ?? [])
    .filter((due_at) => due_at > state.now)
  const threads = Object.entries(state.threads).map(([thread_id, thread]) => {
    const { rest: resting, hasNext, values, checkpoints } = thread
    const runs = runsOf(state, thread_id).reverse()
    const status = runs.some(isActive) ? 'busy' : resting
    const shown = runs.map((run) => `${run.run_id} ${run.status} ${run.attempt}`)
    const cancels = runs
      .flatMap(({ run_id, cancel }) => (cancel === null ? [] : `${run_id} ${cancel}`))
      .sort()
    const view = {
      status,
      rest: resting,
      hasNext,
      cancels,
      values,
      runs: shown,
      checkpoints: checkpoints.length,
    }
    return [thread_id, view] as const
  })
  return { nextDue: waiting.length > 0 ? Math.min(...waiting) : undefined, ...Object.fromEntries(threads) }
}
