import { startWhenReady } from '../../base/background.ts'
import { toAppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { pause } from '../../base/pause.ts'
import type { UsageRollups } from './rollups.ts'

/** Keeps the rollups up to date in the background. */
export interface UsageRoller {
  stop(): Promise<void>
}

export interface UsageRollerDeps {
  rollups: UsageRollups
  /** Increases when this process has counted something. */
  recorded(): number
  /** Resolves when the store can be read. */
  ready: Promise<void>
  logger: Logger
  /** Default 5 s. */
  intervalMs?: number
}

const INTERVAL_MS = 5_000
/** Changes of other processes are found after this many intervals without changes of this process. */
const IDLE_INTERVALS = 60

/**
 * Starts with the changes that earlier processes left; then works when there are new ones, and checks rarely otherwise.
 */
export function startUsageRoller(deps: UsageRollerDeps): UsageRoller {
  return { stop: startWhenReady(deps.ready, async (signal) => await run(deps, signal)) }
}

async function run(deps: UsageRollerDeps, signal: AbortSignal): Promise<void> {
  const { rollups, recorded, logger, intervalMs = INTERVAL_MS } = deps
  let seen = -1
  let idle = 0
  while (!signal.aborted) {
    const now = recorded()
    if (now !== seen || ++idle >= IDLE_INTERVALS) {
      idle = 0
      try {
        const hours = await rollups.refresh('hour', signal)
        const days = await rollups.refresh('day', signal)
        if (hours.left + days.left === 0) seen = now
      } catch (thrown) {
        const { code, retryable } = toAppError(thrown)
        if (!signal.aborted)
          logger[retryable ? 'info' : 'error']({ err: thrown, code }, 'usage: not rolled up')
      }
    }
    await pause(intervalMs, signal)
  }
}
