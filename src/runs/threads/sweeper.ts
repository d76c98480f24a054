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
  /** Called at the end of each sweep, for further work. */
  also(): Promise<unknown>
}

const AT_ONCE = 500

type Expired = Awaited<ReturnType<RunStore['expiredThreads']>>

/** Deletes or prunes expired threads, until it is stopped. */
export function startThreadSweeper({ store, events, everyMs, logger, also }: ThreadSweeperDeps): Sweeps {
  /** Deletes or prunes expired threads of one tenant and strategy; returns their number. */
  const sweep = async (some: Expired): Promise<number> => {
    const [first] = some
    if (first === undefined) return 0
    const { workspace_id, deployment_id, strategy } = first
    const tenant = { workspace_id, deployment_id }
    const ids = some.map(({ thread_id }) => thread_id)
    const keep = strategy === 'delete' ? 'nothing' : 'latest_checkpoint'
    const count = await store.deleteThreads(tenant, ids, keep)
    if (strategy === 'delete') for (const thread_id of ids) await events.drop({ ...tenant, thread_id })
    return count
  }
  const sweepAll = async (signal: AbortSignal): Promise<number> => {
    let count = 0
    for (;;) {
      const expired = await store.expiredThreads(AT_ONCE)
      const groups = Map.groupBy(expired, ({ workspace_id, deployment_id, strategy }) =>
        [workspace_id, deployment_id, strategy].join(' '),
      )
      for (const some of groups.values()) count += await sweep(some)
      if (expired.length < AT_ONCE || signal.aborted) break
    }
    await also()
    return count
  }
  return startSweeps(everyMs, sweepAll, (error) =>
    logger.warn({ err: error }, 'expired threads cannot be deleted now'),
  )
}
