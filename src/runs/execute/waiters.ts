import { AppError } from '../../base/errors.ts'
import type { RunStatus } from '../model.ts'

/** The outcome of a run: `json` is the response of `wait` and `join`. */
export interface RunOutcome {
  status: RunStatus | 'deleted'
  json: string
}

/** A registered request that waits for the end of a run. */
export interface Waiter {
  /**
   * The outcome; undefined when the run has changed in another process, so that the store must be read. Rejects when
   * the server stops.
   */
  next(): Promise<RunOutcome | undefined>
  /** Must be called when the wait is over. */
  end(): void
}

/** Requests in this process that wait for runs to end; `key` identifies a run within all tenants. */
export interface Waiters {
  wait(key: string): Waiter
  /** True while a request waits for the run. */
  has(key: string): boolean
  /** Passes the outcome of a run to its waiters. With undefined, the waiters read the outcome from the store. */
  resolve(key: string, outcome: RunOutcome | undefined): void
  /** Resolves all waiters with undefined, so that each reads the store. */
  recheckAll(): void
  /** Ends every wait, now and later, with `shutting_down`. */
  close(): void
}

interface Waiting {
  news: { outcome: RunOutcome | undefined } | undefined
  wake: (() => void) | undefined
}

export function createWaiters(): Waiters {
  const byKey = new Map<string, Set<Waiting>>()
  let closed = false

  function resolveOne(waiting: Waiting, outcome: RunOutcome | undefined): void {
    // An outcome is final; a hint to read the store must not replace it.
    if (waiting.news?.outcome === undefined) waiting.news = { outcome }
    waiting.wake?.()
  }

  function resolve(key: string, outcome: RunOutcome | undefined): void {
    for (const waiting of byKey.get(key) ?? []) resolveOne(waiting, outcome)
  }

  async function next(waiting: Waiting): Promise<RunOutcome | undefined> {
    while (waiting.news === undefined) {
      if (closed) throw new AppError('shutting_down')
      await new Promise<void>((wake) => {
        waiting.wake = wake
      })
    }
    const { outcome } = waiting.news
    if (outcome === undefined) waiting.news = undefined
    return outcome
  }

  return {
    wait(key) {
      const waiting: Waiting = { news: undefined, wake: undefined }
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
    resolve,
    recheckAll() {
      for (const key of byKey.keys()) resolve(key, undefined)
    },
    close() {
      closed = true
      for (const set of byKey.values()) for (const waiting of set) waiting.wake?.()
    },
  }
}
