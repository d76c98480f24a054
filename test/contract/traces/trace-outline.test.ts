import { expect, it } from 'vitest'
import { NIL_UUID, newUuid } from '../../../src/base/ids.ts'
import { assembleOutline, type OutlineOptions, readOutline } from '../../../src/query/outline-reads.ts'
import { dottedSegment } from '../../../src/trace/derive/lineage/dotted-order.ts'
import type { TraceRunRow } from '../../../src/trace/rows/trace-run-row.ts'
import {
  START,
  useTraceStore,
  type TestTraceStore,
  traceRunRow,
  WORKSPACE,
} from '../../support/stores/clickhouse/trace-store.ts'
import { inLong } from '../../support/length.ts'

let db: TestTraceStore
useTraceStore((store) => void (db = store))

interface Outline {
  version: string
  is_whole: boolean
  run_count: number
  totals: { total_tokens: number } | null
  columns: { id: string[]; tokens: (number | null)[] }
}

async function outlineOf(trace_id: string, after?: string): Promise<Outline | undefined> {
  const found = await read(trace_id, after === undefined ? {} : { after })
  return found && (JSON.parse(Buffer.from(found.body!).toString()) as Outline)
}

function read(trace_id: string, options: OutlineOptions) {
  const ids = { workspace_id: WORKSPACE, trace_id }
  return readOutline(db.store, ids, options, async (task) => assembleOutline(task))
}

it('N17: makes no answer for a client that has it', async () => {
  const { root, step, call } = traceOf()
  await db.insert([root, step])
  const { version } = (await outlineOf(root.run_id))!
  expect(await read(root.run_id, { known: ['other', version] })).toEqual({ version, body: undefined })
  await db.insert([call])
  expect((await read(root.run_id, { known: [version] }))?.version).not.toBe(version)
})

function traceOf(): { root: TraceRunRow; step: TraceRunRow; call: TraceRunRow } {
  const [a, b, c] = [newUuid(), newUuid(), newUuid()]
  const line = [a, b, c].map((id) => dottedSegment(START, id))
  const of = (n: number, run_id: string, parent_run_id: string): TraceRunRow =>
    traceRunRow(n, { run_id, parent_run_id, trace_id: a, dotted_order: line.slice(0, n).join('.') })
  return {
    root: of(1, a, NIL_UUID),
    step: of(2, b, a),
    call: { ...of(3, c, b), run_type: 'llm', input_tokens: 5 },
  }
}

it('returns the whole trace, then what has changed, then nothing', async () => {
  const { root, step, call } = traceOf()
  await db.insert([root, step])
  const first = await outlineOf(root.run_id)
  expect(first).toMatchObject({ is_whole: true, run_count: 2, columns: { id: [root.run_id, step.run_id] } })
  expect(await outlineOf(root.run_id, first!.version)).toMatchObject({
    version: first!.version,
    run_count: 2,
    totals: null,
    columns: { id: [] },
  })
  // Makes the existing rows a minute older. Then an update of the outline contains only later rows.
  await db.clickhouse.command(
    `ALTER TABLE trace_runs UPDATE written_at = subtractSeconds(written_at, 60) WHERE 1 SETTINGS mutations_sync = 1`,
  )
  const settled = await outlineOf(root.run_id)
  const other = traceRunRow(9, { run_id: newUuid(), parent_run_id: root.run_id, trace_id: root.run_id })
  await db.insert([other])
  await db.insert([call, { ...step, version: 2 }])
  const next = await outlineOf(root.run_id, settled!.version)
  expect(next).toMatchObject({ is_whole: false, run_count: 4, totals: { total_tokens: 5 } })
  expect(new Set(next!.columns.id)).toEqual(new Set([root, step, call, other].map(({ run_id }) => run_id)))
  expect(next!.columns.tokens).toEqual([5, 5, 5, null])
})

inLong(() => {
  it('finds no trace of other workspaces, and refuses an invalid version', async () => {
    expect(await outlineOf(newUuid())).toBeUndefined()
    await expect(outlineOf(newUuid(), 'yesterday')).rejects.toMatchObject({ code: 'invalid_request' })
  })
})
