import { pause } from './pause.ts'

/** Options of repeating failed work. */
export interface RetryOptions {
  /** Milliseconds before each further attempt; the last one is also that before all later attempts. */
  pauses: readonly [number, ...number[]]
  /** False for an error that no further attempt can pass. `failures` counts the failed attempts. Default: all are retried. */
  mayRetry?(error: unknown, failures: number): boolean
  /** Called for each error that is retried, before the pause; `failures` counts the failed attempts. */
  onRetry?(error: unknown, failures: number): void
  /** Ends pauses and attempts. */
  signal?: AbortSignal
}

/**
 * Does `work` until it succeeds; with a signal that aborts before, the result is undefined.
 * @throws the first error that may not be retried
 */
export async function retry<T>(
  work: () => Promise<T>,
  options: RetryOptions & { signal: AbortSignal },
): Promise<T | undefined>
export async function retry<T>(work: () => Promise<T>, options: RetryOptions & { signal?: never }): Promise<T>
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T | undefined> {
  const { pauses, mayRetry = () => true, onRetry, signal = new AbortController().signal } = options
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted) return undefined
      if (!mayRetry(error, failures)) throw error
      onRetry?.(error, failures)
    }
    await pause(pauses[Math.min(failures, pauses.length) - 1]!, signal)
  }
  return undefined
}
