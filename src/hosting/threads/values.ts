import { childEntry } from '../../base/child-entry.ts'
import type { Logger } from '../../base/log.ts'
import { createWorkerPool } from '../../worker-threads/worker-pool.ts'
import type { LargeValues, StatementTask, StatementThread } from '../../storage/sql/driver/large-values.ts'
import type { SqlPlace } from '../../storage/sql/driver/open.ts'

const TIMEOUT_MS = 30_000
/** Idle time after which a thread ends. */
const IDLE_MS = 20_000
const HEAP_MB = 1024

/** `workerData` of the threads. */
export interface StatementThreadData {
  place: SqlPlace
}

export interface LargeValuesStart {
  place: SqlPlace
  logger: Logger
}

/** Threads that read and write large values of an SQLite database, started with the first one, and closed by the database; none for Postgres. */
export function startLargeValues({ place, logger }: LargeValuesStart): LargeValues | undefined {
  if (place.url !== undefined) return undefined
  const thread = (name: string, readOnly: boolean): StatementThread => {
    const pool = createWorkerPool({
      entry: childEntry('statement-thread'),
      name,
      size: 1,
      workerData: { place: { ...place, readOnly } } satisfies StatementThreadData,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
      taskTimeoutMs: TIMEOUT_MS,
      idleMs: IDLE_MS,
      logger,
    })
    return {
      run: <T>(task: StatementTask) => pool.run<T>({ name: 'run', input: task }),
      close: () => pool.close(),
    }
  }
  return { reads: thread('large-reads', true), writes: thread('large-writes', false) }
}
