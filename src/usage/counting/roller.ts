import { startWhenReady } from '../../base/background/background.ts'
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
  /** A number that increases when this process has counted traces. */
  recorded(): number
  /** Resolves when the store can be read. */
  ready: Promise<void>
  logger: Logger
  /** Milliseconds between two checks; default 5 s. */
  intervalMs?: number
}

const INTERVAL_MS = 5_000
/** After this number of intervals without changes of this process, changes of other processes are searched for. */
const IDLE_INTERVALS = 60

/** Rolls up the changes of earlier processes first, and then new changes. While there are none, checks are rare. */
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
