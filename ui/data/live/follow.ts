import { ApiError } from '../../api/problem.ts'
import type { ServerEvent } from '../../api/server-events.ts'

/** State of a stream of live changes. `off`: the server refuses the stream, and the page does not request it again. */
export type LiveState = 'connecting' | 'live' | 'broken' | 'off'

const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 30_000
const REFUSED = new Set([401, 403, 404, 422])

export interface FollowParts {
  connect(signal: AbortSignal): AsyncIterable<ServerEvent>
  onEvent(event: ServerEvent): void
  onState(state: LiveState): void
  /** Resolves after `ms` milliseconds, or when the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>
  signal: AbortSignal
}

function pauseAfter(failures: number, error: unknown): number {
  const wanted = error instanceof ApiError ? (error.retry_after ?? 0) * 1000 : 0
  const own = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures)
  return Math.max(wanted, own * (0.75 + Math.random() / 2))
}

/** Follows a stream until the signal aborts. Reconnects when it ends or breaks, after a pause that grows with each failure. */
export async function followLive({ connect, onEvent, onState, pause, signal }: FollowParts): Promise<void> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    let cause: unknown
    try {
      for await (const event of connect(signal)) {
        if (event.event === 'open') {
          failures = 0
          onState('live')
        }
        onEvent(event)
      }
    } catch (error) {
      cause = error
    }
    if (signal.aborted) return
    if (cause instanceof ApiError && REFUSED.has(cause.status)) return onState('off')
    // The server ends every stream after ten minutes, which is not a failure.
    if (failures > 0 || cause !== undefined) onState('broken')
    await pause(pauseAfter(failures, cause), signal)
  }
}
