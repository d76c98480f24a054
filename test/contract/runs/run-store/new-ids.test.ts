import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import type { Database } from '../../../../src/storage/sql/driver/database.ts'
import { createRunStore } from '../../../../src/storage/sql/runs/run-store.ts'
import { admissionOf, admitted, CLAIMER, TENANT } from '../../../support/runs/run-store.ts'
import { describeOnSql } from '../../../support/stores/sql/sql-databases.ts'
import { testClock } from '../../../support/faults/test-clock.ts'

const CLOCK = testClock(() => 1_700_000_000_000)

/** The database; the statements whose rows a transaction waits for are added to `queries`. */
function watched(database: Database, queries: string[]): Database {
  return {
    ...database,
    tx: (lock, work, bytes) =>
      database.tx(
        lock,
        (session) =>
          work({ ...session, query: (sql, params) => (queries.push(sql), session.query(sql, params)) }),
        bytes,
      ),
  }
}

describeOnSql('runs with new ids', (engine) => {
  it('are stored without a look-up, but never over a stored thread or run', async () => {
    const database = await engine.openRuns()
    const queries: string[] = []
    const store = createRunStore(watched(database, queries), CLOCK)
    const thread_id = randomUUID()
    const first = admissionOf(thread_id, { has_new_ids: true, claim: CLAIMER })
    const { run, claim } = await admitted(store, first)
    expect(queries.filter((sql) => sql.startsWith('SELECT'))).toEqual([])
    expect(claim).toMatchObject({ run_id: run.run_id, fresh: true })
    expect(await store.getRun(TENANT, thread_id, run.run_id)).toEqual(run)
    const elsewhere = randomUUID()
    for (const taken of [
      admissionOf(thread_id, { has_new_ids: true }),
      admissionOf(elsewhere, { has_new_ids: true, run: { run_id: run.run_id } }),
    ]) {
      await expect(store.admit(TENANT, taken)).rejects.toMatchObject({ code: 'conflict' })
    }
    expect(await store.getRun(TENANT, thread_id, run.run_id)).toEqual(run)
    expect(await store.getThread(TENANT, elsewhere)).toBeUndefined()
  })
})
