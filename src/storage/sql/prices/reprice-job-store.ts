import type { RepriceJobStore } from '../../../ingest/prices/reprice-jobs.ts'
import type { Database } from '../driver/database.ts'
import { createJobTable } from '../job-table.ts'

/** Reprice jobs in a SQL database that has been migrated. */
export function createRepriceJobStore(database: Database): RepriceJobStore {
  return createJobTable(database, {
    table: 'reprice_jobs',
    columns: [
      'workspace_id',
      'id',
      'status',
      'start_time',
      'end_time',
      'project_ids',
      'position',
      'progress',
      'examined',
      'changed',
      'error',
      'created_at',
      'finished_at',
    ],
    json: ['project_ids', 'position'],
    max_waiting: 100,
    too_many: 'Too many reprice jobs wait.',
  })
}
