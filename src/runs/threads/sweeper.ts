import type { Sweep } from '../../base/background/sweeps.ts'
import type { EventLog } from '../../events/event-log.ts'
import type { RunStore } from '../run-store.ts'

export interface ThreadSweepDeps {
  store: Pick<RunStore, 'expiredThreads' | 'deleteExpired'>
  events: Pick<EventLog, 'drop'>
  /** Milliseconds between sweeps. */
  everyMs: number
}

const AT_ONCE = 500

type Expired = Awaited<ReturnType<RunStore['expiredThreads']>>

export function threadSweep({ store, events, everyMs }: ThreadSweepDeps): Sweep {
  /** Deletes or prunes expired threads of one tenant and strategy; returns their number. */
  const sweep = async (some: Expired): Promise<number> => {
    const [first] = some
    if (first === undefined) return 0
    const { workspace_id, deployment_id, strategy } = first
    const tenant = { workspace_id, deployment_id }
    // A thread may have been used since the list was read.
    const ids = await store.deleteExpired(
      tenant,
      some.map(({ thread_id }) => thread_id),
      strategy,
    )
    if (strategy === 'delete') for (const thread_id of ids) await events.drop({ ...tenant, thread_id })
    return ids.length
  }
  return {
    name: 'threads',
    everyMs,
    async work(signal) {
      let count = 0
      for (;;) {
        const expired = await store.expiredThreads(AT_ONCE)
        const groups = Map.groupBy(expired, ({ workspace_id, deployment_id, strategy }) =>
          [workspace_id, deployment_id, strategy].join(' '),
        )
        for (const some of groups.values()) count += await sweep(some)
        if (expired.length < AT_ONCE || signal.aborted) return count
      }
    },
  }
}
