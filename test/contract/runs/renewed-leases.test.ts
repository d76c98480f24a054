import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openRunDatabase } from '../../../src/storage/sql/driver/open-run-database.ts'
import { createRunStore } from '../../../src/storage/sql/runs/run-store.ts'
import { eventually } from '../../support/eventually.ts'
import { started, TENANT } from '../../support/runs/run-store.ts'
import { postgresDatabases } from '../../support/stores/sql/postgres-databases.ts'
import { withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { NOW, testClock } from '../../support/faults/test-clock.ts'

const REASON = withoutPostgres()
const LEASE_MS = 10_000

describe.skipIf(REASON !== '')(`leases of runs in Postgres${REASON}`, () => {
  const databases = postgresDatabases()

  it('RUN-14: a run whose lease is being renewed is not taken from its server', async () => {
    const url = await databases.take()
    const [one, other] = [await openRunDatabase({ url, file: '' }), await openRunDatabase({ url, file: '' })]
    onTestFinished(async () => {
      await Promise.all([one.close(), other.close()])
      databases.giveBack(url)
    })
    let now = NOW
    const store = createRunStore(
      one,
      testClock(() => now),
    )
    const claim = await started(store, randomUUID())
    now += LEASE_MS

    const renewing = Promise.withResolvers<void>()
    const ending = Promise.withResolvers<void>()
    const renewal = other.tx('renewal', async (session) => {
      await session.query('UPDATE runs SET lease_until = ? WHERE run_id = ?', [now + LEASE_MS, claim.run_id])
      renewing.resolve()
      await ending.promise
    })
    await renewing.promise
    let isDone = false
    const recovering = store.recover('', 3).finally(() => (isDone = true))
    await eventually(async () => {
      const waiting = await other.query('SELECT 1 FROM pg_locks WHERE NOT granted')
      expect(isDone || waiting.length > 0).toBe(true)
    })
    ending.resolve()
    await renewal
    expect(await recovering).toEqual([])
    expect((await store.getRun(TENANT, claim.thread_id, claim.run_id))?.status).toBe('running')

    now += LEASE_MS
    expect(await store.recover('', 3)).toMatchObject([{ run_id: claim.run_id, status: 'pending' }])
  })
})
