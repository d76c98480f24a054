import { expect, it } from 'vitest'
import { NIL_UUID, newUuid } from '../../../src/base/ids.ts'
import { dottedSegment } from '../../../src/trace/derive/lineage/dotted-order.ts'
import { rollUp } from '../../../src/trace/derive/roll-up.ts'
import { formatDecimal } from '../../../src/trace/price/decimal.ts'
import { RowReader } from '../../../src/trace/rows/row-binary.ts'
import {
  TRACE_OUTLINE_COLUMNS,
  TRACE_RUN_ROWS,
  type TraceRunRow,
} from '../../../src/trace/rows/trace-run-row.ts'
import {
  OTHER_PROJECT,
  START,
  useTraceStore,
  type TestTraceStore,
  traceRunRow,
  WORKSPACE,
} from '../../support/stores/clickhouse/trace-store.ts'
import { firstInShort, inLong } from '../../support/length.ts'

let db: TestTraceStore
useTraceStore((store) => void (db = store))

const LARGE = 5_000
const CENT = 10n ** 16n

/** A root, steps below it, and calls below the steps, all of which start in the same second. */
function largeTrace(runs = LARGE): TraceRunRow[] {
  const trace_id = newUuid()
  const ids = Array.from({ length: runs }, (_, n) => (n === 0 ? trace_id : newUuid()))
  const order = [dottedSegment(START, trace_id)]
  return ids.map((run_id, n) => {
    const isStep = n % 100 === 1
    const above = n === 0 || isStep ? 0 : n - (n % 100) + (n % 100 === 0 ? -99 : 1)
    if (n > 0) order[n] = `${order[above]}.${dottedSegment(START, run_id)}`
    const place = { run_id, trace_id, parent_run_id: n === 0 ? NIL_UUID : ids[above]! }
    const row = traceRunRow(0, {
      ...place,
      dotted_order: order[n]!,
      sort_time: START + n,
      start_time: START + n,
    })
    if (n === 0 || isStep) return row
    const call = { run_type: 'llm', input_tokens: n, output_tokens: 2, call_id: 1000 + n }
    const cost = {
      input_cost: CENT,
      total_cost: 2n * CENT,
      input_source: 'estimate',
      thread_id: `thread ${n}`,
    }
    return { ...row, ...call, ...(n % 2 === 0 && cost) }
  })
}

async function sumsOf(rows: readonly TraceRunRow[]) {
  await db.insert(rows)
  return db.store.largeTraceSums(WORKSPACE, rows[0]!.trace_id)
}

it('is added up by the store as its rows are', async () => {
  const rows = largeTrace()
  const { trace, thread_id } = rollUp(rows)
  const {
    llm_runs: _calls,
    error_runs: _errors,
    unpriced_runs: _prices,
    first_token_time: _first,
    ...sums
  } = trace
  expect(await sumsOf(rows)).toEqual({
    ...sums,
    prompt_cost: formatDecimal(sums.prompt_cost!),
    completion_cost: null,
    total_cost: formatDecimal(sums.total_cost!),
    estimated_cost: formatDecimal(sums.estimated_cost!),
    thread_id,
  })
  // A newer version of a row replaces the older one.
  const changed = { ...rows[2]!, version: 2, input_tokens: 1_000_000 }
  expect(await sumsOf([changed])).toMatchObject({ prompt_tokens: sums.prompt_tokens + 1_000_000 - 2 })
})

const ABOVE = 1
const CALL = 2
const IRREGULAR: Record<string, (rows: TraceRunRow[]) => Partial<TraceRunRow>> = {
  'one call is shown twice': (rows) => ({ call_id: rows[CALL + 1]!.call_id }),
  'a call has usage below it': (rows) => ({ parent_run_id: rows[CALL + 1]!.run_id }),
  'a parent is not there': () => ({ parent_run_id: newUuid() }),
  'it has a second root': () => ({ parent_run_id: NIL_UUID }),
  'parents are in a circle': (rows) => {
    rows[ABOVE]!.parent_run_id = rows[CALL]!.run_id
    return {}
  },
}

it.each(firstInShort(Object.entries(IRREGULAR), 2))(
  'is not added up by the store where %s',
  async (_what, change) => {
    const rows = largeTrace()
    Object.assign(rows[CALL]!, change(rows))
    expect(await sumsOf(rows)).toBeUndefined()
  },
)

inLong(() => {
  it('is added up by the store only if it is large', async () => {
    expect(await sumsOf(largeTrace(100))).toBeUndefined()
  })
})

it('D-53: has all of its rows in the outline, those in another project included', async () => {
  const idsIn = (bytes: Uint8Array): Set<string> =>
    new Set([...TRACE_RUN_ROWS.read(bytes, TRACE_OUTLINE_COLUMNS)].map(({ run_id }) => run_id))
  const rows = largeTrace()
  const { trace_id } = rows[0]!
  const between = { ...traceRunRow(0, { run_id: newUuid(), trace_id: newUuid() }), sort_time: START + 7 }
  await db.insert([...rows, between])
  const all = new Set(rows.map(({ run_id }) => run_id))
  expect(idsIn(await db.store.outlineRows(WORKSPACE, trace_id, 200_000))).toEqual(all)
  const moved = { ...rows[9]!, project_id: OTHER_PROJECT, run_id: newUuid() }
  await db.insert([moved])
  expect(idsIn(await db.store.outlineRows(WORKSPACE, trace_id, 200_000))).toEqual(all.add(moved.run_id))
  expect(new RowReader(await db.store.outlineRows(newUuid(), trace_id, 10)).done).toBe(true)
})
