import { RecentMap } from '../../../base/recent-map.ts'
import type { Tenant } from '../../../runs/model.ts'
import type { Lease } from '../../../runs/run-store.ts'
import { AheadCheckpointer } from './ahead-checkpointer.ts'
import type { CheckpointMark } from './marks.ts'
import type { Database } from '../driver/database.ts'
import { type CheckpointRowStore, createSqlRowStore, type MarkScan } from './row-store.ts'
import { type Shared, SqlCheckpointer } from './sql-checkpointer.ts'

/** Makes checkpointers on one store of rows; they share a write queue, so that runs of a process commit together. */
export interface Checkpointers {
  /**
   * A checkpointer for one run or one call. With a lease, its rows have the run's id, and writes reject with AppError
   * conflict once the lease is lost (D-44). Without a lease, writes reject with thread_busy while the thread has an
   * active run, and with not_found if the thread does not exist. The metadata of the config is added to the metadata of
   * each checkpoint; the latter takes precedence.
   */
  open(tenant: Tenant, lease: Lease | null): SqlCheckpointer
  /**
   * As `open`, for a run whose steps do not wait until their checkpoints are stored. A write resolves before it is
   * durable. The error of a failed write rejects the next write and `stored`. The newest checkpoint is read from
   * memory. `fresh`: the thread has no checkpoints, so nothing is read before the first write.
   */
  openAhead(tenant: Tenant, lease: Lease, fresh?: boolean): SqlCheckpointer
  /** As `readMarks`, after all pending writes of this process to the thread. */
  marks(tenant: Tenant, scan: MarkScan): Promise<CheckpointMark[]>
}

/** Maximum number of cached lineages; must be above the number of simultaneous runs. */
const MAX_LINEAGES = 500

/** Makes checkpointers on a run database that has been migrated. */
export function createCheckpointers(database: Database): Checkpointers {
  return createCheckpointersOn(createSqlRowStore(database))
}

export function createCheckpointersOn(rows: CheckpointRowStore): Checkpointers {
  let last = 0
  const shared: Shared = {
    rows,
    lineages: new RecentMap(MAX_LINEAGES),
    nextTime: () => (last = Math.max(last + 1, Date.now() * 1_000)),
  }
  return {
    open: (tenant, lease) => new SqlCheckpointer(shared, tenant, lease),
    openAhead: (tenant, lease, fresh = false) => new AheadCheckpointer(shared, tenant, lease, fresh),
    marks: (tenant, scan) => rows.marks(tenant, scan),
  }
}
