import type { ListQuery, PayloadQuery, StoredTable, TraceStore } from '../../ingest/trace-store.ts'
import type { JsonObject } from '../../schema/json.ts'
import type { ClickHouse } from './connect.ts'
import { listSql } from './list-sql.ts'
import { readingProjects } from './project-stats.ts'

/** Column order of each table's encoding; the rooms that encode own it. */
export interface StoreColumns {
  run_fragments: readonly string[]
  outlines: readonly string[]
  payloads: readonly string[]
  runs: readonly string[]
  feedback: readonly string[]
  waiting_children: readonly string[]
  roll_up: readonly string[]
}

/** Rows that one roll-up reads at most; contract §1.8 allows 25,000 a trace. */
const MAX_ROLL_UP_ROWS = 200_000

/** Where the rows of some traces are: found by trace, as tuples of the sort key. */
const PLACES_OF_TRACES = `(project_id, sort_time, run_id) IN (
  SELECT project_id, sort_time, run_id FROM trace_runs FINAL
  WHERE workspace_id = {workspace_id:UUID} AND trace_id IN {traces:Array(UUID)})`

/** The TraceRun that the dotted_order of a row begins with: after a time of 22 characters. */
const FIRST_OF_ORDER = 'toUUIDOrZero(substring(dotted_order, 23, 36))'

/** The TraceStore over a ClickHouse whose schema is migrated. */
export function createTraceStore(clickhouse: ClickHouse, columns: StoreColumns): TraceStore {
  return {
    ...storing(clickhouse, columns),
    ...readingBack(clickhouse, columns),
    ...readingWaiting(clickhouse),
    ...readingRows(clickhouse, columns),
    ...readingOthers(clickhouse),
    ...readingProjects(clickhouse),
  }
}

function selectOf(columns: StoreColumns) {
  return (table: keyof StoreColumns) => `SELECT ${columns[table].join(', ')} FROM`
}

/** Clients choose start times, and so how many monthly partitions a batch has: a refused one would block the log. */
const ANY_MONTHS = { max_partitions_per_insert_block: 0 }

/** Writing, and whether it can be done. */
function storing(clickhouse: ClickHouse, columns: StoreColumns) {
  return {
    insert: (table: StoredTable, body: readonly Uint8Array[], signal?: AbortSignal) =>
      clickhouse.insert({
        table,
        columns: columns[table],
        body,
        settings: ANY_MONTHS,
        ...(signal ? { signal } : {}),
      }),

    ping: async () => {
      await clickhouse.rows('SELECT 1 AS one')
    },
  } satisfies Partial<TraceStore>
}

/** Lists of ids are parameters: 256 KB each (max_query_size) at 41 bytes an id, and 1 MB of URL together. */
const IDS_PER_QUERY = 4_000

function slices(ids: readonly string[]): (readonly string[])[] {
  const count = Math.ceil(ids.length / IDS_PER_QUERY)
  return Array.from({ length: count }, (_, i) => ids.slice(i * IDS_PER_QUERY, (i + 1) * IDS_PER_QUERY))
}

/** A head has some hundred bytes; a larger one than this is read back with the payloads, which are bounded. */
const MAX_OUTLINE_HEAD = 1024 * 1024

/** Fragments that are read without looking at their sizes first: how large, and how many. */
const SMALL_FRAGMENT = 64 * 1024
const SMALL_FRAGMENTS = 64

/** Columns that tell to which fragment a payload belongs. */
const PAYLOAD_KEY = ['workspace_id', 'run_id', 'hash']

/** What deriving needs of earlier operations. */
function readingBack(clickhouse: ClickHouse, columns: StoreColumns) {
  const outline = columns.outlines.map((name) =>
    name === 'head' ? `if(length(head) > ${MAX_OUTLINE_HEAD}, '', head)` : name,
  )
  return {
    outlines: async (workspace_id: string, run_ids: readonly string[]) => {
      const found: Buffer[] = []
      for (const ids of slices(run_ids)) {
        found.push(
          await clickhouse.rowBinary(
            `SELECT ${outline.join(', ')} FROM run_fragments
             WHERE workspace_id = {workspace_id:UUID} AND run_id IN {run_ids:Array(UUID)}`,
            { params: { workspace_id, run_ids: ids } },
          ),
        )
      }
      return found.length === 1 && found[0] ? found[0] : Buffer.concat(found)
    },

    payloads: (workspace_id: string, { run_ids, hashes, columns: wanted }: PayloadQuery) => {
      const selected = columns.payloads.map((name) =>
        PAYLOAD_KEY.includes(name) || wanted.includes(name) ? name : "''",
      )
      // The keys are read first, so that only granules with wanted fragments are read at all.
      return clickhouse.rowBinary(
        `SELECT ${selected.join(', ')} FROM run_fragments
         PREWHERE workspace_id = {workspace_id:UUID} AND run_id IN {run_ids:Array(UUID)}
           AND hex(hash) IN {hashes:Array(String)}
         LIMIT 1 BY run_id, hash`,
        { params: { workspace_id, run_ids, hashes: hashes.map((hash) => hash.toUpperCase()) } },
      )
    },

    smallPayloads: (workspace_id: string, run_id: string) =>
      clickhouse.rowBinary(
        `SELECT ${columns.payloads.join(', ')} FROM run_fragments
         PREWHERE workspace_id = {workspace_id:UUID} AND run_id = {run_id:UUID}
           AND arraySum(sizes) <= ${SMALL_FRAGMENT}
         LIMIT ${SMALL_FRAGMENTS}`,
        { params: { workspace_id, run_id } },
      ),
  } satisfies Partial<TraceStore>
}

