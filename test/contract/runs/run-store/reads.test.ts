import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import type { ThreadStatus } from '../../../../src/runs/model.ts'
import type { Claim, RunStore } from '../../../../src/runs/run-store.ts'
import type { Database } from '../../../../src/storage/sql/driver/database.ts'
import { createRunStore } from '../../../../src/storage/sql/runs/run-store.ts'
import {
  addCheckpoint,
  admissionOf,
  admitted,
  claimedOne,
  CLAIMER,
  countCheckpointRows,
  endOf,
  started,
  TENANT,
} from '../../../support/runs/run-store.ts'
import { describeOnSql } from '../../../support/stores/sql/sql-databases.ts'
import { testClock } from '../../../support/faults/test-clock.ts'

const DEPLOYMENTS = [TENANT.deployment_id]

describeOnSql('runs, cancelled and read', (engine) => {
  let database: Database
  let store: RunStore
  let now: number
  const clock = testClock(() => now)
  let thread_id: string
  beforeEach(async () => {
    database = await engine.openRuns()
    now = 1_700_000_000_000
    store = createRunStore(database, clock)
    thread_id = randomUUID()
  })
  const status = async (): Promise<ThreadStatus | undefined> =>
    (await store.getThread(TENANT, thread_id))?.status
  const claimOne = (): Promise<Claim> => claimedOne(store)

  describe('requestCancel', () => {
    it('returns each run’s outcome in the requested order, and notifies workers by renew', async () => {
      const done = await started(store, thread_id)
      await store.finish(done, endOf('success'))
      const running = await started(store, thread_id)
      const { run } = await admitted(store, admissionOf(thread_id))
      const unknown = randomUUID()
      const run_ids = [unknown, run.run_id, running.run_id, done.run_id, running.run_id]
      expect(await store.requestCancel(TENANT, { thread_id, run_ids }, 'interrupt')).toEqual([
        { run_id: unknown, thread_id, outcome: 'not_found', status: null },
        { run_id: run.run_id, thread_id, outcome: 'ended', status: 'interrupted' },
        { run_id: running.run_id, thread_id, outcome: 'requested', status: 'running' },
        { run_id: done.run_id, thread_id, outcome: 'not_active', status: 'success' },
      ])
      const order = { run_id: running.run_id, thread_id, action: 'interrupt' }
      expect(await store.renew([running], 10_000)).toEqual({ lost: [], cancel: [order] })
      expect(await status()).toBe('busy')
    })

    it('CANCEL-5: lets rollback win over interrupt, in either order', async () => {
      for (const actions of [['interrupt', 'rollback'] as const, ['rollback', 'interrupt'] as const]) {
        const claim = await started(store, thread_id)
        for (const action of actions) {
          await store.requestCancel(TENANT, { thread_id, run_ids: [claim.run_id] }, action)
        }
        expect(await store.finish(claim, endOf('interrupted'))).toMatchObject({ status: 'deleted' })
      }
    })

    it('updates the status of the thread when the last pending run ends', async () => {
      await store.finish(await started(store, thread_id), endOf('error'))
      const { run } = await admitted(store, admissionOf(thread_id, { delay_ms: 1 }))
      await store.requestCancel(TENANT, { thread_id, run_ids: [run.run_id] }, 'interrupt')
      expect(await store.getThread(TENANT, thread_id)).toMatchObject({ status: 'idle', error: null })
      expect(await store.nextDue()).toBeUndefined()
    })

    it.each([
      ['pending', ['ended', 'ended']],
      ['running', ['requested', 'requested']],
      ['all', ['ended', 'ended', 'requested', 'requested']],
    ] as const)('by status %s goes over all threads of the deployment', async (wanted, outcomes) => {
      for (const id of [thread_id, randomUUID()]) {
        await started(store, id)
        await admitted(store, admissionOf(id))
      }
      await started(store, thread_id, { ...TENANT, deployment_id: randomUUID() })
      const results = await store.requestCancel(TENANT, { status: wanted }, 'rollback')
      expect(results.map(({ outcome }) => outcome).sort()).toEqual(outcomes)
    })

    it('and claim never both get a run', async () => {
      const other = createRunStore(
        await engine.openAgain(),
        testClock(() => now),
      )
      for (let n = 0; n < 30; n++) {
        const { run } = await admitted(store, admissionOf(thread_id))
        const selector = n % 2 === 0 ? { status: 'all' as const } : { thread_id, run_ids: [run.run_id] }
        const [claims, [result]] = await Promise.all([
          store.claim(CLAIMER, DEPLOYMENTS, 1),
          other.requestCancel(TENANT, selector, 'interrupt'),
        ])
        expect(result?.outcome).toBe(claims.length === 0 ? 'ended' : 'requested')
        for (const claim of claims) await store.finish(claim, endOf('success'))
        expect(await store.getRun(TENANT, thread_id, run.run_id)).toMatchObject({ status: 'interrupted' })
      }
    })

    it('cancels hundreds of runs on hundreds of threads', async () => {
      for (let n = 0; n < 300; n++) await admitted(store, admissionOf(n % 2 ? thread_id : randomUUID()))
      expect(await store.requestCancel(TENANT, { status: 'all' }, 'rollback')).toHaveLength(300)
      expect(await store.requestCancel(TENANT, { status: 'all' }, 'rollback')).toEqual([])
      expect(await store.claim(CLAIMER, DEPLOYMENTS, 9)).toEqual([])
    })
  })

  describe('waiting', () => {
    it('counts the pending runs of the given deployments that are due', async () => {
      expect(await store.waiting(DEPLOYMENTS)).toEqual({ count: 0, oldest_due_at: undefined })
      await started(store, thread_id)
      await admitted(store, admissionOf(thread_id))
      await admitted(store, admissionOf(thread_id, { delay_ms: 60_000 }))
      now += 5_000
      await admitted(store, admissionOf(randomUUID()))
      await admitted(store, admissionOf(randomUUID()), { ...TENANT, deployment_id: randomUUID() })
      expect(await store.waiting(DEPLOYMENTS)).toEqual({ count: 2, oldest_due_at: now - 5_000 })
      now += 60_000
      expect(await store.waiting(DEPLOYMENTS)).toMatchObject({ count: 3 })
    })
  })

  describe('reads', () => {
    it('lists the newest first, by page and status', async () => {
      expect(await store.listRuns(TENANT, thread_id, { limit: 10, offset: 0 })).toBeUndefined()
      const ids = []
      for (let n = 0; n < 4; n++) ids.unshift((await admitted(store, admissionOf(thread_id))).run.run_id)
      const claim = await claimOne()
      const list = async (limit: number, offset: number, wanted?: 'pending') => {
        const page = { limit, offset, ...(wanted && { status: wanted }) }
        return (await store.listRuns(TENANT, thread_id, page))?.runs.map(({ run_id }) => run_id)
      }
      expect(await list(10, 0)).toEqual(ids)
      expect(await list(2, 1)).toEqual(ids.slice(1, 3))
      expect(await list(10, 4)).toEqual([])
      expect(await list(10, 0, 'pending')).toEqual(ids.filter((id) => id !== claim.run_id))
    })

    it('N13: lists the runs of all threads of a deployment, the newest first', async () => {
      const tenant = { ...TENANT, deployment_id: randomUUID() }
      const page = { limit: 2, offset: 0 }
      expect(await store.listRuns(tenant, null, page)).toEqual({ runs: [], more: false })
      const ids: string[] = []
      for (let n = 0; n < 3; n++) {
        now += 1
        ids.unshift((await admitted(store, admissionOf(randomUUID()), tenant)).run.run_id)
      }
      const idsOf = async (offset: number) => {
        const found = await store.listRuns(tenant, null, { ...page, offset })
        return [found?.runs.map(({ run_id }) => run_id), found?.more]
      }
      expect(await idsOf(0)).toEqual([ids.slice(0, 2), true])
      expect(await idsOf(2)).toEqual([ids.slice(2), false])
    })

    it('deletes only ended runs, and leaves their checkpoints', async () => {
      const claim = await started(store, thread_id)
      await addCheckpoint(database, claim, '1')
      expect(await store.deleteRun(TENANT, thread_id, claim.run_id)).toBe('active')
      await store.finish(claim, endOf('success'))
      expect(await store.deleteRun(TENANT, randomUUID(), claim.run_id)).toBe('not_found')
      expect(await store.deleteRun(TENANT, thread_id, claim.run_id)).toBe('deleted')
      expect(await store.deleteRun(TENANT, thread_id, claim.run_id)).toBe('not_found')
      expect(await countCheckpointRows(database, thread_id)).toBe(3)
    })

    it('rolls back only its own checkpoints with a run that has the id of a deleted one', async () => {
      const first = await started(store, thread_id)
      await addCheckpoint(database, first, '1')
      await store.finish(first, endOf('success'))
      await store.deleteRun(TENANT, thread_id, first.run_id)
      const again = admissionOf(thread_id)
      await store.admit(TENANT, { ...again, run: { ...again.run, run_id: first.run_id } })
      const second = await claimOne()
      await addCheckpoint(database, second, '2')
      await store.rollback(second)
      expect(await store.getRun(TENANT, thread_id, first.run_id)).toBeUndefined()
      expect(await countCheckpointRows(database, thread_id)).toBe(3)
    })

    it('RUN-2, D-40: separates tenants, also with the same ids', async () => {
      const claim = await started(store, thread_id)
      const others = [
        { ...TENANT, workspace_id: randomUUID() },
        { ...TENANT, deployment_id: randomUUID() },
      ]
      for (const tenant of others) {
        expect(await store.getRun(tenant, null, claim.run_id)).toBeUndefined()
        expect(await store.getThread(tenant, thread_id)).toBeUndefined()
        const cancel = await store.requestCancel(tenant, { thread_id, run_ids: [claim.run_id] }, 'rollback')
        expect(cancel).toMatchObject([{ outcome: 'not_found' }])
        expect(await store.requestCancel(tenant, { status: 'all' }, 'rollback')).toEqual([])
        expect(await store.deleteThreads(tenant, [thread_id], 'nothing')).toBe(0)
        expect(await store.listRuns(tenant, thread_id, { limit: 1, offset: 0 })).toBeUndefined()
        const same = admissionOf(thread_id, { run: { run_id: claim.run_id }, claim: CLAIMER })
        const { claim: theirs } = await admitted(store, same, tenant)
        if (theirs !== null) expect(await store.rollback(theirs)).toMatchObject({ kind: 'ended' })
      }
      expect(await store.finish(claim, endOf('success'))).toMatchObject({ status: 'success' })
    })
  })
})
