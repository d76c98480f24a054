import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import type { ThreadStatus } from '../../../../src/runs/model.ts'
import type { Claim, RunAdmission, RunEnd, RunStore } from '../../../../src/runs/run-store.ts'
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

const WHY = { error: 'HostLost', message: 'gone' }
const DEPLOYMENTS = [TENANT.deployment_id]

describeOnSql('runs', (engine) => {
  let database: Database
  let store: RunStore
  let now: number
  let thread_id: string
  beforeEach(async () => {
    database = await engine.openRuns()
    now = 1_700_000_000_000
    store = createRunStore(
      database,
      testClock(() => now),
    )
    thread_id = randomUUID()
  })
  const status = async (): Promise<ThreadStatus | undefined> =>
    (await store.getThread(TENANT, thread_id))?.status
  const claimOne = (): Promise<Claim> => claimedOne(store)
  const runStatus = async (run_id: string) => (await store.getRun(TENANT, thread_id, run_id))?.status ?? null

  describe('a clock that is set back', () => {
    const HOUR = 3_600_000

    it('does not delay runs without after_seconds', async () => {
      const first = await started(store, thread_id)
      for (let n = 0; n < 2; n++) await admitted(store, admissionOf(thread_id))
      now -= HOUR
      await store.finish(first, endOf('success'))
      const second = await claimOne()
      // The clock was set back, and still the new run comes after the thread's earlier runs.
      const { run } = await admitted(store, admissionOf(thread_id))
      expect(run.created_at).toBe(now + HOUR)
      await store.finish(second, endOf('success'))
      await store.finish(await claimOne(), endOf('success'))
      expect((await claimOne()).run.run_id).toBe(run.run_id)
    })

    it('does not move the due time while no server runs, or none has a free slot', async () => {
      await admitted(store, admissionOf(thread_id))
      now -= HOUR
      const next = createRunStore(
        database,
        testClock(() => now),
      )
      expect(await next.claim(CLAIMER, DEPLOYMENTS, 1)).toHaveLength(1)
      const other = randomUUID()
      await admitted(next, admissionOf(other))
      now -= HOUR
      expect(await next.claim(CLAIMER, DEPLOYMENTS, 1)).toMatchObject([{ thread_id: other }])
    })

    it('does not begin a delayed run before its time', async () => {
      await admitted(store, admissionOf(thread_id, { delay_ms: 1_000 }))
      now -= HOUR
      expect(await store.claim(CLAIMER, DEPLOYMENTS, 1)).toEqual([])
      now += HOUR + 1_000
      expect(await store.claim(CLAIMER, DEPLOYMENTS, 1)).toHaveLength(1)
    })
  })

  describe('admit', () => {
    it('creates the thread, and claims the run at once if requested', async () => {
      const admission = admissionOf(thread_id, { claim: CLAIMER })
      const { run, claim } = await admitted(store, admission)
      expect(run).toMatchObject({
        status: 'running',
        attempt: 1,
        created_at: now,
        due_at: now,
        started_at: now,
      })
      expect(run).toMatchObject({
        trace_id: run.run_id,
        kwargs: admission.run.kwargs,
        metadata: { of: 'run' },
      })
      expect(claim).toMatchObject({ ...TENANT, thread_id, run_id: run.run_id, run })
      expect(await store.getRun(TENANT, null, run.run_id)).toEqual(run)
      expect(await status()).toBe('busy')
    })

    it('gives no trace to a run that is not traced', async () => {
      const { run } = await admitted(store, admissionOf(thread_id, { claim: { ...CLAIMER, traced: false } }))
      expect(run.trace_id).toBeNull()
    })

    it('refuses a missing thread unless it may be created', async () => {
      const admission = admissionOf(thread_id, { if_not_exists: 'reject' })
      expect(await store.admit(TENANT, admission)).toEqual({ kind: 'refused', reason: 'thread_not_found' })
      expect(await status()).toBeUndefined()
    })

    it('merges into the thread, and composes the run from the previous thread', async () => {
      const metadata = { a: 1, b: 1 }
      const config = { tags: ['t'], configurable: { x: 1, y: 1 } }
      await store.createThread(TENANT, { thread_id, metadata, config, ttl: null })
      const admission = admissionOf(thread_id, {
        thread_metadata: { b: 2, c: 2 },
        thread_config: { recursion_limit: 5, configurable: { y: 2 } },
        compose: (thread) => ({
          metadata: { thread: thread.metadata },
          kwargs: { ...kwargs, config: thread.config },
        }),
      })
      const { kwargs } = admission.run
      const { run } = await admitted(store, admission)
      expect(await store.getRun(TENANT, thread_id, run.run_id)).toEqual(run)
      expect(run.metadata).toEqual({ thread: metadata })
      expect(run.kwargs.config).toEqual(config)
      expect(await store.getThread(TENANT, thread_id)).toMatchObject({
        metadata: { a: 1, b: 2, c: 2 },
        config: { tags: ['t'], recursion_limit: 5, configurable: { x: 1, y: 2 } },
      })
    })

    it('returns the run that already has the id on this thread, and refuses the id elsewhere (D-47)', async () => {
      const admission = admissionOf(thread_id)
      const { run } = await admitted(store, admission)
      expect(await store.admit(TENANT, admission)).toEqual({ kind: 'known', run })
      const elsewhere = admissionOf(randomUUID(), { run: { run_id: run.run_id } })
      expect(await store.admit(TENANT, elsewhere)).toEqual({ kind: 'refused', reason: 'run_id_taken' })
      expect(await store.getThread(TENANT, elsewhere.run.thread_id)).toBeUndefined()
    })

    it('V-12: creates a run only after the newest run that its request names, also when requests come at the same time', async () => {
      const after = (newest_run_id: string | null) => admissionOf(thread_id, { newest_run_id })
      const outcomes = async (...admissions: RunAdmission[]) => {
        const answers = await Promise.all(admissions.map((admission) => store.admit(TENANT, admission)))
        return answers.map((answer) => (answer.kind === 'refused' ? answer.reason : answer.kind)).toSorted()
      }
      expect(await outcomes(after(randomUUID()))).toEqual(['overtaken'])
      expect(await status()).toBeUndefined()
      expect(await outcomes(after(null), after(null), after(null))).toEqual([
        'created',
        'overtaken',
        'overtaken',
      ])
      const first = await claimOne()
      expect(await outcomes(after(null))).toEqual(['overtaken'])
      await store.finish(first, endOf('success'))
      const next = after(first.run_id)
      expect(await outcomes(next)).toEqual(['created'])
      expect(await outcomes(after(first.run_id), next)).toEqual(['known', 'overtaken'])
    })

    it('reject refuses while a run is active, also a delayed one', async () => {
      const reject = { multitask_strategy: 'reject' } as const
      const { run } = await admitted(store, admissionOf(thread_id, { ...reject, delay_ms: 1000 }))
      const refusal = { kind: 'refused', reason: 'thread_busy' }
      expect(await store.admit(TENANT, admissionOf(thread_id, reject))).toEqual(refusal)
      await store.requestCancel(TENANT, { thread_id, run_ids: [run.run_id] }, 'interrupt')
      await admitted(store, admissionOf(thread_id, reject))
    })

    it.each([
      ['interrupt', 'interrupted'],
      ['rollback', 'deleted'],
    ] as const)('%s ends pending runs, and cancels running ones', async (strategy, ended) => {
      const running = await started(store, thread_id)
      const pending = await admitted(store, admissionOf(thread_id))
      const delayed = await admitted(store, admissionOf(thread_id, { delay_ms: 1000 }))
      const last = await admitted(
        store,
        admissionOf(thread_id, { multitask_strategy: strategy, claim: CLAIMER }),
      )
      expect(last.claim).toBeNull()
      expect(last.cancelling).toEqual([{ run_id: running.run_id, thread_id, action: strategy }])
      expect(last.ended).toEqual([pending, delayed].map(({ run }) => ({ run_id: run.run_id, status: ended })))
      expect(await runStatus(pending.run.run_id)).toBe(ended === 'deleted' ? null : ended)
      expect(await store.claim(CLAIMER, DEPLOYMENTS, 9)).toEqual([])

      // A cancel that was accepted takes precedence over the end that the worker reports.
      expect(await store.finish(running, endOf('success'))).toEqual({
        kind: 'ended',
        status: ended,
        more: true,
      })
      expect((await claimOne()).run_id).toBe(last.run.run_id)
    })

    it('admits exactly one of many concurrent runs with reject', async () => {
      const other = createRunStore(
        await engine.openAgain(),
        testClock(() => now),
      )
      const admission = () => admissionOf(thread_id, { multitask_strategy: 'reject', claim: CLAIMER })
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? store : other).admit(TENANT, admission())),
      )
      expect(answers.filter((answer) => answer.kind === 'created')).toHaveLength(1)
    })
  })

  describe('claim', () => {
    it('RUN-6: claims runs of a thread one at a time, in the order of their creation', async () => {
      const runs = []
      for (let n = 0; n < 5; n++) runs.push((await admitted(store, admissionOf(thread_id))).run.run_id)
      // Setting the clock back changes nothing.
      now -= 60_000
      runs.push((await admitted(store, admissionOf(thread_id))).run.run_id)
      now += 60_000
      const order: string[] = []
      for (let n = 0; n < 6; n++) {
        const claims = await store.claim(CLAIMER, DEPLOYMENTS, 9)
        expect(claims).toHaveLength(1)
        for (const claim of claims) {
          order.push(claim.run_id)
          await store.finish(claim, endOf(n === 2 ? 'error' : 'success'))
        }
      }
      expect(order).toEqual(runs)
      expect(await status()).toBe('idle')
    })

    it('claims the oldest of many threads first, only of these deployments, up to a limit', async () => {
      const threads = Array.from({ length: 4 }, () => randomUUID())
      for (const id of threads) {
        now += 1
        await admitted(store, admissionOf(id))
      }
      const elsewhere = { ...TENANT, deployment_id: randomUUID() }
      await admitted(store, admissionOf(randomUUID()), elsewhere)
      expect((await store.claim(CLAIMER, DEPLOYMENTS, 3)).map((claim) => claim.thread_id)).toEqual(
        threads.slice(0, 3),
      )
      expect(await store.claim(CLAIMER, [], 9)).toEqual([])
      expect(await store.claim(CLAIMER, DEPLOYMENTS, 9)).toHaveLength(1)
      expect(await store.claim(CLAIMER, [randomUUID(), elsewhere.deployment_id], 9)).toHaveLength(1)
    })

    it('waits for delayed runs without delaying later ones', async () => {
      const delayed = await admitted(store, admissionOf(thread_id, { delay_ms: 5000, claim: CLAIMER }))
      expect(delayed.run).toMatchObject({ status: 'pending', due_at: now + 5000 })
      expect(await status()).toBe('busy')
      const claim = await started(store, thread_id)
      expect(await store.nextDue()).toBeUndefined()
      expect(await store.finish(claim, endOf('success'))).toMatchObject({ more: true })
      expect(await store.nextDue()).toBe(now + 5000)
      now += 4999
      expect(await store.claim(CLAIMER, DEPLOYMENTS, 1)).toEqual([])
      now += 1
      expect((await claimOne()).run_id).toBe(delayed.run.run_id)
    })

    it('claims every run for one claimer only', async () => {
      const other = createRunStore(
        await engine.openAgain(),
        testClock(() => now),
      )
      for (let n = 0; n < 20; n++) await admitted(store, admissionOf(randomUUID()))
      const claims = await Promise.all(
        [store, other, store, other].map((each) => each.claim(CLAIMER, DEPLOYMENTS, 8)),
      )
      const ids = claims.flat().map(({ run_id }) => run_id)
      expect(new Set(ids).size).toBe(ids.length)
      expect(ids).toHaveLength(20)
    })
  })

  describe('finish', () => {
    it.each([
      ['success', [], 'idle'],
      ['success', ['node'], 'interrupted'],
      ['interrupted', ['node'], 'interrupted'],
      ['error', ['node'], 'error'],
      ['timeout', [], 'error'],
    ] as [RunEnd['status'], string[], ThreadStatus][])(
      'after %s with next %j the thread is %s',
      async (ended, next, expected) => {
        const claim = await started(store, thread_id)
        now += 10
        const end = { ...endOf(ended, { n: 7 }, next), partial_messages: [{ id: 'm' }] }
        expect(await store.finish(claim, end)).toEqual({ kind: 'ended', status: ended, more: false })
        const thread = await store.getThread(TENANT, thread_id)
        expect(thread).toMatchObject({ status: expected, values_json: '{"n":7}', state_updated_at: now })
        expect(thread).toMatchObject({ interrupts: end.state?.interrupts, error: end.error })
        const run = await store.getRun(TENANT, thread_id, claim.run_id)
        expect(run).toMatchObject({
          status: ended,
          ended_at: now,
          error: end.error,
          partial_messages: [{ id: 'm' }],
        })
      },
    )

    it('keeps the state if no checkpoint was stored, and sets the status by it', async () => {
      await store.finish(await started(store, thread_id), endOf('success', { n: 1 }, ['node']))
      const claim = await started(store, thread_id)
      await store.finish(claim, { ...endOf('interrupted'), state: undefined })
      expect(await store.getThread(TENANT, thread_id)).toMatchObject({
        status: 'interrupted',
        values_json: '{"n":1}',
      })
    })

    it('RUN-14: writes nothing once the lease is lost (D-44)', async () => {
      const claim = await started(store, thread_id)
      expect(await store.release(claim, WHY, 3)).toEqual({ kind: 'retried' })
      const again = await claimOne()
      const before = await store.getThread(TENANT, thread_id)
      const lost = { kind: 'lost' }
      expect(await store.finish(claim, endOf('success'))).toEqual(lost)
      expect(await store.rollback(claim)).toEqual(lost)
      expect(await store.release(claim, WHY, 3)).toEqual(lost)
      expect(await store.getThread(TENANT, thread_id)).toEqual(before)
      expect(await store.renew([claim, again], 10_000)).toEqual({ lost: [claim.run_id], cancel: [] })
      expect(await store.finish(again, endOf('success'))).toMatchObject({ kind: 'ended' })
      expect(await store.finish(again, endOf('success'))).toEqual(lost)
    })
  })

  describe('rollback', () => {
    it.each(['idle', 'interrupted', 'error'] as const)('leaves a thread as %s as it was', async (before) => {
      const ends = { idle: endOf('success'), interrupted: endOf('success', {}, ['n']), error: endOf('error') }
      const first = await started(store, thread_id)
      await addCheckpoint(database, first, '1')
      await store.finish(first, ends[before])
      const thread = await store.getThread(TENANT, thread_id)
      const claim = await started(store, thread_id)
      await addCheckpoint(database, claim, '2')
      await addCheckpoint(database, claim, '3')
      expect(await countCheckpointRows(database, thread_id)).toBe(9)
      expect(await store.rollback(claim)).toEqual({ kind: 'ended', status: 'deleted', more: false })
      expect(await store.getRun(TENANT, thread_id, claim.run_id)).toBeUndefined()
      expect(await countCheckpointRows(database, thread_id)).toBe(3)
      expect(await store.getThread(TENANT, thread_id)).toEqual(thread)
      expect(thread?.status).toBe(before)
    })

    it('deletes what a run wrote in earlier attempts, though it is pending again', async () => {
      const claim = await started(store, thread_id)
      await addCheckpoint(database, claim, '1')
      await store.release(claim, WHY, 3)
      await store.requestCancel(TENANT, { thread_id, run_ids: [claim.run_id] }, 'rollback')
      expect(await countCheckpointRows(database, thread_id)).toBe(0)
      expect(await runStatus(claim.run_id)).toBeNull()
    })
  })

  describe('release and recover', () => {
    it('retries a run up to the limit, before all later runs', async () => {
      const claim = await started(store, thread_id)
      await admitted(store, admissionOf(thread_id))
      expect(await store.release(claim, WHY, 2)).toEqual({ kind: 'retried' })
      const again = await claimOne()
      expect(again.run).toMatchObject({ run_id: claim.run_id, attempt: 2, started_at: claim.run.started_at })
      expect(again.run.trace_id).not.toBe(claim.run.trace_id)
      expect(await store.release(again, WHY, 2)).toEqual({ kind: 'ended', status: 'error', more: true })
      expect(await store.getRun(TENANT, thread_id, claim.run_id)).toMatchObject({
        status: 'error',
        error: WHY,
      })
      expect(await status()).toBe('busy')
      await store.finish(await claimOne(), endOf('success'))
      expect(await status()).toBe('idle')
    })

    it('recovers own runs at once, others after their lease', async () => {
      const own = await started(store, thread_id)
      const other = { ...CLAIMER, owner: 'owner-2' }
      const elsewhere = randomUUID()
      const { claim } = await admitted(store, admissionOf(elsewhere, { claim: other }))
      const recovered = await store.recover(CLAIMER.owner, 3)
      expect(recovered).toEqual([{ ...TENANT, run_id: own.run_id, thread_id, status: 'pending' }])
      expect(await store.recover(CLAIMER.owner, 3)).toEqual([])
      now += 9_999
      expect(await store.recover(CLAIMER.owner, 3)).toEqual([])
      if (claim !== null) await store.renew([claim], 10_000)
      now += 9_999
      expect(await store.recover(CLAIMER.owner, 3)).toEqual([])
      now += 1
      expect(await store.recover(CLAIMER.owner, 1)).toMatchObject([{ thread_id: elsewhere, status: 'error' }])
    })

    it.each([
      ['interrupt', 'interrupted'],
      ['rollback', 'deleted'],
    ] as const)('applies a %s that was requested before', async (action, ended) => {
      const claim = await started(store, thread_id)
      await addCheckpoint(database, claim, '1')
      await store.requestCancel(TENANT, { thread_id, run_ids: [claim.run_id] }, action)
      expect(await store.recover(CLAIMER.owner, 3)).toMatchObject([{ run_id: claim.run_id, status: ended }])
      expect(await status()).toBe('idle')
      expect(await countCheckpointRows(database, thread_id)).toBe(action === 'rollback' ? 0 : 3)
    })
  })
})
