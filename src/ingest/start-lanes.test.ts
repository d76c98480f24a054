import { expect, it } from 'vitest'
import { createLogger } from '../base/log.ts'
import { createMetrics } from '../base/metrics.ts'
import { newUuid } from '../base/ids.ts'
import { emptyFragment, RANK, writeFragment } from '../trace/rows/fragment.ts'
import { RowWriter } from '../trace/rows/row-binary.ts'
import { TRACE_RUN_ROWS } from '../trace/rows/trace-run-row.ts'
import { type BatchDeriverDeps, createBatchDeriver } from './derive/batch-deriver.ts'
import type { PriceStore } from './prices/price-store.ts'
import { startLanes } from './start-lanes.ts'
import { createStepTimer } from './store/step-timer.ts'

const WORKSPACE = '11111111-1111-4111-8111-111111111111'
const TRACES = 120
const INPUT_BYTES = 50_000
const logger = createLogger({ level: 'silent' })

/** A root and a child for each trace; the children name no trace but their parent. */
function batch(ids: readonly string[], children: readonly string[], op: 'create' | 'end'): Uint8Array[] {
  const start_time = '2026-11-29T00:00:00Z'
  return [ids, children].map((some, level) => {
    const rows = new RowWriter()
    for (const [i, id] of some.entries()) {
      const place = level === 0 ? { trace_id: id } : { parent_run_id: ids[i] }
      const head = op === 'create' ? { name: 'run', start_time, ...place } : { end_time: start_time }
      writeFragment(rows, {
        ...emptyFragment(WORKSPACE, id, op === 'create' ? RANK.create : RANK.update_with_end, 1000),
        head: Buffer.from(JSON.stringify(head)),
        inputs: op === 'create' ? Buffer.from(JSON.stringify('x'.repeat(INPUT_BYTES))) : Buffer.alloc(0),
      })
    }
    return rows.finish()
  })
}

it('two threads derive a batch and, from what they have cached, the updates of the next one', async () => {
  await using stops = new AsyncDisposableStack()
  const lanes = await startLanes({
    processors: [],
    open_fragment_bytes: 64 << 20,
    deriving: 2,
    logger,
    stops,
  })
  const prices: Pick<PriceStore, 'snapshot'> = { snapshot: async () => ({ version: 0, entries: [] }) }
  const asked: string[] = []
  const store: BatchDeriverDeps['store'] = {
    outlines: async (_, ids) => {
      asked.push(...ids)
      return new Uint8Array(0)
    },
    payloads: async () => new Uint8Array(0),
    hasWaitingChildren: async () => false,
    waitingChildren: async () => [],
    belowRoots: async () => [],
  }
  const metrics = createMetrics()
  const usage = { periods: [] }
  const deps = { store, deriveLanes: lanes.derive, prices: prices as PriceStore, usage, exclusive: true }
  const deriver = createBatchDeriver({ ...deps, logger, metrics }, createStepTimer(metrics))
  const now = Promise.resolve()
  const derive = async (payloads: readonly Uint8Array[]) => {
    const state = { stored: now, earlierRows: now }
    const parts = await deriver.derive(payloads, state, new AbortController().signal)
    return parts.map(({ rows }) => [...TRACE_RUN_ROWS.readAll(rows)])
  }
  const [ids, children] = [newUuid, newUuid].map((id) => Array.from({ length: TRACES }, id))
  const created = await derive(batch(ids!, children!, 'create'))
  expect(created).toHaveLength(2)
  expect(new Set(created.flat().map(({ run_id }) => run_id))).toEqual(new Set([...ids!, ...children!]))
  asked.length = 0
  const ended = await derive(batch(ids!, children!, 'end'))
  // Parents in the other lane are read; what has a fragment in the batch is cached in its own lane.
  expect(asked.filter((id) => children!.includes(id))).toEqual([])
  expect(new Set(ended.flat().map(({ run_id }) => run_id))).toEqual(new Set([...ids!, ...children!]))
  for (const row of ended.flat()) expect([row.status, row.name]).toEqual(['success', 'run'])
})
