import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { STORED_COLUMNS } from '../../../src/ingest/store/stored-columns.ts'
import type { ClickHouse } from '../../../src/storage/clickhouse/connect.ts'
import { createTraceDeletion } from '../../../src/storage/clickhouse/deleting/deletion.ts'
import { NOT_HIDDEN } from '../../../src/storage/clickhouse/fragments/hidden-fragments.ts'
import { emptyFragment, RANK, writeFragment } from '../../../src/trace/rows/fragment.ts'
import { RowWriter } from '../../../src/trace/rows/row-binary.ts'
import { firstInShort } from '../../support/length.ts'
import {
  SECOND,
  START,
  startTestTraceStore,
  type TestTraceStore,
  traceRunRow,
} from '../../support/stores/clickhouse/trace-store.ts'

const RUNS = 700
const REPLICAS = { kind: 'replicas', cluster: 'c' } as const
const TABLES = [
  'runs',
  'run_places',
  'trace_runs',
  'thread_runs',
  'fragments',
  'fragment_places',
  'run_fragments',
  'attachment_uses',
]
const SHA256 = 'ab'.repeat(32)

let db: TestTraceStore
beforeAll(async () => {
  db = await startTestTraceStore()
})
afterAll(() => db.stop())

/** Stores TraceRuns with a thread, a fragment and an attachment each; returns their ids. */
async function store(workspace_id: string): Promise<string[]> {
  const run_ids = Array.from({ length: RUNS }, () => newUuid())
  const fragments = new RowWriter()
  for (const run_id of run_ids)
    writeFragment(fragments, {
      ...emptyFragment(workspace_id, run_id, RANK.create, START / 1000),
      attachments: Buffer.from(JSON.stringify({ file: { sha256: SHA256, size: 1 } })),
    })
  await db.store.insert('fragments', [fragments.finish()])
  const rows = run_ids.map((run_id, n) => ({
    ...traceRunRow(1, { sort_time: START + n * SECOND, thread_id: 'a thread' }),
    workspace_id,
    run_id,
    trace_id: run_id,
  }))
  await db.insert(rows)
  return run_ids
}

async function left(workspace_id: string): Promise<Record<string, number>> {
  const counts = TABLES.map(async (table) => {
    const [row] = await db.clickhouse.rows<{ n: number }>(
      `SELECT toUInt32(uniqExact(run_id)) AS n FROM ${table}
       WHERE workspace_id = {workspace_id:UUID} AND ${table === 'fragments' ? NOT_HIDDEN : 1}`,
      { params: { workspace_id } },
    )
    return [table, row!.n] as const
  })
  return Object.fromEntries(await Promise.all(counts))
}

const ENGINES: readonly [name: string, engine: (clickhouse: ClickHouse) => ClickHouse][] = [
  ['a single server, where many ids are stored first', (clickhouse) => clickhouse],
  ['a cluster, where each statement names them', (clickhouse) => ({ ...clickhouse, layout: REPLICAS })],
]

describe.each(firstInShort(ENGINES))('a deletion of many TraceRuns on %s', (_name, engine) => {
  it('deletes them from all tables, and no others', async () => {
    const [workspace_id, other] = [newUuid(), newUuid()]
    const run_ids = await store(workspace_id)
    await store(other)
    const all = Object.fromEntries(TABLES.map((table) => [table, table === 'run_fragments' ? 0 : RUNS]))
    expect(await left(workspace_id)).toEqual(all)
    const kept = run_ids.slice(0, 20)
    const deletion = createTraceDeletion(engine(db.clickhouse), STORED_COLUMNS.runs)
    await deletion.deleteRuns(workspace_id, run_ids.slice(20), { attachments: [SHA256] })
    const few = Object.fromEntries(
      TABLES.map((table) => [table, table === 'run_fragments' ? 0 : kept.length]),
    )
    expect(await left(workspace_id)).toEqual(few)
    expect(await left(other)).toEqual(all)
    await deletion.freeSpace(new AbortController().signal)
    const physical = await db.clickhouse.rows<{ run_id: string }>(
      'SELECT DISTINCT run_id FROM fragments WHERE workspace_id = {workspace_id:UUID}',
      { params: { workspace_id } },
    )
    expect(physical.map(({ run_id }) => run_id).sort()).toEqual([...kept].sort())
    expect(await db.clickhouse.rows('SELECT * FROM hidden_fragments')).toEqual([])
  })
})

it('one deletion has at most as many as a record of a cluster can name, and more elsewhere', () => {
  const { clickhouse } = db
  expect(createTraceDeletion({ ...clickhouse, layout: REPLICAS }, STORED_COLUMNS.runs).page).toBe(4_000)
  expect(createTraceDeletion(clickhouse, STORED_COLUMNS.runs).page).toBe(50_000)
})
