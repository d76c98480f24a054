import type { ServerResponse } from 'node:http'

/** Keeps connections alive on which nothing is said for a while; one timer for all of them. */
export interface Heartbeats {
  /** From now on. */
  join(res: ServerResponse): void
  /** Something is being said: its silence begins anew. */
  spoke(res: ServerResponse): void
  leave(res: ServerResponse): void
}

/** Says `text` after every `every_ms` of silence, but to nobody who does not take what has been said already. */
export function createHeartbeats(text: string, every_ms: number): Heartbeats {
  // Since when each is silent; the longest first, as all wait for the same time.
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
    join(res) {
      wait(res)
      arm()
    },
    spoke: wait,
    leave: (res) => void silent.delete(res),
  }
}
