import { describe, expect, it } from 'vitest'
import { inlineLanes } from '../../../test/support/usage/world.ts'
import { AppError } from '../../base/errors.ts'
import { createLogger } from '../../base/log.ts'
import { createMetrics } from '../../base/metrics.ts'
import { emptyFragment, keyOf, RANK, writeFragment } from '../../trace/rows/fragment.ts'
import { RowWriter } from '../../trace/rows/row-binary.ts'
import { TRACE_RUN_ROWS } from '../../trace/rows/trace-run-row.ts'
import type { WorkerPool, WorkerTask } from '../../worker-threads/worker-pool.ts'
import type { PriceStore } from '../prices/price-store.ts'
import { createStepTimer } from '../store/step-timer.ts'
import { type BatchDeriver, type BatchDeriverDeps, createBatchDeriver } from './batch-deriver.ts'
import { createLaneRoutes, fragmentsOfPart } from './lane-routes.ts'
import type { LaneBatch } from './deriver.ts'

const WORKSPACE = '11111111-1111-4111-8111-111111111111'
const LANES = 2
const idOf = (n: number): string => `01a1f83d-55e5-7000-8000-${String(n).padStart(12, '0')}`
const signal = new AbortController().signal
const DONE = Promise.resolve()

/** Roots with these numbers; even ones go to lane 0, odd ones to lane 1. */
function rootsOf(...numbers: number[]): Uint8Array {
  const rows = new RowWriter()
  for (const n of numbers)
    writeFragment(rows, {
      ...emptyFragment(WORKSPACE, idOf(n), RANK.create, 1000),
      head: Buffer.from(
        JSON.stringify({ name: `root ${n}`, run_type: 'chain', start_time: '2026-11-29T00:00:00Z' }),
      ),
    })
  return rows.finish()
}

/** A child that names only its parent. */
function childOf(parent: number, n: number): Uint8Array {
  const rows = new RowWriter()
  writeFragment(rows, {
    ...emptyFragment(WORKSPACE, idOf(n), RANK.create, 1000),
    head: Buffer.from(
      JSON.stringify({ name: 'child', start_time: '2026-11-29T00:00:00Z', parent_run_id: idOf(parent) }),
    ),
  })
  return rows.finish()
}

interface SetUp {
  deriver: BatchDeriver
  /** Numbers of the TraceRuns that each lane was given, in order. */
  given: number[][][]
  asked: string[][]
}

/** A deriver whose lanes fail for the root with the number `bad`, unless it is derived from its head. */
function setUp(bad?: number): SetUp {
  const given: number[][][] = Array.from({ length: LANES }, () => [])
  const asked: string[][] = []
  const pools = inlineLanes(true, LANES).map((pool, lane): WorkerPool => {
    const run = async (task: WorkerTask): Promise<unknown> => {
      if (task.name === 'derive-begin') {
        const batch = task.input as LaneBatch
        const runs = Array.from(fragmentsOfPart(batch), ({ run_id }) => run_id)
        given[lane]!.push(runs.map((id) => Number(id.slice(-12))))
        const isBad = bad !== undefined && runs.includes(idOf(bad))
        if (isBad && !batch.headOnly.has(keyOf(WORKSPACE, idOf(bad)))) throw new AppError('worker_failed')
      }
      return pool.run(task)
    }
    return { ...pool, run: run as WorkerPool['run'] }
  })
  const none = async () => new Uint8Array(0)
  const outlines: BatchDeriverDeps['store']['outlines'] = async (_, ids) => {
    asked.push([...ids])
    return new Uint8Array(0)
  }
  const prices: Pick<PriceStore, 'snapshot'> = { snapshot: async () => ({ version: 0, entries: [] }) }
  const metrics = createMetrics()
  const deps: BatchDeriverDeps = {
    store: {
      outlines,
      payloads: none,
      hasWaitingChildren: async () => false,
      waitingChildren: async () => [],
      belowRoots: async () => [],
    },
    deriveLanes: { pools, routes: createLaneRoutes({ lanes: LANES, laneBytes: 1 }) },
    prices: prices as PriceStore,
    usage: { periods: [] },
    exclusive: true,
    logger: createLogger({ level: 'silent' }),
    metrics,
  }
  return { deriver: createBatchDeriver(deps, createStepTimer(metrics)), given, asked }
}

async function namesOf({ deriver }: SetUp, payloads: readonly Uint8Array[]): Promise<string[]> {
  const derived = await deriver.derive(payloads, { stored: DONE, earlierRows: DONE }, signal)
  return derived.flatMap(({ rows }) => [...TRACE_RUN_ROWS.readAll(rows)].map(({ name }) => name)).toSorted()
}

describe('a batch in two lanes', () => {
  it('loses only the part of a lane that fails, which is derived apart until the bad TraceRun is alone', async () => {
    const set = setUp(2)
    const all = ['root 0', 'root 1', 'root 2', 'root 3', 'root 4']
    expect(await namesOf(set, [rootsOf(0, 1, 2), rootsOf(3, 4)])).toEqual(all)
    expect(set.given[1]).toEqual([[1, 3]])
    expect(set.given[0]).toEqual([[0, 2, 4], [0, 2], [0], [2], [2], [2], [4]])
  })

  it('waits until all fragments are stored before it reads a parent that another lane may have', async () => {
    const set = setUp()
    const stored = Promise.withResolvers<void>()
    const working = set.deriver.derive(
      [rootsOf(2), childOf(2, 3)],
      { stored: stored.promise, earlierRows: DONE },
      signal,
    )
    const ended = await Promise.race([working, new Promise((resolve) => setImmediate(resolve, 'waits'))])
    expect(ended).toBe('waits')
    expect(set.asked).toEqual([[idOf(2)]])
    stored.resolve()
    await working
    expect(set.asked).toEqual([[idOf(2)], [idOf(3), idOf(2)]])
  })

  it('rejects with the error of the store, and then derives the next batch', async () => {
    const set = setUp()
    const stored = Promise.reject(new AppError('store_unavailable'))
    stored.catch(() => undefined)
    const derived = set.deriver.derive([rootsOf(2), childOf(2, 3)], { stored, earlierRows: DONE }, signal)
    await expect(derived).rejects.toMatchObject({ code: 'store_unavailable' })
    expect(await namesOf(set, [rootsOf(5)])).toEqual(['root 5'])
  })
})
