import { setTimeout as delay } from 'node:timers/promises'

const LOOK_MS = { first: 20, most: 100 } as const
/** Long enough for a machine that is ten times slower; what never happens is found out all the same. */
export const PATIENCE_MS = 120_000

/** Milliseconds to the next look at what is waited for since `started`: the longer it takes, the less often is asked. */
export function nextLookMs(started: number): number {
  return Math.min(Math.max(LOOK_MS.first, (Date.now() - started) / 8), LOOK_MS.most)
}

/** Resolves in a later millisecond: what is made then has a later time than all that was made before. */
export async function nextMillisecond(): Promise<void> {
  const now = Date.now()
  while (Date.now() <= now) await delay(1)
}

/**
 * The value of the first call of `read` that does not fail; after `ms` the failure of the last call. For what is
 * acknowledged and becomes readable a moment later: `read` may hold assertions.
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
