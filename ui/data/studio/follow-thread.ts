/** An event of the stream of a thread. */
export interface ThreadEvent {
  event: string
  data: Readonly<Record<string, unknown>>
}

/** How a thread is followed. */
export interface FollowedThread {
  /** Opens the stream; errors have the `status` of the answer, if there was one. */
  connect(): AsyncIterable<ThreadEvent>
  heard(event: ThreadEvent): void
  /** Resolves after `ms` milliseconds, or when the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>
  signal: AbortSignal
}

const AGAIN_MS = 1000
const MAX_AGAIN_MS = 30_000

/** Answers that stay the same when the stream is requested again, and what a reader can do. */
const REFUSALS: Readonly<Record<number, string>> = {
  401: 'Changes by others are not shown here: the server does not accept your session or token. Sign in, or use another token, and reload the page.',
  403: 'Changes by others are not shown here: you may not read this thread.',
  404: 'Changes by others are not shown here: the thread does not exist.',
}

function refusalOf(error: unknown): string | undefined {
  const { status } = (error ?? {}) as { status?: unknown }
  return typeof status === 'number' ? REFUSALS[status] : undefined
}

/**
 * Follows the stream of a thread until the signal aborts. A stream that ends is opened again after a second, one that
 * fails after a pause that grows with each failure. Resolves with a message when the server refuses it for good.
 */
export async function followThread({
  connect,
  heard,
  pause,
  signal,
}: FollowedThread): Promise<string | undefined> {
  let wait = AGAIN_MS
  while (!signal.aborted) {
    try {
      for await (const event of connect()) {
        if (signal.aborted) return undefined
        wait = AGAIN_MS
        heard(event)
      }
      wait = AGAIN_MS
    } catch (error) {
      if (signal.aborted) return undefined
      const refusal = refusalOf(error)
      if (refusal !== undefined) return refusal
      wait = Math.min(wait * 2, MAX_AGAIN_MS)
    }
    await pause(wait, signal)
  }
  return undefined
}
