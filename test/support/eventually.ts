import { env } from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'

/** Milliseconds between two tries: 40, because most tries are queries, which use more CPU than waiting does. */
const LOOK_MS = { first: 25, most: 100 } as const
/** Milliseconds that a process or server may take to start or end: enough for a machine that is ten times slower. */
export const PATIENCE_MS = 120_000
/**
 * Milliseconds after which a condition counts as never met: in `npm test` less than the limit of a test, so that the
 * test fails with the last error of the condition.
 */
export const CONDITION_MS = env['TEST_LENGTH'] === 'long' ? PATIENCE_MS : 25_000

/**
 * Milliseconds until the next try, for a wait that began at `started`. The pause is as long as the wait so far, because
 * each try uses CPU.
 */
export function nextLookMs(started: number): number {
  return Math.min(Math.max(LOOK_MS.first, Date.now() - started), LOOK_MS.most)
}

/** Resolves in a later millisecond, so that records created afterwards have a later time than those created before. */
export async function nextMillisecond(): Promise<void> {
  const now = Date.now()
  while (Date.now() <= now) await delay(1)
}

/**
 * Calls `read` until it succeeds, and returns its result. After `ms` it throws the error of the last call. For data
 * that becomes readable shortly after it was acknowledged; `read` may contain assertions.
 */
export async function eventually<T>(read: () => Promise<T>, ms = CONDITION_MS): Promise<T> {
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
