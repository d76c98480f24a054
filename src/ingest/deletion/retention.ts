import { type Clock, createExpiryTime } from '../../base/clock.ts'
import type { Logger } from '../../base/log.ts'
import type { Sweep } from '../../base/background/sweeps.ts'
import type { DeletionStore } from './deletion-store.ts'
import type { TraceDeletion } from './trace-deletion.ts'

export interface RetentionDeps {
  traces: Pick<TraceDeletion, 'page' | 'runsOfProject' | 'freeExpired'>
  deletions: Pick<DeletionStore, 'expiring' | 'forget'>
  clock: Clock
  logger: Logger
  /** Resolves when the store can be read. */
  ready: Promise<void>
  /** Deletes these TraceRuns, which have expired at the time: at most `traces.page`. */
  deletePage: (workspace_id: string, run_ids: readonly string[], expired_at: number) => Promise<void>
}

const DAY_MS = 24 * 3_600_000

/** The sweep of the TraceRuns that are older than the retention of their project. */
export function retentionSweep(deps: RetentionDeps, everyMs: number): Sweep {
  const { traces, deletions, clock, logger, ready, deletePage } = deps
  const expiryTime = createExpiryTime(clock)
  return {
    name: 'retention',
    everyMs,
    begins: ready,
    async work(signal) {
      await deletions.forget(clock.now())
      for (const { workspace_id, project_id, days } of await deletions.expiring()) {
        const now = expiryTime()
        const before = now - days * DAY_MS
        const next = (): Promise<string[]> =>
          traces.runsOfProject(workspace_id, project_id, before, traces.page)
        let expired = 0
        for (let ids = await next(); ids.length > 0 && !signal.aborted; ids = await next()) {
          await deletePage(workspace_id, ids, now)
          expired += ids.length
        }
        if (expired > 0) logger.info({ workspace_id, project_id, days, runs: expired }, 'runs have expired')
      }
      await traces.freeExpired(expiryTime(), signal)
    },
  }
}
