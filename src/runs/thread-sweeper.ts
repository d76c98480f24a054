import type { Logger } from '../base/log.ts'
import type { EventLog } from '../events/event-log.ts'
import type { RunStore } from './run-store.ts'

export interface ThreadSweeperDeps {
  store: RunStore
  events: EventLog
  /** Milliseconds between sweeps. */
  everyMs: number
  logger: Logger
  /** What else is swept, such as expired store items. */
  also(): Promise<unknown>
}

const AT_ONCE = 500

/** Deletes or prunes the threads whose time is over, until it is stopped. */
export function startThreadSweeper({ store, events, everyMs, logger, also }: ThreadSweeperDeps): {
  /** One sweep now; answers how many threads it took. */
  sweep(): Promise<number>
  stop(): Promise<void>
} {
  let sweeping: Promise<number> | undefined
  let stopped = false

  async function sweepAll(): Promise<number> {
    let count = 0
    for (;;) {
      const expired = await store.expiredThreads(AT_ONCE)
      for (const { thread_id, workspace_id, deployment_id, strategy } of expired) {
        const tenant = { workspace_id, deployment_id }
        const keep = strategy === 'delete' ? 'nothing' : 'latest_checkpoint'
        count += await store.deleteThreads(tenant, [thread_id], keep)
        if (strategy === 'delete') await events.drop({ ...tenant, thread_id })
      }
      if (expired.length < AT_ONCE || stopped) break
    }
    await also()
    return count
  }

  function sweep(): Promise<number> {
    sweeping ??= sweepAll().finally(() => {
      sweeping = undefined
    })
    return sweeping
  }

  const timer = setInterval(() => {
    sweep().catch((error: unknown) => logger.warn({ err: error }, 'threads cannot be swept now'))
  }, everyMs)
  timer.unref()
  return {
    sweep,
    async stop() {
      stopped = true
      clearInterval(timer)
      await sweeping?.catch(() => 0)
    },
  }
}
