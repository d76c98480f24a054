import { type Clock, createExpiryTime, steadyTime } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { DeletionStore } from './deletion-store.ts'
import type { TraceDeletion } from './trace-deletion.ts'

/** Deletes the TraceRuns that are older than the retention of their project. */
export interface Retention {
  /** Deletes expired TraceRuns, at most once an hour. Never throws. */
  sweepWhenDue(signal: AbortSignal): Promise<void>
}

export interface RetentionDeps {
  traces: Pick<TraceDeletion, 'runsOfProject'>
  deletions: Pick<DeletionStore, 'expiring' | 'forget'>
  clock: Clock
  logger: Logger
  /** Deletes these TraceRuns. A call may have at most `page` ids. */
  deletePage: (workspace_id: string, run_ids: readonly string[]) => Promise<void>
  page: number
  /** Deletes attachments to which no TraceRun refers any more. */
  removeBlobs: () => Promise<void>
}

/** Milliseconds between two sweeps. */
export const SWEEP_MS = 3_600_000
const DAY_MS = 24 * 3_600_000

/** The first call of `sweepWhenDue` always sweeps. */
export function createRetention(deps: RetentionDeps): Retention {
  const { traces, deletions, clock, logger, deletePage, page, removeBlobs } = deps
  const expiryTime = createExpiryTime(clock)
  let sweptAt = Number.NEGATIVE_INFINITY
  const sweep = async (signal: AbortSignal): Promise<void> => {
    await deletions.forget(clock.now())
    for (const { workspace_id, project_id, days } of await deletions.expiring()) {
      const before = expiryTime() - days * DAY_MS
      const next = (): Promise<string[]> => traces.runsOfProject(workspace_id, project_id, before, page)
      let expired = 0
      for (let ids = await next(); ids.length > 0 && !signal.aborted; ids = await next()) {
        await deletePage(workspace_id, ids)
        expired += ids.length
      }
      if (expired > 0) logger.info({ workspace_id, project_id, days, runs: expired }, 'runs have expired')
    }
    await removeBlobs()
  }
  return {
    async sweepWhenDue(signal) {
      const steady = steadyTime(clock)
      if (steady < sweptAt + SWEEP_MS) return
      sweptAt = steady
      try {
        await sweep(signal)
      } catch (error) {
        if (!signal.aborted) logger.warn({ err: error }, 'retention: a sweep failed; the next one continues')
      }
    },
  }
}
