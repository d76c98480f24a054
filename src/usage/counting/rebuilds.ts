import type { Clock } from '../../base/clock.ts'
import { toAppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { UsageRollups } from './rollups.ts'

/** One rebuilding of the rollups. Times are epoch milliseconds. */
export interface UsageRebuild {
  status: 'running' | 'done' | 'failed'
  started_at: number
  finished_at: number | null
  error: string | null
}

/** Rebuilds rollups in the background, one at a time. */
export interface UsageRebuilds {
  /** Starts a rebuild, or returns the running one. */
  start(): UsageRebuild
  /** The last rebuild of this process, if any. */
  last(): UsageRebuild | undefined
  /** Aborts the running rebuild. */
  stop(): Promise<void>
}

/** Starts no work before `start`. */
export function createUsageRebuilds(deps: {
  rollups: UsageRollups
  clock: Clock
  logger: Logger
}): UsageRebuilds {
  const { rollups, clock, logger } = deps
  const stopping = new AbortController()
  let last: UsageRebuild | undefined
  let running: Promise<void> = Promise.resolve()

  const run = async (rebuild: UsageRebuild): Promise<void> => {
    try {
      await rollups.rebuild(stopping.signal)
      rebuild.status = 'done'
    } catch (error) {
      if (!stopping.signal.aborted) logger.error({ err: error }, 'usage: a rebuild failed')
      Object.assign(rebuild, { status: 'failed', error: toAppError(error).message })
    }
    rebuild.finished_at = clock.now()
  }

  return {
    start() {
      if (last?.status === 'running') return last
      last = { status: 'running', started_at: clock.now(), finished_at: null, error: null }
      running = run(last)
      return last
    },
    last: () => last,
    async stop() {
      stopping.abort()
      await running
    },
  }
}
