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

const WORDS = { running: '● running', success: '✓ done', error: '✗ failed', interrupted: 'waits' }

function timeOf({ state, ms, since }: NodeState, now: number): number | undefined {
  if (state === 'interrupted') return undefined
  if (state !== 'running') return ms
  return since === undefined ? undefined : (ms ?? 0) + Math.max(0, now - since)
}

function timeText(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

/** The line below the name of a node: its state, how often it ran and how long. `now` is of the clock of `since`. */
export function noteOf(node: NodeState, now: number): string {
  const { state, count } = node
  const ms = timeOf(node, now)
  return [WORDS[state], count > 1 && `× ${count}`, ms !== undefined && timeText(ms)].filter(Boolean).join(' ')
}
