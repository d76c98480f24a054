import type { Tenant } from '../../runs/model.ts'
import type { Lease } from '../../runs/run-store.ts'
import { AheadCheckpointer } from './ahead-checkpointer.ts'
import { type CheckpointMark, readMarks } from './checkpoint-marks.ts'
import { createCheckpointQueue } from './checkpoint-queue.ts'
import type { Database } from './database.ts'
import { type Shared, SqlCheckpointer } from './sql-checkpointer.ts'

/** Makes checkpointers on one database; they share what is to be written, so that runs of a process commit together. */
export interface Checkpointers {
  /**
   * A checkpointer for one run or one call. With a lease, what it writes is stamped with its run and rejects with
   * AppError conflict once the lease is lost (D-44); without one, writes reject with thread_busy while the thread has
   * an active run and with not_found when there is no such thread. Metadata that the config carries goes under that of
   * each checkpoint.
   */
  open(tenant: Tenant, lease: Lease | null): SqlCheckpointer
  /**
   * The same for a run whose steps do not wait for what is stored of them: a write resolves before it is durable, and
   * why it could not be stored is told by the next one and by `stored`. What it has put last is read from memory.
   */
  openAhead(tenant: Tenant, lease: Lease): SqlCheckpointer
  /** As `readMarks`, once what this process has written of the thread is stored. */
  marks(tenant: Tenant, scan: Parameters<typeof readMarks>[2]): Promise<CheckpointMark[]>
}

/** Makes checkpointers on a run database that has been migrated. */
export function createCheckpointers(database: Database): Checkpointers {
  let last = 0
  const shared: Shared = {
    database,
    queue: createCheckpointQueue(database),
    lineages: new Map(),
    nextTime: () => (last = Math.max(last + 1, Date.now() * 1_000)),
  }
  return {
    open: (tenant, lease) => new SqlCheckpointer(shared, tenant, lease),
    openAhead: (tenant, lease) => new AheadCheckpointer(shared, tenant, lease),
    async marks(tenant, scan) {
      await shared.queue.settled(scan.thread_id)
      return readMarks(database, tenant, scan)
    },
  }
}
