import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import { newTimeUuid } from '../../../../src/base/ids.ts'
import type { Claimer, RunStore } from '../../../../src/runs/run-store.ts'
import { RUN_VERSION } from '../../../../src/runs/state.ts'
import type { Database } from '../../../../src/storage/sql/driver/database.ts'
import { createRunStore } from '../../../../src/storage/sql/runs/run-store.ts'
import { GRAPHS_KEPT_MS } from '../../../../src/storage/sql/server-registry.ts'
import { admissionOf, admitted, CLAIMER, endOf, TENANT } from '../../../support/runs/run-store.ts'
import { describeOnSql } from '../../../support/stores/sql/sql-databases.ts'
import { testClock } from '../../../support/faults/test-clock.ts'

const DEPLOYMENTS = [TENANT.deployment_id]
const OLD: Claimer = { ...CLAIMER, owner: 'old', graphs: ['agent'] }
const NEW: Claimer = { ...CLAIMER, owner: 'new', graphs: ['agent', 'added'], version: RUN_VERSION + 1 }
const ADDED = { graph_id: 'added' }

describeOnSql('claims of servers of several releases', (engine) => {
  let database: Database
  let store: RunStore
  let now: number
  const clock = testClock(() => now)
  beforeEach(async () => {
    now = 1_700_000_000_000
    database = await engine.openRuns()
    store = createRunStore(database, clock)
  })
  const claimed = async (claimer: Claimer, limit = 9): Promise<string[]> =>
    (await store.claim(claimer, DEPLOYMENTS, limit)).map(({ run_id }) => run_id)

  it('leave a run of a graph that the server does not have, and what waits behind it on its thread', async () => {
    const thread_id = randomUUID()
    const { run: first, claim } = await admitted(store, admissionOf(thread_id, { run: ADDED, claim: OLD }))
    expect(claim).toBeNull()
    const { run: second } = await admitted(store, admissionOf(thread_id))
    const { run: other } = await admitted(store, admissionOf(randomUUID()))
    // This owner may not claim the two older runs. A claim of one run skips them, and returns the run that it may
    // claim.
    expect(await claimed(OLD, 1)).toEqual([other.run_id])
    expect(await claimed(OLD)).toEqual([])
    const [lease] = await store.claim(NEW, DEPLOYMENTS, 9)
    expect(lease?.run_id).toBe(first.run_id)
    if (lease !== undefined) await store.finish(lease, endOf('success'))
    expect(await claimed({ ...OLD, version: RUN_VERSION })).toEqual([second.run_id])
  })

  it('leave a run that a newer release has begun, also when its server is gone', async () => {
    const { run } = await admitted(store, admissionOf(randomUUID()))
    const [lease] = await store.claim(NEW, DEPLOYMENTS, 9)
    if (lease === undefined) throw new Error('not claimed')
    await store.release(lease, { error: 'HostLost', message: 'gone' }, 3)
    expect(await claimed(OLD)).toEqual([])
    expect(await claimed(NEW)).toEqual([run.run_id])
  })

  it('leave the runs of a newer release without a list of graphs: a deployment of the API has none', async () => {
    const older = { ...CLAIMER, version: RUN_VERSION - 1 }
    const { run, claim } = await admitted(store, admissionOf(randomUUID(), { claim: older }))
    expect(claim).toBeNull()
    const { run: begun } = await admitted(store, admissionOf(randomUUID()))
    const [lease] = await store.claim({ ...CLAIMER, version: RUN_VERSION + 1 }, DEPLOYMENTS, 1)
    if (lease === undefined) throw new Error('not claimed')
    await store.release(lease, { error: 'HostLost', message: 'gone' }, 3)
    const other = lease.run_id === run.run_id ? begun : run
    expect(await claimed(older)).toEqual([])
    // A claim of one run skips the run that this owner may not claim, and returns the other.
    expect(await claimed(CLAIMER, 1)).toEqual([other.run_id])
    expect(await claimed(CLAIMER)).toEqual([])
    expect(await claimed({ ...CLAIMER, version: RUN_VERSION + 1 })).toEqual([lease.run_id])
  })

  it('take runs of a later release that are given up, and say so', async () => {
    const newest = { ...CLAIMER, version: RUN_VERSION + 3 }
    const { run } = await admitted(store, admissionOf(randomUUID()))
    const [lease] = await store.claim(newest, DEPLOYMENTS, 1)
    if (lease === undefined) throw new Error('not claimed')
    await store.release(lease, { error: 'HostLost', message: 'gone' }, 3)
    now += GRAPHS_KEPT_MS
    await admitted(store, admissionOf(randomUUID()))
    expect(await store.waitingVersions(RUN_VERSION)).toEqual([RUN_VERSION + 3])
    expect(await claimed({ ...OLD, graphs: [], abandoned_above: RUN_VERSION + 3 })).toEqual([])
    const claims = await store.claim({ ...OLD, graphs: [], abandoned_above: RUN_VERSION }, DEPLOYMENTS, 9)
    expect(claims).toMatchObject([{ run_id: run.run_id, abandoned: true }])
    expect(await store.waitingVersions(RUN_VERSION)).toEqual([])
    expect(await store.claim(CLAIMER, DEPLOYMENTS, 9)).not.toHaveProperty('0.abandoned')
  })

  it('leave runs of a later release that have not waited for long, although others of it are given up', async () => {
    const newest = { ...CLAIMER, version: RUN_VERSION + 1 }
    const givingUp = { ...OLD, abandoned_above: RUN_VERSION }
    const { run } = await admitted(store, admissionOf(randomUUID()))
    const [lease] = await store.claim(newest, DEPLOYMENTS, 1)
    if (lease === undefined) throw new Error('not claimed')
    await store.release(lease, { error: 'HostLost', message: 'gone' }, 3)
    now += GRAPHS_KEPT_MS - 1
    expect(await claimed(givingUp)).toEqual([])
    now += 1
    expect(await claimed(givingUp)).toEqual([run.run_id])
  })

  it('see the version of a run that is due later', async () => {
    await admitted(store, admissionOf(randomUUID(), { delay_ms: 1000 }))
    expect(await store.waitingVersions(RUN_VERSION - 1)).toEqual([RUN_VERSION])
    expect(await store.waitingVersions(RUN_VERSION)).toEqual([])
  })

  it('P-33: leave runs that were made for a later revision, or begun on it, to servers that serve it', async () => {
    const [first, second] = [newTimeUuid(1000), newTimeUuid(1001)]
    const [before, after] = [
      { ...CLAIMER, owner: 'a', revision_id: first },
      { ...CLAIMER, owner: 'b', revision_id: second },
    ]
    const made = admissionOf(randomUUID(), { claim: before, revision_id: second })
    const { run, claim } = await admitted(store, made)
    expect([claim, run.revision_id]).toEqual([null, second])
    const { run: old } = await admitted(store, admissionOf(randomUUID(), { revision_id: first }))
    expect(await claimed(before, 1)).toEqual([old.run_id])
    expect(await claimed(before)).toEqual([])
    const [lease] = await store.claim(after, DEPLOYMENTS, 9)
    if (lease === undefined) throw new Error('not claimed')
    expect([lease.run_id, lease.run.revision_id]).toEqual([run.run_id, second])
    await store.release(lease, { error: 'HostLost', message: 'gone' }, 3)
    expect(await claimed(before)).toEqual([])
    expect(await claimed(after)).toEqual([run.run_id])
  })

  it('P-33: take runs that were made for an earlier revision', async () => {
    const made = admissionOf(randomUUID(), { revision_id: newTimeUuid(1000) })
    const { run } = await admitted(store, made)
    const [claim] = await store.claim({ ...CLAIMER, revision_id: newTimeUuid(1001) }, DEPLOYMENTS, 9)
    expect(claim?.run_id).toBe(run.run_id)
  })

  it('take every run of their release without a list of graphs', async () => {
    const { run } = await admitted(store, admissionOf(randomUUID(), { run: ADDED }))
    expect(await claimed(CLAIMER)).toEqual([run.run_id])
  })
})
