import { afterAll, beforeAll } from 'vitest'
import type { ReadStore } from '../../../../src/ingest/store/stats-store.ts'
import type { ListQuery } from '../../../../src/ingest/store/trace-store.ts'
import { NIL_UUID } from '../../../../src/base/ids.ts'
import { STORED_COLUMNS } from '../../../../src/ingest/store/stored-columns.ts'
import type { ClickHouse } from '../../../../src/storage/clickhouse/connect.ts'
import { createTraceStore } from '../../../../src/storage/clickhouse/trace-store.ts'
import { parseFilter } from '../../../../src/trace/filter/filter.ts'
import { RowWriter } from '../../../../src/trace/rows/row-binary.ts'
import { parseTime } from '../../../../src/trace/derive/time.ts'
import { TRACE_RUN_ROWS, type TraceRunRow } from '../../../../src/trace/rows/trace-run-row.ts'
import { migratedDatabase } from './clickhouse-database.ts'

export const WORKSPACE = '0195f3a0-0000-7000-8000-0000000000aa'
export const PROJECT = '0195f3a0-0000-7000-8000-0000000000bb'
export const OTHER_PROJECT = '0195f3a0-0000-7000-8000-0000000000cc'
/** 2026-11-20T09:00:00Z in epoch microseconds; row `n` starts `n` minutes later. */
export const START = parseTime('2026-11-20T09:00:00Z')!
export const SECOND = 1_000_000

/** The id of row `n`. Ids sort like the numbers of their rows. */
export const idOf = (n: number) => `0195f3a0-0000-7000-8000-${String(n).padStart(12, '0')}`

/** A root that is still running; only `fields` have values. */
export function traceRunRow(n: number, fields: Partial<TraceRunRow>): TraceRunRow {
  return {
    workspace_id: WORKSPACE,
    project_id: PROJECT,
    sort_time: START + n * 60 * SECOND,
    run_id: idOf(n),
    version: 1,
    is_deleted: 0,
    trace_id: idOf(1),
    parent_run_id: NIL_UUID,
    dotted_order: '',
    name: `step ${n}`,
    run_type: 'chain',
    status: 'pending',
    start_time: START + n * 60 * SECOND,
    end_time: null,
    first_token_time: null,
    received_at: START / 1000,
    user_id: NIL_UUID,
    api_key_id: NIL_UUID,
    error: '',
    inputs_preview: '',
    outputs_preview: '',
    tags: [],
    thread_id: '',
    metadata: {},
    provider: '',
    model: '',
    model_source: '',
    input_format: '',
    output_format: '',
    input_tokens: null,
    output_tokens: null,
    input_token_details: {},
    output_token_details: {},
    input_cost: null,
    output_cost: null,
    total_cost: null,
    input_source: '',
    output_source: '',
    checks: 0,
    issues: [],
    price_model_id: '',
    sent_costs: 0,
    input_cost_details: {},
    output_cost_details: {},
    call_id: 0,
    call_facts: 0,
    usage_units: {},
    usage_conditions: {},
    answered_model: '',
    cost_source: '',
    computed_cost: null,
    unit_costs: {},
    ...fields,
  }
}

/** A TraceStore on a migrated database of its own. */
export interface TestTraceStore {
  readonly store: ReadStore
  readonly clickhouse: ClickHouse
  /** Inserts into table `runs`. */
  insert(rows: readonly TraceRunRow[]): Promise<void>
  list(workspace_id: string, query: ListQuery): Promise<TraceRunRow[]>
  /** Ids of the first 100 TraceRuns that the filter selects, oldest first. */
  idsOf(workspace_id: string, expression: string, more?: Partial<ListQuery>): Promise<string[]>
  stop(): Promise<void>
}

/** Creates a database in the shared engine. */
export async function startTestTraceStore(): Promise<TestTraceStore> {
  const { db, drop } = await migratedDatabase()
  const store = createTraceStore(db, STORED_COLUMNS)
  const list: TestTraceStore['list'] = async (workspace_id, query) => [
    ...TRACE_RUN_ROWS.readAll(await store.list(workspace_id, query)),
  ]
  return {
    store,
    clickhouse: db,
    list,
    async insert(rows) {
      const writer = new RowWriter()
      for (const row of rows) TRACE_RUN_ROWS.write(writer, row)
      await store.insert('runs', [writer.finish()])
    },
    async idsOf(workspace_id, expression, more = {}) {
      const filter = parseFilter(expression)
      const rows = await list(workspace_id, { filter, order: 'asc', limit: 100, ...more })
      return rows.map(({ run_id }) => run_id)
    },
    async stop() {
      await drop()
    },
  }
}

/** Gives the tests of a file one store, which `use` may fill, within `hookMs` milliseconds. */
export function useTraceStore(use: (store: TestTraceStore) => void | Promise<void>, hookMs?: number): void {
  let store: TestTraceStore | undefined
  beforeAll(async () => {
    store = await startTestTraceStore()
    await use(store)
  }, hookMs)
  afterAll(() => store?.stop())
}
