import { describe, expect, it, vi } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { createLogger } from '../../../src/base/log.ts'
import { STORED_COLUMNS } from '../../../src/ingest/store/stored-columns.ts'
import { repairDoubleRows } from '../../../src/storage/clickhouse/repair-double-rows.ts'
import { createTraceStore } from '../../../src/storage/clickhouse/trace-store.ts'
import { emptyFragment, RANK, writeFragment } from '../../../src/trace/rows/fragment.ts'
import { RowWriter } from '../../../src/trace/rows/row-binary.ts'
import { TRACE_RUN_ROWS } from '../../../src/trace/rows/trace-run-row.ts'
import {
  idOf,
  OTHER_PROJECT,
  PROJECT,
  START,
  useTraceStore,
  type TestTraceStore,
  traceRunRow,
} from '../../support/stores/clickhouse/trace-store.ts'
import { LONG_MS } from '../../support/campaign.ts'

// A store gets up to a million rows, or is away for a while.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

let db: TestTraceStore
useTraceStore((store) => void (db = store))

const options = {
  signal: new AbortController().signal,
  logger: createLogger({ level: 'silent' }),
  stepRows: 2,
}
const HOUR = 3_600_000_000

describe('TraceRuns that an earlier release listed in two projects', () => {
  it('are left in the project of their fragments, found by every read, and counted once', async () => {
    const workspace_id = newUuid()
    const place = (n: number) => ({
      workspace_id,
      sort_time: START + n * HOUR,
      trace_id: idOf(1),
      dotted_order: idOf(n),
    })
    const ghosts = [1, 2, 3].flatMap((n) =>
      [PROJECT, OTHER_PROJECT].map((project_id) => traceRunRow(n, { ...place(n), project_id })),
    )
    await db.insert([...ghosts, traceRunRow(4, { ...place(4), project_id: OTHER_PROJECT })])
    const fragments = new RowWriter()
    for (const [n, project_id] of [
      [1, PROJECT],
      [2, OTHER_PROJECT],
    ] as const)
      writeFragment(fragments, { ...emptyFragment(workspace_id, idOf(n), RANK.create, 1), project_id })
    await createTraceStore(db.clickhouse, STORED_COLUMNS).insert('fragments', [fragments.finish()])

    expect(await repairDoubleRows(db.clickhouse, options)).toBe(3)

    const counts = await db.store.projectCounts(workspace_id, [PROJECT, OTHER_PROJECT])
    expect([counts.get(PROJECT)?.run_count, counts.get(OTHER_PROJECT)?.run_count]).toEqual([2, 2])
    const trace = [...TRACE_RUN_ROWS.readAll(await db.store.traceRows(workspace_id, idOf(1), '', 10))]
    const wanted = {
      [idOf(1)]: PROJECT,
      [idOf(2)]: OTHER_PROJECT,
      [idOf(3)]: PROJECT,
      [idOf(4)]: OTHER_PROJECT,
    }
    expect(Object.fromEntries(trace.map(({ run_id, project_id }) => [run_id, project_id]))).toEqual(wanted)
    for (const [run_id, project_id] of Object.entries(wanted))
      expect([...TRACE_RUN_ROWS.readAll(await db.store.row(workspace_id, run_id))]).toMatchObject([
        { project_id },
      ])
    expect(await repairDoubleRows(db.clickhouse, options)).toBe(0)
  })
})
