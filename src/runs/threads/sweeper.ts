import { startSweeps, type Sweeps } from '../../base/background.ts'
import type { Logger } from '../../base/log.ts'
import type { EventLog } from '../../events/event-log.ts'
import type { RunStore } from '../run-store.ts'

export interface ThreadSweeperDeps {
  store: RunStore
  events: EventLog
  /** Milliseconds between sweeps. */
  everyMs: number
  logger: Logger
  /** Further work of a sweep. */
  also(): Promise<unknown>
}

const AT_ONCE = 500

/** Deletes or prunes expired threads, until it is stopped. */
export function startThreadSweeper({ store, events, everyMs, logger, also }: ThreadSweeperDeps): Sweeps {
  const sweepAll = async (signal: AbortSignal): Promise<number> => {
    let count = 0
    for (;;) {
      const expired = await store.expiredThreads(AT_ONCE)
      for (const { thread_id, workspace_id, deployment_id, strategy } of expired) {
        const tenant = { workspace_id, deployment_id }
        const keep = strategy === 'delete' ? 'nothing' : 'latest_checkpoint'
        count += await store.deleteThreads(tenant, [thread_id], keep)
        if (strategy === 'delete') await events.drop({ ...tenant, thread_id })
      }
      if (expired.length < AT_ONCE || signal.aborted) break
    }
    await also()
    return count
  }
  return startSweeps(everyMs, sweepAll, (error) =>
    logger.warn({ err: error }, 'expired threads cannot be deleted now'),
  )
}
