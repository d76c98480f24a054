import { pause } from './pause.ts'

export interface RetryOptions {
  /** Milliseconds before further attempts; the last pause is repeated. */
  pauses: readonly [number, ...number[]]
  /** Whether another attempt is made after an error. `failures` is the number of failed attempts. Default: always. */
  mayRetry?(error: unknown, failures: number): boolean
  /** Called before the pause after an error; `failures` is the number of failed attempts. */
  onRetry?(error: unknown, failures: number): void
  /** An abort ends pauses and attempts. */
  signal?: AbortSignal
}

/**
 * Repeats `work` until it succeeds. The result is undefined if the signal aborts before that.
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
