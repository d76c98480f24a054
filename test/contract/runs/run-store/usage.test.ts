import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import type { RunStore } from '../../../../src/runs/run-store.ts'
import type { Database } from '../../../../src/storage/sql/driver/database.ts'
import { createRunStore } from '../../../../src/storage/sql/runs/run-store.ts'
import {
  createDeploymentUsage,
  type DeploymentUsage,
} from '../../../../src/storage/sql/runs/usage/deployment-usage.ts'
import type { Grouping } from '../../../../src/usage/report/source.ts'
import {
  addCheckpoint,
  admissionOf,
  admitted,
  CLAIMER,
  claimedOne,
  endOf,
  started,
  TENANT,
} from '../../../support/runs/run-store.ts'
import { testClock } from '../../../support/faults/test-clock.ts'
import { describeOnSql } from '../../../support/stores/sql/sql-databases.ts'

const DAY = 86_400_000
const NOW = Date.UTC(2026, 0, 15, 12)
const GONE = { error: 'HostLost', message: 'gone' }
const END = endOf('success')

describeOnSql('usage of deployments', (engine) => {
  let database: Database
  let store: RunStore
  let usage: DeploymentUsage
  let now: number
  beforeEach(async () => {
    now = NOW
    database = await engine.openRuns()
    store = storeOf(true)
    usage = createDeploymentUsage(database)
  })
  const storeOf = (counts: boolean): RunStore => {
    const clock = testClock(() => now)
    return createRunStore(database, clock, undefined, undefined, counts)
  }
  const countBy = (group_by: Grouping, workspace_ids = [TENANT.workspace_id], start = NOW - DAY) =>
    usage.count({
      workspace_ids,
      start,
      end: NOW + 2 * DAY,
      origin: Date.UTC(2026, 0, 14),
      stride: { days: 1, hours: 0 },
      group_by,
    })
  /** `[agent_runs, nodes_executed]` of the workspace. */
  const counted = async () =>
    (await countBy('workspace')).map(({ agent_runs, nodes_executed }) => [agent_runs, nodes_executed])
  const checkpoint = (claim: Parameters<typeof addCheckpoint>[1]) =>
    addCheckpoint(database, claim, randomUUID())

  it('USAGE-20: counts a run when it has ended, with the nodes that its host has told', async () => {
    const claim = await started(store, randomUUID())
    expect(await counted()).toEqual([])
    await store.finish(claim, { ...END, nodes: 4 })
    expect(await store.finish(claim, { ...END, nodes: 4 })).toEqual({ kind: 'lost' })
    expect(await counted()).toEqual([[1, 4]])
  })

  it('USAGE-20: counts failed, interrupted and rolled back runs', async () => {
    const ends = ['error', 'timeout', 'interrupted'] as const
    for (const status of ends)
      await store.finish(await started(store, randomUUID()), { ...endOf(status), nodes: 1 })
    await store.rollback(await started(store, randomUUID()), undefined, 2)
    expect(await counted()).toEqual([[4, 5]])
  })

  it('USAGE-20: does not count a run that was cancelled before it began', async () => {
    const thread_id = randomUUID()
    const { run } = await admitted(store, admissionOf(thread_id))
    await store.requestCancel(TENANT, { thread_id, run_ids: [run.run_id] }, 'interrupt')
    expect(await counted()).toEqual([])
  })

  it('USAGE-20: counts the nodes of all attempts, those of lost hosts by what they have stored', async () => {
    const first = await started(store, randomUUID())
    for (const _ of [1, 2]) await checkpoint(first)
    await store.release(first, GONE, 3)
    expect(await counted()).toEqual([])
    const second = await claimedOne(store)
    await checkpoint(second)
    await store.finish(second, { ...END, nodes: 1 })
    expect(await counted()).toEqual([[1, 3]])
  })

  it('USAGE-20: counts a run whose process is gone, after its last attempt', async () => {
    await checkpoint(await started(store, randomUUID()))
    await store.recover(CLAIMER.owner, 1)
    expect(await counted()).toEqual([[1, 1]])
  })

  it('USAGE-20: counts a running run whose thread is deleted, and keeps the counts of deleted threads', async () => {
    const [one, two] = [randomUUID(), randomUUID()]
    await store.finish(await started(store, one), { ...END, nodes: 3 })
    const running = await started(store, two)
    await checkpoint(running)
    await store.deleteThreads(TENANT, [one, two], 'nothing')
    expect(await store.finish(running, { ...END, nodes: 9 })).toEqual({ kind: 'lost' })
    expect(await counted()).toEqual([[2, 4]])
  })

  it('USAGE-20: counts a run that is cancelled, or whose thread is deleted, while it waits for its next attempt', async () => {
    const waiting = async () => {
      const claim = await started(store, randomUUID())
      await checkpoint(claim)
      expect(await store.release(claim, GONE, 3)).toEqual({ kind: 'retried' })
      return { thread_id: claim.run.thread_id, run_ids: [claim.run.run_id] }
    }
    await store.requestCancel(TENANT, await waiting(), 'interrupt')
    await store.requestCancel(TENANT, await waiting(), 'rollback')
    const { thread_id } = await waiting()
    await admitted(store, admissionOf(thread_id))
    await store.deleteThreads(TENANT, [thread_id], 'nothing')
    expect(await counted()).toEqual([[3, 3]])
  })

  it('USAGE-20: groups by deployment, user and key, by the time of the start', async () => {
    const other = { ...TENANT, deployment_id: randomUUID() }
    await usage.keepName({ ...other, name: 'agent-two' })
    const caller = { user_id: randomUUID(), api_key_id: 'key-two' }
    await store.finish(await started(store, randomUUID()), { ...END, nodes: 1 })
    now += DAY
    const { claim } = await admitted(
      store,
      admissionOf(randomUUID(), { claim: CLAIMER, run: { caller } }),
      other,
    )
    now += DAY
    if (claim !== null) await store.finish(claim, { ...END, nodes: 2 })
    const days = [Date.UTC(2026, 0, 15), Date.UTC(2026, 0, 16)]
    const shown = async (group_by: Grouping) =>
      (await countBy(group_by))
        .toSorted((a, b) => a.bucket - b.bucket)
        .map(({ bucket, dimension_id, nodes_executed }) => [bucket, dimension_id, nodes_executed])
    expect(await shown('project')).toEqual([
      [days[0], TENANT.deployment_id, 1],
      [days[1], other.deployment_id, 2],
    ])
    expect((await shown('user'))[1]).toEqual([days[1], caller.user_id, 2])
    expect((await shown('api_key')).map(([, key]) => key)).toEqual(['key', 'key-two'])
    expect(await usage.names([TENANT.workspace_id])).toEqual(
      new Map([[`${TENANT.workspace_id}/${other.deployment_id}`, 'agent-two']]),
    )
    expect(await countBy('workspace', [randomUUID()])).toEqual([])
    expect(await countBy('workspace', [TENANT.workspace_id], NOW + 1)).toHaveLength(1)
  })

  it('USAGE-12: counts nothing while usage reporting is off', async () => {
    const off = storeOf(false)
    await off.finish(await started(off, randomUUID()), { ...END, nodes: 4 })
    expect(await counted()).toEqual([])
  })
})
