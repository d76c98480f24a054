import { AppError } from '../base/errors.ts'
import type { RunStatus } from './model.ts'

/** How a run ended: `json` is what `wait` and `join` answer. */
export interface RunOutcome {
  status: RunStatus | 'deleted'
  json: string
}

/** A registered wait. */
export interface Waiter {
  /** The outcome, or undefined: the run has changed somewhere else, look at it. Rejects when the server stops. */
  next(): Promise<RunOutcome | undefined>
  /** Must be called when nobody waits any more. */
  end(): void
}

/** Those who wait for runs to end, in this process; `key` names a run within all tenants. */
export interface Waiters {
  wait(key: string): Waiter
  /** True while somebody waits for the run. */
  has(key: string): boolean
  tell(key: string, outcome: RunOutcome | undefined): void
  /** Tells everybody to look. */
  tellAll(): void
  /** Ends every wait, now and later, with `shutting_down`. */
  close(): void
}

interface Waiting {
  told: { outcome: RunOutcome | undefined } | undefined
  wake: (() => void) | undefined
}

export function createWaiters(): Waiters {
  const byKey = new Map<string, Set<Waiting>>()
  let closed = false

  function tellOne(waiting: Waiting, outcome: RunOutcome | undefined): void {
    // An outcome is final; a mere hint must not replace it.
    if (waiting.told?.outcome === undefined) waiting.told = { outcome }
    waiting.wake?.()
  }

  function tell(key: string, outcome: RunOutcome | undefined): void {
    for (const waiting of byKey.get(key) ?? []) tellOne(waiting, outcome)
  }

  async function next(waiting: Waiting): Promise<RunOutcome | undefined> {
    while (waiting.told === undefined) {
      if (closed) throw new AppError('shutting_down')
      await new Promise<void>((resolve) => {
        waiting.wake = resolve
      })
    }
    const { outcome } = waiting.told
    if (outcome === undefined) waiting.told = undefined
    return outcome
  }

  return {
    wait(key) {
      const waiting: Waiting = { told: undefined, wake: undefined }
      const set = byKey.get(key) ?? new Set()
      byKey.set(key, set.add(waiting))
      return {
        next: () => next(waiting),
        end() {
          set.delete(waiting)
          if (set.size === 0 && byKey.get(key) === set) byKey.delete(key)
        },
      }
    },
    has: (key) => byKey.has(key),
    tell,
    tellAll() {
      for (const key of byKey.keys()) tell(key, undefined)
    },
    close() {
      closed = true
      for (const set of byKey.values()) for (const waiting of set) waiting.wake?.()
    },
  }
}
