import type { CancelAction, MultitaskStrategy } from './model.ts'

/** The fields of an active run that the decision about a new run needs. */
export interface ActiveRun {
  run_id: string
  status: 'pending' | 'running'
  due_at: number
}

/** The effect of a new run on its thread. */
export type MultitaskDecision =
  | { kind: 'refused' }
  | {
      kind: 'admitted'
      /** The action on the runs of `ending` and `stopping`; null if both are empty. */
      action: CancelAction | null
      /** Pending runs that end when the new one is admitted. */
      ending: string[]
      /** Running runs to be cancelled; the new run waits until they have ended. */
      stopping: string[]
      /** True if no run of the thread is running or due. The new run may then start as soon as it is due. */
      free: boolean
    }

/**
 * Decides the effect of a new run on the active runs of its thread. A delayed run counts as active, but delays later
 * runs only once it is due.
 */
export function decideMultitask(
  strategy: MultitaskStrategy,
  active: readonly ActiveRun[],
  now: number,
): MultitaskDecision {
  if (strategy === 'reject' && active.length > 0) return { kind: 'refused' }
  if (strategy === 'reject' || strategy === 'enqueue') {
    const free = active.every(({ status, due_at }) => status === 'pending' && due_at > now)
    return { kind: 'admitted', action: null, ending: [], stopping: [], free }
  }
  const idsOf = (wanted: ActiveRun['status']): string[] =>
    active.filter(({ status }) => status === wanted).map(({ run_id }) => run_id)
  const stopping = idsOf('running')
  return {
    kind: 'admitted',
    action: strategy,
    ending: idsOf('pending'),
    stopping,
    free: stopping.length === 0,
  }
}
