import type { ServerResponse } from 'node:http'

/** Milliseconds between heartbeats. Some clients close a connection if they receive nothing for a longer time. */
export const HEARTBEAT_MS = 5000
/** A heartbeat is a single line without an empty line after it, which an SDK would read as the end of an event. */
export const HEARTBEAT = ': heartbeat\n'

/**
 * Writes `text` to idle connections: after every `every_ms` without a write, except to clients that have not yet received
 * earlier data. All have one timer.
 */
export function createHeartbeats(text: string, every_ms: number) {
  // Time of the last write to each connection. All have the same interval, so the longest idle connection is first.
  const silent = new Map<ServerResponse, number>()
  let timer: NodeJS.Timeout | undefined

  function beat(): void {
    timer = undefined
    const now = performance.now()
    for (const [res, since] of silent) {
      if (since + every_ms > now) break
      wait(res)
      if (!res.writableNeedDrain) res.write(text)
    }
    arm()
  }

  function arm(): void {
    const [oldest] = silent.values()
    if (timer !== undefined || oldest === undefined) return
    timer = setTimeout(beat, Math.max(1, oldest + every_ms - performance.now())).unref()
  }

  function wait(res: ServerResponse): void {
    silent.delete(res)
    silent.set(res, performance.now())
  }

  return {
    /** Adds a connection. */
    join(res: ServerResponse): void {
      wait(res)
      arm()
    },
    /** Resets the idle time of a connection after a write. */
    wrote: wait,
    leave: (res: ServerResponse): void => void silent.delete(res),
  }
}
