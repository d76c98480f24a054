import type { Clock } from '../../base/clock.ts'
import type { CancelAction, Tenant } from '../model.ts'

/** Time for which a cancel waits for its run (D-47). */
const KEPT_MS = 60_000
/** Maximum number of cancels, far above what real clients need; the oldest are removed first. */
const MAX_KEPT = 100_000

/** A run that may be created later. */
export interface ExpectedRun extends Pick<Tenant, 'deployment_id'> {
  thread_id: string
  run_id: string
}

/** Cancels that arrived before their runs. Such a run is ended as soon as it is created. */
export interface EarlyCancels {
  remember(run: ExpectedRun, action: CancelAction): void
  /** Removes and returns the action for this run. */
  take(run: ExpectedRun): CancelAction | undefined
}

export function createEarlyCancels(clock: Clock): EarlyCancels {
  const kept = new Map<string, { action: CancelAction; until: number }>()
  const keyOf = ({ deployment_id, thread_id, run_id }: ExpectedRun): string =>
    `${deployment_id}/${thread_id}/${run_id}`

  /** All entries are kept for the same time, so they are in order of expiry. */
  function forgetOld(): void {
    const now = clock.steady()
    for (const [key, { until }] of kept) {
      if (until > now && kept.size <= MAX_KEPT) return
      kept.delete(key)
    }
  }

  return {
    remember(run, action) {
      const key = keyOf(run)
      kept.delete(key)
      kept.set(key, { action, until: clock.steady() + KEPT_MS })
      forgetOld()
    },
    take(run) {
      const key = keyOf(run)
      const found = kept.get(key)
      kept.delete(key)
      return found !== undefined && found.until > clock.steady() ? found.action : undefined
    },
  }
}
