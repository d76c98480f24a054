import { expect, it, onTestFinished } from 'vitest'
import { NOW, testClock } from '../../../../test/support/faults/test-clock.ts'
import { newUuid, NIL_UUID } from '../../../base/ids.ts'
import type { DeletionJob } from '../../../ingest/deletion/deletion-store.ts'
import { migrate } from '../driver/migrate.ts'
import { openSqlite } from '../driver/sqlite.ts'
import { createDeletionStore } from './deletion-store.ts'

it('a job that one server has ended does not run again because another one still works on it', async () => {
  const database = openSqlite(':memory:')
  onTestFinished(() => database.close())
  await migrate(database)
  const store = createDeletionStore(database, testClock())
  const job: DeletionJob = {
    workspace_id: NIL_UUID,
    id: newUuid(),
    scope: { kind: 'trace', trace_id: newUuid() },
    status: 'queued',
    deleted: 0,
    error: null,
    created_at: NOW,
    finished_at: null,
  }
  await store.add(job)
  const ended: DeletionJob = { ...job, status: 'done', deleted: 3, finished_at: NOW }
  await store.save(ended)
  await store.save({ ...job, status: 'running', deleted: 1 })
  expect([await store.get(NIL_UUID, job.id), await store.unfinished()]).toEqual([ended, []])
})
