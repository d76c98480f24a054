import { expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import type { ListQuery, OrderedBy } from '../../../src/ingest/store/trace-store.ts'
import { TRACE_RUN_ROWS } from '../../../src/trace/rows/trace-run-row.ts'
import { parseDecimal } from '../../../src/trace/price/decimal.ts'
import { parseFilter } from '../../../src/trace/filter/filter.ts'
import { dottedSegment } from '../../../src/trace/derive/lineage/dotted-order.ts'
import {
  SECOND,
  START,
  useTraceStore,
  type TestTraceStore,
  traceRunRow,
  WORKSPACE,
} from '../../support/stores/clickhouse/trace-store.ts'

let db: TestTraceStore
const project_id = newUuid()

/**
 * A trace of a chain and one model call: its name, the seconds that both take, and the tokens and the cost of the call.
 */
async function insertTrace(name: string, seconds: number | null, tokens: number | null, cost: string | null) {
  const [trace_id, run_id, at] = [newUuid(), newUuid(), START]
  const end_time = seconds === null ? null : at + seconds * SECOND
  const common = { project_id, trace_id, sort_time: at, start_time: at, end_time }
  const order = dottedSegment(at, trace_id)
  await db.insert([
    traceRunRow(1, { ...common, run_id: trace_id, name, run_type: 'chain', dotted_order: order }),
    traceRunRow(2, {
      ...common,
      run_id,
      parent_run_id: trace_id,
      name: `${name} call`,
      run_type: 'llm',
      dotted_order: `${order}.${dottedSegment(at, run_id)}`,
      input_tokens: tokens,
      output_tokens: tokens === null ? null : 1,
      total_cost: cost === null ? null : (parseDecimal(cost) ?? null),
    }),
  ])
}

useTraceStore(async (store) => {
  db = store
  await insertTrace('quick', 1, 900, '0.3')
  await insertTrace('slow', 9, 20, '0.00001')
  await insertTrace('open', null, null, null)
  await insertTrace('usual', 4, 300, '20')
})

async function namesBy(order_by: OrderedBy, more: Partial<ListQuery> = {}): Promise<string[]> {
  const asked = { project_ids: [project_id], is_root: true, order: 'desc', limit: 10, ...more } as const
  const rows = await db.store.list(WORKSPACE, { ...asked, order_by })
  return [...TRACE_RUN_ROWS.readAll(rows)].map(({ name }) => name)
}

it('N6: lists are ordered by latency, and by tokens and costs with those below; without a value last', async () => {
  expect(await namesBy('latency')).toEqual(['slow', 'usual', 'quick', 'open'])
  expect(await namesBy('latency', { order: 'asc' })).toEqual(['quick', 'usual', 'slow', 'open'])
  expect(await namesBy('total_cost')).toEqual(['usual', 'quick', 'slow', 'open'])
  expect((await namesBy('total_tokens')).slice(0, 3)).toEqual(['quick', 'usual', 'slow'])
  expect(await namesBy('total_cost', { is_root: false, run_type: 'llm' })).toEqual([
    'usual call',
    'quick call',
    'slow call',
    'open call',
  ])
})

it('N6: an ordered list has pages, and filters', async () => {
  const pages = [0, 2, 4].map((offset) => namesBy('latency', { offset, limit: 2 }))
  expect(await Promise.all(pages)).toEqual([['slow', 'usual'], ['quick', 'open'], []])
  const filter = parseFilter('and(gt(total_cost, 0.1), search("u"))')
  expect(await namesBy('total_cost', { filter })).toEqual(['usual', 'quick'])
})
