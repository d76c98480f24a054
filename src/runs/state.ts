import type { RunStatus, ThreadStatus } from './model.ts'

/**
 * Version of the stored form of runs and of their checkpoints. A release raises the version if the previous release
 * could not execute or continue the runs of the new release. Servers of the earlier release then leave such runs to
 * newer servers.
 */
export const RUN_VERSION = 1

export const RUN_EVENTS = [
  /** A worker claims the run. */
  'claim',
  'succeed',
  'fail',
  'time_out',
  /** The worker or host of the run has ended, or the run needs another attempt. */
  'retry',
  /** A cancel takes effect: at once for a pending run, through the worker for a running one. */
  'interrupt',
  'rollback',
  /** A client deletes the record. */
  'delete',
] as const
export type RunEvent = (typeof RUN_EVENTS)[number]

const ENDED: Record<RunEvent, RunStatus | 'deleted' | 'refused'> = {
  claim: 'refused',
  succeed: 'refused',
  fail: 'refused',
  time_out: 'refused',
  retry: 'refused',
  interrupt: 'refused',
  rollback: 'refused',
  delete: 'deleted',
}

export const TRANSITIONS: Record<RunStatus, Record<RunEvent, RunStatus | 'deleted' | 'refused'>> = {
  pending: {
    claim: 'running',
    succeed: 'refused',
    fail: 'refused',
    time_out: 'refused',
    retry: 'refused',
    interrupt: 'interrupted',
    rollback: 'deleted',
    delete: 'refused',
  },
  running: {
    claim: 'refused',
    succeed: 'success',
    fail: 'error',
    time_out: 'timeout',
    retry: 'pending',
    interrupt: 'interrupted',
    rollback: 'deleted',
    delete: 'refused',
  },
  success: ENDED,
  error: ENDED,
  timeout: ENDED,
  interrupted: ENDED,
}

/** True for `pending` and `running`: the run can be cancelled, and its thread is busy. */
export function isActive(status: RunStatus): boolean {
  return status === 'pending' || status === 'running'
}

/**
 * The status of a thread without active runs: `error` if the last run failed, `interrupted` if the last checkpoint has
 * next nodes, else `idle`.
 */
export function restingStatus(
  last: Exclude<RunStatus, 'pending' | 'running'>,
  hasNext: boolean,
): Exclude<ThreadStatus, 'busy'> {
  if (last === 'error' || last === 'timeout') return 'error'
  return hasNext ? 'interrupted' : 'idle'
}

/** Whether an ended run stopped at an interrupt: it succeeded, and its state has next nodes. */
export function isInterrupted(status: RunStatus | 'deleted', next: readonly string[] | undefined): boolean {
  return status === 'success' && next !== undefined && next.length > 0
}