/** TraceRuns whose places rest on others. */
function readingWaiting(clickhouse: ClickHouse) {
  return {
    hasWaitingChildren: async () => {
      const rows = await clickhouse.rows('SELECT 1 FROM waiting_children FINAL WHERE resolved = 0 LIMIT 1')
      return rows.length > 0
    },

    waitingChildren: async (workspace_id: string, parents: readonly string[]) => {
      const found: { parent_run_id: string; run_id: string }[] = []
      for (const ids of slices(parents)) {
        const rows = await clickhouse.rows<{ parent_run_id: string; run_id: string }>(
          `SELECT parent_run_id, run_id FROM waiting_children FINAL
           WHERE workspace_id = {workspace_id:UUID} AND parent_run_id IN {parents:Array(UUID)} AND resolved = 0`,
          { params: { workspace_id, parents: ids } },
        )
        found.push(...rows)
      }
      return found
    },

    belowRoots: async (workspace_id: string, traces: readonly string[]) => {
      const found: string[] = []
      for (const ids of slices(traces)) {
        const rows = await clickhouse.rows<{ run_id: string }>(
          `SELECT run_id FROM runs FINAL
           WHERE workspace_id = {workspace_id:UUID} AND ${PLACES_OF_TRACES}
             AND trace_id IN {traces:Array(UUID)} AND run_id != trace_id AND ${FIRST_OF_ORDER} = trace_id
           LIMIT ${MAX_ROLL_UP_ROWS}`,
          { params: { workspace_id, traces: ids } },
        )
        for (const { run_id } of rows) found.push(run_id)
      }
      return found
    },
  } satisfies Partial<TraceStore>
}

/** Lean rows. */
function readingRows(clickhouse: ClickHouse, columns: StoreColumns) {
  const select = selectOf(columns)
  return {
    row: (workspace_id: string, run_id: string) =>
      clickhouse.rowBinary(
        `${select('runs')} runs FINAL
         WHERE workspace_id = {workspace_id:UUID} AND (project_id, sort_time, run_id) IN (
           SELECT project_id, sort_time, run_id FROM run_places FINAL
           WHERE workspace_id = {workspace_id:UUID} AND run_id = {run_id:UUID})`,
        { params: { workspace_id, run_id } },
      ),

    traceRows: (workspace_id: string, trace_id: string, after: string, limit: number) =>
      clickhouse.rowBinary(
        `${select('runs')} runs FINAL
         WHERE workspace_id = {workspace_id:UUID} AND ${PLACES_OF_TRACES}
           AND trace_id = {trace_id:UUID} AND dotted_order > {after:String}
         ORDER BY dotted_order, run_id LIMIT {limit:UInt32}`,
        { params: { workspace_id, trace_id, traces: [trace_id], after, limit } },
      ),

    rollUpRows: (workspace_id: string, traces: readonly string[]) =>
      clickhouse.rowBinary(
        `${select('roll_up')} runs FINAL
         WHERE workspace_id = {workspace_id:UUID} AND ${PLACES_OF_TRACES} AND trace_id IN {traces:Array(UUID)}
         LIMIT ${MAX_ROLL_UP_ROWS}`,
        { params: { workspace_id, traces } },
      ),

    list: (workspace_id: string, query: ListQuery) => {
      const { sql, params } = listSql(columns.runs.join(', '), query)
      return clickhouse.rowBinary(sql, { params: { workspace_id, ...params } })
    },
  } satisfies Partial<TraceStore>
}

/** What stands beside TraceRuns. */
function readingOthers(clickhouse: ClickHouse) {
  return {
    feedback: async (workspace_id: string, run_ids: readonly string[]) => {
      const rows = await clickhouse.rows<{ body: string }>(
        `SELECT body FROM feedback FINAL
         WHERE workspace_id = {workspace_id:UUID} AND run_id IN {run_ids:Array(UUID)}
         ORDER BY received_at DESC, feedback_id LIMIT 1000`,
        { params: { workspace_id, run_ids } },
      )
      return rows.map((row) => JSON.parse(row.body) as JsonObject)
    },
  } satisfies Partial<TraceStore>
}
