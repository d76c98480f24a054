export interface ThreadEvent {
  event: string
  data: Readonly<Record<string, unknown>>
}

export interface FollowedThread {
  /** Opens the stream; errors have the `status` of the response, if there was one. */
  connect(): AsyncIterable<ThreadEvent>
  onEvent(event: ThreadEvent): void
  /** Resolves after `ms` milliseconds, or when the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>
  signal: AbortSignal
}

const AGAIN_MS = 1000
const MAX_AGAIN_MS = 30_000
/**
 * This many responses 404 in a row are final. Fewer may come from a server that has just started, before it serves its
 * deployments.
 */
const FINAL_404S = 4

/** The statuses of final refusals, each with advice for the user. */
const REFUSALS: Readonly<Record<number, string>> = {
  401: 'Changes by others are not shown here: the server does not accept your session or token. Sign in and reload the page, or set another token with “Token of a user”.',
  403: 'Changes by others are not shown here: you may not read this thread.',
  404: 'Changes by others are not shown here: the thread does not exist.',
}

function statusOf(error: unknown): number | undefined {
  const { status } = (error ?? {}) as { status?: unknown }
  return typeof status === 'number' ? status : undefined
}

/**
 * Follows the stream of a thread until the signal aborts. A stream that ends is opened again after a second. A stream
 * that fails is opened again after a pause that grows with each failure. Resolves with a message when the server's
 * refusal is final.
 */
export async function followThread({
  connect,
  onEvent,
  pause,
  signal,
}: FollowedThread): Promise<string | undefined> {
  let wait = AGAIN_MS
  let missing = 0
  while (!signal.aborted) {
    try {
      for await (const event of connect()) {
        if (signal.aborted) return undefined
        wait = AGAIN_MS
        missing = 0
        onEvent(event)
      }
      wait = AGAIN_MS
      missing = 0
    } catch (error) {
      if (signal.aborted) return undefined
      const status = statusOf(error)
      missing = status === 404 ? missing + 1 : 0
      const refusal = status === undefined ? undefined : REFUSALS[status]
      if (refusal !== undefined && (status !== 404 || missing === FINAL_404S)) return refusal
      wait = Math.min(wait * 2, MAX_AGAIN_MS)
    }
    await pause(wait, signal)
  }
  return undefined
}
