import { expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { dottedSegment } from '../../../src/trace/derive/lineage/dotted-order.ts'
import { createReadSteps } from '../../../src/query/steps.ts'
import { rollUps } from '../../../src/query/derive-read.ts'
import { listNeeds } from '../../../src/trace/json/trace-run.ts'
import { parseFilter } from '../../../src/trace/filter/filter.ts'
import { parseDecimal } from '../../../src/trace/price/decimal.ts'
import { FEEDBACK_ROWS } from '../../../src/trace/rows/feedback.ts'
import { RowWriter } from '../../../src/trace/rows/row-binary.ts'
import { TRACE_RUN_ROWS, type TraceRunRow } from '../../../src/trace/rows/trace-run-row.ts'
import {
  SECOND,
  START,
  useTraceStore,
  type TestTraceStore,
  traceRunRow,
  WORKSPACE,
} from '../../support/stores/clickhouse/trace-store.ts'

let db: TestTraceStore
useTraceStore((store) => void (db = store))

/** A root at `at`, with its own id as the id of its trace. */
function rootRow(project_id: string, at: number, fields: Partial<TraceRunRow> = {}): TraceRunRow {
  const trace_id = fields.trace_id ?? newUuid()
  const times = { sort_time: at, start_time: at, dotted_order: dottedSegment(at, trace_id) }
  return traceRunRow(1, { project_id, run_id: trace_id, trace_id, ...times, ...fields })
}

it('sums of costs may be larger than a single cost can be', async () => {
  const project_id = newUuid()
  const most = parseDecimal('999999999999999999')!
  const costs = { input_cost: most, output_cost: most, total_cost: most }
  const roots = Array.from({ length: 200 }, (_, n) => rootRow(project_id, START + n * SECOND))
  const calls = roots.map((root) => {
    const run_id = newUuid()
    return {
      ...root,
      ...costs,
      run_id,
      parent_run_id: root.run_id,
      dotted_order: `${root.dotted_order}.${dottedSegment(root.start_time, run_id)}`,
      run_type: 'llm',
      thread_id: 'costly',
      input_cost_details: { text: most },
    }
  })
  await db.insert([...roots, ...calls])
  const sum = '199999999999999999800'
  const [whole] = (await db.store.runStats(WORKSPACE, { project_ids: [project_id] })).figures
  const [ofRoots] = (await db.store.runStats(WORKSPACE, { project_ids: [project_id], is_root: true })).figures
  for (const figures of [whole, ofRoots])
    expect(figures).toMatchObject({
      prompt_cost: sum,
      completion_cost: sum,
      total_cost: sum,
      prompt_cost_details: { text: sum },
    })
  const window = { project_id, from: 0, to: START * 2, filter: parseFilter('eq(run_type, "chain")') }
  const [summary] = await db.store.threadSummaries(WORKSPACE, window, ['costly'])
  expect(summary).toMatchObject({ turns: 200, total_cost: sum, prompt_cost_details: { text: sum } })
})

it('a sum of costs of many calls is compared as a whole', async () => {
  const project_id = newUuid()
  const most = parseDecimal('999999999999999999')!
  const root = rootRow(project_id, START)
  const calls = Array.from({ length: 200 }, () => {
    const run_id = newUuid()
    const dotted_order = `${root.dotted_order}.${dottedSegment(START, run_id)}`
    return { ...root, run_id, parent_run_id: root.run_id, dotted_order, run_type: 'llm', total_cost: most }
  })
  await db.insert([root, ...calls])
  const asked = { project_ids: [project_id], is_root: true, order: 'desc', limit: 10 } as const
  expect(await db.idsOf(WORKSPACE, 'gt(total_cost, 1)', asked)).toEqual([root.run_id])
})

it('a bucket of figures begins at or before each of its times, also before 1970', async () => {
  const project_id = newUuid()
  const hour = 3600 * SECOND
  await db.insert([-hour, -1, 0, hour - 1, hour].map((at) => rootRow(project_id, at)))
  const { figures } = await db.store.runStats(WORKSPACE, { project_ids: [project_id], interval: hour })
  expect(figures.map(({ bucket, run_count }) => [bucket, run_count])).toEqual([
    [-hour, 2],
    [0, 2],
    [hour, 1],
  ])
})

it('S-26: turns of the same time are numbered by the text of their ids', async () => {
  const project_id = newUuid()
  const ids = ['00000000-0000-4000-8000-000000000002', '00000001-0000-4000-8000-000000000001']
  await db.insert(ids.map((trace_id) => rootRow(project_id, START, { trace_id, thread_id: 'thread' })))
  const wanted = { project_id, thread_id: 'thread', limit: 10 }
  const turns = await db.store.turns(WORKSPACE, wanted)
  expect(turns.map(({ trace_id, turn }) => [trace_id, turn])).toEqual([
    [ids[0], 1],
    [ids[1], 2],
  ])
  const after = { sort_time: START, trace_id: ids[0]! }
  expect((await db.store.turns(WORKSPACE, { ...wanted, after })).map((turn) => turn.trace_id)).toEqual([
    ids[1],
  ])
})

it('a TraceRun that names a tag twice counts once for the tag', async () => {
  const project_id = newUuid()
  await db.insert([rootRow(project_id, START, { tags: ['a', 'b', 'a'] })])
  const asked = { project_ids: [project_id], group_by: { by: 'tag', max_groups: 10 } } as const
  for (const is_root of [true, undefined]) {
    const { figures } = await db.store.runStats(WORKSPACE, { ...asked, ...(is_root && { is_root }) })
    expect(figures.map(({ group, run_count }) => [group, run_count])).toEqual([
      ['a', 1],
      ['b', 1],
    ])
  }
})

it('figures of feedback have any key', async () => {
  const run_id = newUuid()
  const keys = ['__proto__', 'constructor', 'quality']
  const writer = new RowWriter()
  for (const key of keys) {
    const ids = { workspace_id: WORKSPACE, run_id, feedback_id: newUuid(), trace_id: run_id }
    const body = JSON.stringify({ key, score: 1 })
    FEEDBACK_ROWS.write(writer, { ...ids, body, received_at: START / 1000 })
  }
  await db.store.insert('feedback', [writer.finish()])
  const figures = (await db.store.feedbackOfRuns(WORKSPACE, [run_id])).get(run_id)
  expect(Object.keys(figures ?? {}).sort()).toEqual(keys)
})

it('a list has the sums of its rows before the views have written where they are', async () => {
  const project_id = newUuid()
  const root = rootRow(project_id, START)
  const call = {
    ...root,
    run_id: newUuid(),
    parent_run_id: root.run_id,
    run_type: 'llm',
    input_tokens: 3,
    output_tokens: 4,
  }
  await db.insert([root, call])
  // ClickHouse writes the rows first, and then what views make of them.
  await db.clickhouse.command('DELETE FROM trace_runs WHERE trace_id = {trace_id:UUID}', {
    params: { trace_id: root.trace_id },
  })
  const steps = createReadSteps({ store: db.store, readLane: undefined as never })
  const query = { project_ids: [project_id], order: 'desc', limit: 10 } as const
  const columns = listNeeds(['total_tokens']).columns
  const found = [...TRACE_RUN_ROWS.read(await steps.list(WORKSPACE, query, undefined, columns), columns)]
  const sums = rollUps(await steps.rollUpFor(WORKSPACE, found)).get(root.trace_id)
  expect(sums?.trace).toMatchObject({ prompt_tokens: 3, completion_tokens: 4 })
})
