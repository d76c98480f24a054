import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { settableClock } from '../../../test/support/faults/test-clock.ts'
import { AppError } from '../../base/errors.ts'
import { createLogger } from '../../base/log.ts'
import { newUuid } from '../../base/ids.ts'
import { createMetrics } from '../../base/metrics.ts'
import { createSweeps } from '../../base/background/sweeps.ts'
import { createDeletionStore } from '../../storage/sql/deletion/deletion-store.ts'
import { migrate } from '../../storage/sql/driver/migrate.ts'
import { openSqlite } from '../../storage/sql/driver/sqlite.ts'
import { type Deleter, startDeleter } from './deleter.ts'
import type { DeletionStore } from './deletion-store.ts'
import type { RunOfTrace } from './trace-deletion.ts'

const WORKSPACES = [newUuid(), newUuid()]
const TRACES = 60

/** A clock and deletions in a database in memory, and a function that starts deleters on them. */
async function setUp() {
  const database = openSqlite(':memory:')
  onTestFinished(() => database.close())
  await migrate(database)
  const clock = settableClock()
  const deletions = createDeletionStore(database, clock)
  const logger = createLogger({ level: 'silent' })
  const metrics = createMetrics()
  const removed: string[] = []
  const start = (traces: object, deps: Partial<Parameters<typeof startDeleter>[0]> = {}): Deleter => {
    const deleter = startDeleter({
      traces: { usedBlobs: async () => new Set(), freeExpired: async () => undefined, ...traces } as never,
      deletions,
      shares: { removeTraces: async () => 0, removeProject: async () => undefined },
      comments: { removeRuns: async () => undefined },
      blobs: {
        put: async () => undefined,
        read: async () => undefined,
        remove: async (sha256) => removed.push(sha256) > 0,
      },
      ingester: { settled: async () => undefined, settledSoon: async () => undefined },
      ready: Promise.resolve(),
      clock,
      logger,
      sweeps: createSweeps({ logger, metrics }),
      ...deps,
    })
    onTestFinished(() => deleter.stop())
    return deleter
  }
  return { clock, deletions, metrics, removed, start }
}

it('deletes single traces of a workspace together with comments written meanwhile, and counts the runs of each', async () => {
  const { clock, start } = await setUp()
  const stored = new Map<string, RunOfTrace & { workspace_id: string }>()
  const asked: { workspace_id: string; trace_id: string }[] = []
  for (const workspace_id of WORKSPACES) {
    for (let n = 0; n < TRACES; n++) {
      const trace_id = newUuid()
      asked.push({ workspace_id, trace_id })
      for (const run_id of [newUuid(), newUuid(), newUuid()])
        stored.set(run_id, { run_id, trace_id, workspace_id })
    }
  }
  const deleted: { workspace_id: string; count: number }[] = []
  /** The runs that have comments. */
  const commented = new Set<string>()
  const traces = {
    runsOfTraces: async (workspace_id: string, trace_ids: readonly string[], limit: number) =>
      [...stored.values()]
        .filter((run) => run.workspace_id === workspace_id && trace_ids.includes(run.trace_id))
        .slice(0, limit),
    attachmentsOf: async () => [],
    async deleteRuns(workspace_id: string, run_ids: readonly string[]) {
      deleted.push({ workspace_id, count: run_ids.length })
      for (const run_id of run_ids) {
        commented.add(run_id)
        stored.delete(run_id)
      }
    },
  }
  const opened = Promise.withResolvers<void>()
  const removeRuns = async (_workspace: string, run_ids: readonly string[]) => {
    for (const run_id of run_ids) commented.delete(run_id)
  }
  const deleter = start(traces, { ready: opened.promise, comments: { removeRuns } })
  const jobs = []
  for (const { workspace_id, trace_id } of asked)
    jobs.push(await deleter.submit(workspace_id, { kind: 'trace', trace_id }))
  opened.resolve()
  await eventually(async () => expect([stored.size, commented.size]).toEqual([0, 0]))
  // Jobs of the same millisecond have no order.
  expect(new Map(deleted.map(({ workspace_id, count }) => [workspace_id, count]))).toEqual(
    new Map(WORKSPACES.map((workspace_id) => [workspace_id, 3 * TRACES])),
  )
  expect(deleted).toHaveLength(WORKSPACES.length)
  clock.time += 10_000
  for (const job of jobs) {
    const ended = eventually(async () => {
      const now = await deleter.get(job?.workspace_id ?? '', job?.id ?? '')
      expect(now).toMatchObject({ status: 'done', deleted: 3 })
    })
    await ended
  }
})

