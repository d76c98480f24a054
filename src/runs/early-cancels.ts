import type { Clock } from '../base/clock.ts'
import type { CancelAction, Tenant } from './model.ts'

/** How long a cancel waits for its run (D-47). */
const KEPT_MS = 60_000
/** More than honest clients will ever leave behind; the oldest go first. */
const MAX_KEPT = 100_000

/** A run that may come. */
export interface ExpectedRun extends Pick<Tenant, 'deployment_id'> {
  thread_id: string
  run_id: string
}

/** Cancels that came before their runs: whoever creates such a run ends it at once. */
export interface EarlyCancels {
  remember(run: ExpectedRun, action: CancelAction): void
  /** The action that waits for this run, which is forgotten now. */
  take(run: ExpectedRun): CancelAction | undefined
}

export function createEarlyCancels(clock: Clock): EarlyCancels {
  const kept = new Map<string, { action: CancelAction; until: number }>()
  const keyOf = ({ deployment_id, thread_id, run_id }: ExpectedRun): string =>
    `${deployment_id}/${thread_id}/${run_id}`

  /** In order of their end, because all are kept for the same time. */
  function forgetOld(): void {
    const now = clock.now()
    for (const [key, { until }] of kept) {
      if (until > now && kept.size <= MAX_KEPT) return
      kept.delete(key)
    }
  }

  return {
    remember(run, action) {
      const key = keyOf(run)
      kept.delete(key)
      kept.set(key, { action, until: clock.now() + KEPT_MS })
      forgetOld()
    },
    take(run) {
      const key = keyOf(run)
      const found = kept.get(key)
      kept.delete(key)
      return found !== undefined && found.until > clock.now() ? found.action : undefined
    },
  }
}
