import { expect, it } from 'vitest'
import { outlineRows } from '../../../test/support/traces/outline-rows.ts'
import { createLogger } from '../../base/log.ts'
import { createMetrics } from '../../base/metrics.ts'
import { emptyFragment, keyOf, RANK, readFragments, writeFragment } from '../../trace/rows/fragment.ts'
import { WAITING_CHILD_ROWS } from '../../trace/derive/lineage/waiting-child.ts'
import { RowWriter } from '../../trace/rows/row-binary.ts'
import type { WorkerPool } from '../../worker-threads/worker-pool.ts'
import { createLaneRoutes } from '../derive/lane-routes.ts'
import { type Derived, DerivedWriter } from './derived-writer.ts'
import { type BatchInStore, createStoreBatch, RECORD, type StoreBatchDeps } from './store-batch.ts'

const WORKSPACE = '11111111-1111-4111-8111-111111111111'
const idOf = (n: number): string => `01a1f83d-55e5-7000-8000-${String(n).padStart(12, '0')}`
const ROOT = idOf(9)

function rowsOf(run_id: string, head: object): Uint8Array {
  const rows = new RowWriter()
  const fragment = emptyFragment(WORKSPACE, run_id, RANK.create, 1000)
  writeFragment(rows, { ...fragment, head: Buffer.from(JSON.stringify(head)) })
  return rows.finish()
}

/** The two steps of batches for which the lanes derive what `derive` returns. */
function batchesOf(
  derive: (lane: number) => Derived,
  { store, ...deps }: Pick<StoreBatchDeps, 'exclusive'> & { store: Partial<StoreBatchDeps['store']> },
): (earlierRows: Promise<void>) => BatchInStore {
  const pools = [0, 1].map((lane) => ({ run: async () => derive(lane) }) as unknown as WorkerPool)
  const storeBatch = createStoreBatch({
    ...deps,
    store: store as StoreBatchDeps['store'],
    deriveLanes: { pools, routes: createLaneRoutes({ lanes: 2, laneBytes: 1 }) },
    prices: { snapshot: async () => ({}) } as never,
    usage: { periods: [], record: async () => undefined, recorded: 0 },
    logger: createLogger({ level: 'silent' }),
    metrics: createMetrics(),
  })
  const at = { segment: 0, offset: 0 }
  const frames = [2, 3].map((n) => {
    const payload = rowsOf(idOf(n), {})
    return { kind: RECORD.fragments, count: 1, received_at: 1000, payload, start: at, end: at }
  })
  return (earlierRows) => storeBatch(frames, earlierRows)
}

const { signal } = new AbortController()

it('that a child waits is written after what the batch before writes about it', async () => {
  const child = { workspace_id: WORKSPACE, parent_run_id: idOf(1), run_id: idOf(2) }
  const rowsWritten = Promise.withResolvers<void>()
  const notes: boolean[] = []
  let resolved = true
  const batchAfter = batchesOf(
    (lane) => {
      const out = new DerivedWriter([])
      if (lane === 0) out.note({ ...child, resolved })
      return { ...out.finish([]), count: 1 }
    },
    {
      exclusive: true,
      store: {
        insert: async (table, rows) => {
          if (table === 'runs') await rowsWritten.promise
          if (table === 'waiting_children')
            notes.push(...[...WAITING_CHILD_ROWS.readAll(rows[0]!)].map((note) => note.resolved))
        },
      },
    },
  )
  const first = batchAfter(Promise.resolve())
  await first.derive(signal)
  const finished = first.finish(signal).then(() => undefined)
  resolved = false
  const second = batchAfter(finished).derive(signal)
  await new Promise((resolve) => setTimeout(resolve))
  rowsWritten.resolve()
  await Promise.all([finished, second])
  expect(notes).toEqual([true, false])
})

it('a batch is derived again if any of its lanes did not know a root of another process', async () => {
  const rootFragments = ['first', 'second'].flatMap((name) => [...readFragments(rowsOf(ROOT, { name }))])
  let passes = 0
  const batchAfter = batchesOf(
    (lane) => {
      if (lane === 0) passes++
      // At first, lane 0 reads before the other process stores the second root, and lane 1 reads after it.
      return new DerivedWriter([]).finish([
        { key: keyOf(WORKSPACE, ROOT), fragments: passes === 1 ? lane + 1 : 2 },
      ])
    },
    {
      exclusive: false,
      store: { insert: async () => undefined, outlines: async () => outlineRows(rootFragments) },
    },
  )
  const batch = batchAfter(Promise.resolve())
  await batch.derive(signal)
  expect(passes).toBe(1)
  await batch.finish(signal)
  expect(passes).toBe(2)
})
