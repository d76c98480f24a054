import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import type { RunStore } from '../../../src/runs/run-store.ts'
import type { WebhookStore } from '../../../src/runs/webhooks/store.ts'
import type { Database } from '../../../src/storage/sql/driver/database.ts'
import { createRunStore } from '../../../src/storage/sql/runs/run-store.ts'
import { createWebhookStore } from '../../../src/storage/sql/runs/webhook-store.ts'
import { admissionOf, admitted, CLAIMER, endOf, TENANT } from '../../support/runs/run-store.ts'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'
import { settableClock } from '../../support/faults/test-clock.ts'

const DEPLOYMENTS = [TENANT.deployment_id]
const leaseOf = (lease_ms: number) => ({ owner: 'me', lease_ms })
const URL_OF = 'https://example.com/hook'

describeOnSql('webhooks', (engine) => {
  let database: Database
  let runs: RunStore
  let store: WebhookStore
  const clock = settableClock(1_700_000_000_000)
  beforeEach(async () => {
    database = await engine.openRuns()
    runs = createRunStore(database, clock)
    store = createWebhookStore(database, clock)
  })

  /** A run with a webhook, claimed at once if its thread is free. */
  async function withWebhook(thread_id: string) {
    const { kwargs } = admissionOf(thread_id).run
    const run = { kwargs: { ...kwargs, webhook: URL_OF } }
    return admitted(runs, admissionOf(thread_id, { run, claim: CLAIMER }))
  }

  async function dueRuns(): Promise<[run_id: string, status: string, values: string | null][]> {
    const taken = await store.take(DEPLOYMENTS, 100, leaseOf(1_000))
    return taken.map(({ run, values_json }) => [run.run_id, run.status, values_json])
  }

  it('HOOK-1, HOOK-2: are due when their runs have ended, with the ended run and its values', async () => {
    const { run, claim } = await withWebhook(randomUUID())
    if (claim === null) throw new Error('not taken up')
    expect(await dueRuns()).toEqual([])
    await runs.finish(claim, endOf('error', { n: 7 }))
    await runs.deleteThreads(TENANT, [run.thread_id], 'nothing')
    const [webhook] = await store.take(DEPLOYMENTS, 100, leaseOf(1_000))
    expect(webhook).toMatchObject({ ...TENANT, url: URL_OF, tries: 0, values_json: '{"n":7}' })
    expect(webhook?.run).toMatchObject({ run_id: run.run_id, status: 'error', error: { message: 'broken' } })
    expect(webhook?.run.ended_at).toBe(clock.time)
  })

  it('HOOK-1: are due for runs that are cancelled while they wait, and for recovered runs that ended', async () => {
    const thread_id = randomUUID()
    const first = await withWebhook(thread_id)
    const waiting = await withWebhook(thread_id)
    await runs.requestCancel(TENANT, { thread_id, run_ids: [waiting.run.run_id] }, 'interrupt')
    expect(await dueRuns()).toEqual([[waiting.run.run_id, 'interrupted', null]])
    await runs.recover(CLAIMER.owner, 1)
    expect(await dueRuns()).toEqual([[first.run.run_id, 'error', null]])
  })

  it('HOOK-1: are not due for runs that are tried again or rolled back, nor for those without one', async () => {
    const { claim } = await withWebhook(randomUUID())
    const rolledBack = await withWebhook(randomUUID())
    const without = await admitted(runs, admissionOf(randomUUID(), { claim: CLAIMER }))
    if (claim === null || rolledBack.claim === null || without.claim === null) throw new Error('not taken up')
    await runs.release(claim, { error: 'e', message: 'm' }, 3)
    await runs.rollback(rolledBack.claim)
    await runs.finish(without.claim, endOf('success'))
    expect(await dueRuns()).toEqual([])
    const [again] = await runs.claim(CLAIMER, DEPLOYMENTS, 10)
    if (again === undefined) throw new Error('not taken up again')
    await runs.finish(again, endOf('success'))
    expect(await dueRuns()).toHaveLength(1)
    expect(await database.query('SELECT run_id FROM webhooks')).toHaveLength(1)
  })

  it('HOOK-3: are claimed by one process at a time, and by another when that process is gone', async () => {
    for (let n = 0; n < 3; n++) {
      const { claim } = await withWebhook(randomUUID())
      if (claim !== null) await runs.finish(claim, endOf('success'))
    }
    const [a, b] = await Promise.all([
      store.take(DEPLOYMENTS, 2, leaseOf(1_000)),
      store.take(DEPLOYMENTS, 2, leaseOf(1_000)),
    ])
    const ids = [...a, ...b].map(({ run }) => run.run_id)
    expect(new Set(ids).size).toBe(ids.length)
    await store.take(DEPLOYMENTS, 9, leaseOf(1_000))
    expect(await store.nextDue(DEPLOYMENTS)).toBe(clock.time + 1_000)
    expect(await store.nextDue(['other'])).toBeUndefined()
    clock.time += 1_000
    const [lost, told, ...rest] = await store.take(DEPLOYMENTS, 9, leaseOf(5_000))
    if (lost === undefined || told === undefined) throw new Error('nothing is due')
    expect(rest).toHaveLength(1)
    await store.remove(told)
    clock.time += 5_000
    const [taken] = await store.take(DEPLOYMENTS, 1, leaseOf(9_000))
    // A report of the previous owner is ignored.
    await store.putOff(lost, clock.time, 5)
    await store.putOff(rest[0] ?? lost, clock.time + 7, 5)
    expect([taken?.run.run_id, taken?.tries]).toEqual([lost.run.run_id, 0])
    expect(await store.nextDue(DEPLOYMENTS)).toBe(clock.time + 7)
    clock.time += 7
    expect((await store.take(DEPLOYMENTS, 9, leaseOf(1_000))).map(({ tries }) => tries)).toEqual([5])
  })

  it('are due again at once when the instance that had taken them starts again', async () => {
    const { claim } = await withWebhook(randomUUID())
    if (claim !== null) await runs.finish(claim, endOf('success'))
    expect(await dueRuns()).toHaveLength(1)
    await store.recover(DEPLOYMENTS, 'another')
    await store.recover(['other'], 'me')
    expect(await dueRuns()).toEqual([])
    await store.recover(DEPLOYMENTS, 'me')
    expect(await dueRuns()).toHaveLength(1)
  })

  it('are deleted when their runs were deleted before their end', async () => {
    const { run } = await withWebhook(randomUUID())
    await withWebhook(randomUUID())
    await runs.deleteThreads(TENANT, [run.thread_id], 'nothing')
    expect(await store.sweep()).toBe(1)
    expect(await store.sweep()).toBe(0)
  })
})
