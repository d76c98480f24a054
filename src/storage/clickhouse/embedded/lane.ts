import { EngineException, TOO_MANY_QUERIES } from './exception.ts'

/**
 * A pool of equal resources (sessions) with a queue: each resource serves one caller at a time, and further callers
 * wait.
 */
export interface Lane<T> {
  /**
   * Runs `use` with the next free resource, in order of arrival. Rejects with TOO_MANY_SIMULTANEOUS_QUERIES when too
   * many callers wait, and with the signal's reason when it aborts while waiting.
   */
  run<R>(use: (thing: T) => Promise<R>, signal?: AbortSignal): Promise<R>
  /** Number of callers that are served or wait. */
  readonly busy: number
  /** Resolves when no caller is served or waits. */
  idle(): Promise<void>
}

/** Opens a lane over `things` with at most `maxWaiting` callers in its queue. */
export function createLane<T>(name: string, things: readonly T[], maxWaiting: number): Lane<T> {
  const free = [...things]
  const waiting: ((thing: T) => void)[] = []
  const onIdle: (() => void)[] = []
  let busy = 0

  function acquire(signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted()
    const thing = free.pop()
    if (thing !== undefined) return Promise.resolve(thing)
    if (waiting.length >= maxWaiting) {
      const message = `Too many simultaneous queries: ${waiting.length} wait in lane ${name}.`
      throw new EngineException(TOO_MANY_QUERIES, 'TOO_MANY_SIMULTANEOUS_QUERIES', message)
    }
    return new Promise((resolve, reject) => {
      const take = (next: T) => {
        signal?.removeEventListener('abort', leave)
        resolve(next)
      }
      const leave = () => {
        waiting.splice(waiting.indexOf(take), 1)
        reject(signal?.reason)
      }
      waiting.push(take)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  function release(thing: T): void {
    const next = waiting.shift()
    if (next === undefined) free.push(thing)
    else next(thing)
  }

  return {
    get busy() {
      return busy
    },
    async run(use, signal) {
      busy += 1
      try {
        const thing = await acquire(signal)
        try {
          return await use(thing)
        } finally {
          release(thing)
        }
      } finally {
        busy -= 1
        if (busy === 0) for (const resolve of onIdle.splice(0)) resolve()
      }
    },
    idle() {
      return busy === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve))
    },
  }
}
