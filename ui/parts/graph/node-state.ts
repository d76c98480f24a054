/** The state of a node in a run: waiting, running, ended, failed or interrupted. */
export interface NodeState {
  state: 'running' | 'success' | 'error' | 'interrupted'
  /** Number of executions that have ended or are running. */
  count: number
  /** Milliseconds of all its executions that have ended. */
  ms?: number
  /** When its oldest running execution began, in milliseconds of `performance.now()`; undefined if none is known to run. */
  since?: number
}
