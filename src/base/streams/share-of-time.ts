import type { Pauses } from './pauses.ts'

/** Time over which the share is measured, in milliseconds. */
const WINDOW_MS = 50
/**
 * Returns a function that handles data of a stream, and pauses the stream when that takes more than its `share` of the
 * thread, such as 0.1. So a process that writes without end has to wait, and the other work of the thread goes on. The function
 * returns for how many milliseconds the stream is paused.
 */
export function shareOfTime(pauses: Pauses, share: number): (handle: () => void) => number {
  let begun = Number.NEGATIVE_INFINITY
  let spent = 0
  const rest = (now: number): number => {
    if (spent <= WINDOW_MS * share) return 0
    const rest_ms = Math.max(1, spent / share - (now - begun))
    pauses.set('time', true)
    setTimeout(() => pauses.set('time', false), rest_ms)
    return rest_ms
  }
  return (handle) => {
    const before = performance.now()
    if (before - begun > WINDOW_MS) [begun, spent] = [before, 0]
    let rest_ms = 0
    try {
      handle()
    } finally {
      const now = performance.now()
      spent += now - before
      rest_ms = rest(now)
    }
    return rest_ms
  }
}