it.each(['goes on', 'ends before it has noted the attachment again'])(
  'removes an attachment although another server looks for unused ones while its trace is slowly deleted, and the server %s',
  async (end) => {
    const { clock, deletions, removed, start } = await setUp()
    const sha256 = 'a'.repeat(64)
    const [workspace_id = '', trace_id] = [WORKSPACES[0], newUuid()]
    let isStored = true
    let checks = 0
    const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const traces = {
      runsOfTraces: async () => (isStored ? [{ run_id: trace_id, trace_id }] : []),
      attachmentsOf: async () => (isStored ? [sha256] : []),
      async deleteRuns() {
        reached.resolve()
        await gate.promise
        isStored = false
      },
      async usedBlobs(noted: readonly string[]) {
        checks++
        return new Set(isStored ? noted : [])
      },
    }
    const isKilled = end !== 'goes on'
    const noteBlobs: DeletionStore['noteBlobs'] = async (sha256s, time) => {
      if (!isStored && isKilled) throw new AppError('store_unavailable')
      await deletions.noteBlobs(sha256s, time)
    }
    const deleter = start(traces, { deletions: { ...deletions, noteBlobs } })
    onTestFinished(() => gate.resolve())
    await deleter.submit(workspace_id, { kind: 'trace', trace_id })
    await reached.promise
    clock.time += 11_000
    // The other server only looks for unused attachments.
    const looked = Promise.withResolvers<void>()
    const notedBlobs: DeletionStore['notedBlobs'] = async (until) => {
      const noted = await deletions.notedBlobs(until)
      if (noted.length === 0) looked.resolve()
      return noted
    }
    start(traces, { deletions: { ...deletions, unfinished: async () => [], notedBlobs } })
    await looked.promise
    expect([checks, await deletions.notedBlobs(clock.now())]).toEqual([0, []])
    gate.resolve()
    await eventually(async () => expect(isStored).toBe(false))
    if (isKilled) await deleter.stop()
    clock.time += 11_000 + (isKilled ? 3_600_000 : 0)
    if (isKilled) start(traces)
    await eventually(async () => expect(removed).toContain(sha256))
  },
)

it('goes on with its jobs soon when the SQL store does not answer for a moment', async () => {
  const { clock, deletions, start } = await setUp()
  const [workspace_id = '', trace_id] = [WORKSPACES[0], newUuid()]
  let isStored = true
  const traces = {
    runsOfTraces: async () => (isStored ? [{ run_id: trace_id, trace_id }] : []),
    attachmentsOf: async () => [],
    deleteRuns: async () => {
      isStored = false
    },
  }
  let asked = 0
  const unfinished: DeletionStore['unfinished'] = () =>
    ++asked === 2 ? Promise.reject(new AppError('store_unavailable')) : deletions.unfinished()
  const deleter = start(traces, { deletions: { ...deletions, unfinished } })
  const job = await deleter.submit(workspace_id, { kind: 'trace', trace_id })
  await eventually(async () => expect(isStored).toBe(false))
  clock.time += 20_000
  await eventually(async () =>
    expect(await deleter.get(workspace_id, job?.id ?? '')).toMatchObject({ status: 'done' }),
  )
  expect(asked).toBeGreaterThan(2)
})

it('removes attachments on a server whose log is behind for longer than a request would wait', async () => {
  const { clock, deletions, metrics, removed, start } = await setUp()
  const sha256 = 'a'.repeat(64)
  await deletions.noteBlobs([sha256], clock.now() - 60_000)
  const settledSoon = () => Promise.reject(new AppError('store_unavailable'))
  start({}, { ingester: { settled: async () => undefined, settledSoon } })
  await eventually(async () => expect(removed).toEqual([sha256]))
  expect(metrics.render()).not.toContain('weir_sweep_failures_total{')
})
