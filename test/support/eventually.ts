import { setTimeout as delay } from 'node:timers/promises'

/** Milliseconds between two tries. Most tries are queries that cost more CPU than waiting costs: 40 ms. */
const LOOK_MS = { first: 25, most: 100 } as const
/** Milliseconds until a condition counts as never met: long enough for a machine that is ten times slower. */
export const PATIENCE_MS = 120_000

/** Milliseconds until the next try, for a wait since `started`: as long as the wait so far, since tries take CPU. */
export function nextLookMs(started: number): number {
  return Math.min(Math.max(LOOK_MS.first, Date.now() - started), LOOK_MS.most)
}

/** Resolves in a later millisecond, so that records created afterwards have a later time than earlier ones. */
export async function nextMillisecond(): Promise<void> {
  const now = Date.now()
  while (Date.now() <= now) await delay(1)
}

/**
 * The result of the first call of `read` that does not fail; after `ms` the error of the last call. For data that is
 * acknowledged and becomes readable a moment later: `read` may contain assertions.
 */
export async function eventually<T>(read: () => Promise<T>, ms = PATIENCE_MS): Promise<T> {
  const started = Date.now()
  while (true) {
    try {
      return await read()
    } catch (error) {
      if (Date.now() > started + ms) throw error
      await delay(nextLookMs(started))
    }
  }
}
