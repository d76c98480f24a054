import type {
  FeedbackPlace,
  FeedbackQuery,
  ListQuery,
  PayloadQuery,
  RowPlace,
  StoredTable,
  TraceStore,
} from '../../ingest/store/trace-store.ts'
import { REQUEST } from '../../trace/derive/same-call.ts'
import { byStoredId, type KeepDays, withKeepDays } from '../../trace/rows/kept-fragments.ts'
import { TRACE_RUN_ROWS, type TraceRunRow } from '../../trace/rows/trace-run-row.ts'
import type { ReadStore } from '../../ingest/store/stats-store.ts'
import type { ClickHouse, InsertBytes } from './connect.ts'
import { listFeedback } from './stats/feedback-list.ts'
import type { SearchMode, SqlCondition } from './filter-sql.ts'
import { fragmentsSql } from './fragments/fragments-sql.ts'
import { idSlices } from './id-slices.ts'
import { fewSql, listSql, timeAtSql } from './list-sql.ts'
import { orderedPlacesSql, rowsOfPlacesSql, type RunPlace } from './trace/ordered-list.ts'
import { readGlimpses } from './trace/glimpses.ts'
import { readingOutlines } from './trace/outline.ts'
import { FIRST_OF_ORDER, PLACES_AND_KNOWN, PLACES_OF_TRACES } from './trace/scope.ts'
import { readingProjects } from './project-stats.ts'
import { BUILT_LATER } from './search/index-words.ts'
import { isSearch, searchByWords, searchInSteps, type SearchSteps } from './search/search-steps.ts'
import { wordStatements } from './search/word-statements.ts'
import { SEARCH_SETTINGS } from './search/search-sql.ts'
import { comparingRuns } from './stats/compared-runs.ts'
import { readingFacets } from './stats/facets.ts'
import { readingFeedbackStats } from './stats/feedback-stats.ts'
import { readingStats } from './stats/run-stats.ts'
import { readingThreadFigures, readingThreadRows } from './threads/thread-figures.ts'
import { readingThreads } from './threads/thread-lists.ts'

/** The columns of each table in the order of their encoding. The modules that encode rows define them. */
export interface StoreColumns {
  fragments: readonly string[]
  outlines: readonly string[]
  payloads: readonly string[]
  runs: readonly string[]
  feedback: readonly string[]
  waiting_children: readonly string[]
  roll_up: readonly string[]
  trace_outline: readonly string[]
}

/** Maximum number of rows that one roll-up reads; LangSmith's API allows 25,000 for a trace. */
const MAX_ROLL_UP_ROWS = 200_000

/**
 * The ReadStore over a ClickHouse whose schema is migrated. `keepDays` returns the retention of projects, by which
 * fragments are filed (docs/adr/0099); default: all are kept for ever.
 */
export function createTraceStore(
  clickhouse: ClickHouse,
  columns: StoreColumns,
  keepDays: () => Promise<KeepDays> = async () => new Map(),
): ReadStore {
  return {
    ...storing(clickhouse, columns, keepDays),
    ...readingBack(clickhouse, columns),
    ...readingWaiting(clickhouse),
    ...readingRows(clickhouse, columns),
    ...readingOthers(clickhouse, columns),
    ...readingOutlines(clickhouse, columns.trace_outline),
    ...readingProjects(clickhouse),
    ...readingStats(clickhouse),
    ...readingFacets(clickhouse),
    ...comparingRuns(clickhouse),
    ...readingFeedbackStats(clickhouse),
    ...readingThreads(clickhouse),
    ...readingThreadFigures(clickhouse),
    ...readingThreadRows(clickhouse),
  }
}

function selectOf(columns: StoreColumns) {
  return (table: keyof StoreColumns) => `SELECT ${columns[table].join(', ')} FROM`
}

/**
 * An insert may have rows of any number of months. Clients choose start times, and a refused batch would block the
 * ingest log.
 */
const ANY_MONTHS = { max_partitions_per_insert_block: 0 }
const INSERT_SETTINGS = { ...ANY_MONTHS, exclude_materialize_skip_indexes_on_insert: BUILT_LATER }

/** The writes, and the check whether writing is possible. */
function storing(clickhouse: ClickHouse, columns: StoreColumns, keepDays: () => Promise<KeepDays>) {
  const rowsOf = async (
    table: StoredTable,
    body: readonly Uint8Array[],
  ): Promise<Pick<InsertBytes, 'table' | 'columns' | 'body'>> => {
    const days = table === 'fragments' ? byStoredId(await keepDays()) : undefined
    if (days === undefined || days.size === 0) return { table, columns: columns[table], body }
    return {
      table,
      columns: [...columns[table], 'keep_days'],
      body: body.map((rows) => withKeepDays(rows, days)),
    }
  }
  return {
    insert: async (table: StoredTable, body: readonly Uint8Array[], signal?: AbortSignal) =>
      clickhouse.insert({
        ...(await rowsOf(table, body)),
        settings: INSERT_SETTINGS,
        ...(signal ? { signal } : {}),
      }),
  } satisfies Partial<TraceStore>
}

/**
 * A head above this size is read together with the payloads, for which a memory limit applies. Heads usually have some
 * hundred bytes.
 */
const MAX_OUTLINE_HEAD = 1024 * 1024

/** Maximum size and number of fragments that are read whole, without reading their sizes first. */
const SMALL_FRAGMENT = 64 * 1024
const SMALL_FRAGMENTS = 64

/** Columns that identify the fragment of a payload. */
const PAYLOAD_KEY = ['workspace_id', 'run_id', 'hash']

/** Reads of stored fragments, from which rows of TraceRuns are derived again. */
function readingBack(clickhouse: ClickHouse, columns: StoreColumns) {
  const outline = columns.outlines.map((name) =>
    name === 'head' ? `if(length(head) > ${MAX_OUTLINE_HEAD}, '', head)` : name,
  )
  return {
    outlines: async (workspace_id: string, run_ids: readonly string[]) => {
      const found: Buffer[] = []
      for (const ids of idSlices(run_ids)) {
        found.push(
          await clickhouse.rowBinary(
            fragmentsSql({ columns: outline.join(', '), ofRuns: 'run_id IN {run_ids:Array(UUID)}' }),
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
      return clickhouse.rowBinary(
        fragmentsSql({
          columns: selected.join(', '),
          ofRuns: 'run_id IN {run_ids:Array(UUID)}',
          where: ['hex(hash) IN {hashes:Array(String)}'],
          end: 'LIMIT 1 BY run_id, hash',
        }),
        { params: { workspace_id, run_ids, hashes: hashes.map((hash) => hash.toUpperCase()) } },
      )
    },

    smallPayloads: (workspace_id: string, run_id: string) =>
      clickhouse.rowBinary(
        fragmentsSql({
          columns: columns.payloads.join(', '),
          ofRuns: 'run_id = {run_id:UUID}',
          where: [`arraySum(sizes) <= ${SMALL_FRAGMENT}`],
          end: `LIMIT ${SMALL_FRAGMENTS}`,
        }),
        { params: { workspace_id, run_id } },
      ),
  } satisfies Partial<TraceStore>
}

/** Reads of TraceRuns that wait for their parent, which determines their position. */
function readingWaiting(clickhouse: ClickHouse) {
  return {
    hasWaitingChildren: async () => {
      const rows = await clickhouse.rows('SELECT 1 FROM waiting_children FINAL WHERE resolved = 0 LIMIT 1')
      return rows.length > 0
    },

    waitingChildren: async (workspace_id: string, parents: readonly string[]) => {
      const found: { parent_run_id: string; run_id: string }[] = []
      for (const ids of idSlices(parents)) {
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
      for (const ids of idSlices(traces)) {
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

/** Reads of lean rows, which have no payloads. */
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

    rollUpRows: (workspace_id: string, traces: readonly string[], known: readonly RowPlace[]) =>
      clickhouse.rowBinary(
        `${select('roll_up')} runs FINAL
         WHERE workspace_id = {workspace_id:UUID} AND ${PLACES_AND_KNOWN} AND trace_id IN {traces:Array(UUID)}
         LIMIT ${MAX_ROLL_UP_ROWS}`,
        {
          params: {
            workspace_id,
            traces,
            projects: known.map(({ project_id }) => project_id),
            times: known.map(({ sort_time }) => sort_time),
            run_ids: known.map(({ run_id }) => run_id),
          },
        },
      ),

    traceGlimpses: (workspace_id: string, traces: readonly string[]) =>
      readGlimpses(clickhouse, workspace_id, traces),

    tracesWithDoubles: async (
      workspace_id: string,
      traces: readonly string[],
      call_ids: readonly number[],
    ) => {
      const rows = await clickhouse.rows<{ trace_id: string }>(
        `SELECT DISTINCT trace_id FROM (
           SELECT trace_id, call_id FROM runs FINAL
           WHERE workspace_id = {workspace_id:UUID} AND ${PLACES_OF_TRACES} AND trace_id IN {traces:Array(UUID)}
             AND (call_id = ${REQUEST} OR call_id IN {call_ids:Array(UInt64)})
           GROUP BY trace_id, call_id HAVING call_id = ${REQUEST} OR count() > 1)`,
        { params: { workspace_id, traces, call_ids } },
      )
      return rows.map(({ trace_id }) => trace_id)
    },

    list: (workspace_id: string, query: ListQuery, wanted: readonly string[] = columns.runs) =>
      readList(clickhouse, columns.runs, { workspace_id, query, wanted }),
  } satisfies Partial<TraceStore>
}

interface ListRead {
  workspace_id: string
  query: ListQuery
  /** Columns of the result. */
  wanted: readonly string[]
}

async function readList(clickhouse: ClickHouse, columns: readonly string[], read: ListRead): Promise<Buffer> {
  const { workspace_id, query, wanted } = read
  if (query.order_by !== undefined) return readOrdered(clickhouse, read, query.order_by)
  if (isSearch(query)) return readSearch(clickhouse, columns, read)
  const few = fewSql(query, MAX_FEW + 1)
  const [found] =
    few === undefined
      ? []
      : await clickhouse.rows<{ count: number }>(few.sql, { params: { workspace_id, ...few.params } })
  if (found?.count === 0) return Buffer.alloc(0)
  const isFew = found !== undefined && found.count <= MAX_FEW
  const { sql, params } = listSql(columns, query, { wanted, isFew })
  return clickhouse.rowBinary(sql, { params: { workspace_id, ...params } })
}

/**
 * Maximum number of rows that the indexes find, outdated ones included, for a list that reads only them. For more, the
 * list reads rows in its order until the page is full.
 */
const MAX_FEW = 100

/** A page of a list that is ordered by a value, such as the latency. */
async function readOrdered(
  clickhouse: ClickHouse,
  { workspace_id, query, wanted }: ListRead,
  order_by: NonNullable<ListQuery['order_by']>,
): Promise<Buffer> {
  const settings = isSearch(query) ? SEARCH_SETTINGS : {}
  const found = orderedPlacesSql(query, order_by)
  const asked = { params: { workspace_id, ...found.params }, settings }
  const places = await clickhouse.rows<RunPlace>(found.sql, asked)
  if (places.length === 0) return Buffer.alloc(0)
  const { sql, params } = rowsOfPlacesSql(places, wanted)
  return clickhouse.rowBinary(sql, { params: { workspace_id, ...params } })
}

/** Words are rare if at most this number of fragments contain them. A search then reads all these fragments. */
const RARE_FRAGMENTS = 10_000

/** A page of a list with a search. */
async function readSearch(
  clickhouse: ClickHouse,
  columns: readonly string[],
  { workspace_id, query, wanted }: ListRead,
): Promise<Buffer> {
  const settings = SEARCH_SETTINGS
  const rowsOf = <R>({ sql, params }: SqlCondition): Promise<R[]> =>
    clickhouse.rows<R>(sql, { params: { workspace_id, ...params }, settings })
  const steps = (search: SearchMode): SearchSteps => ({
    async page(step) {
      const { sql, params } = listSql(columns, step, { wanted, search })
      const rows = await clickhouse.rowBinary(sql, { params: { workspace_id, ...params }, settings })
      const count = [...TRACE_RUN_ROWS.read(rows, wanted as readonly (keyof TraceRunRow)[])].length
      return { rows, count }
    },
    timeAt: async (step, offset) => (await rowsOf<{ at: number }>(timeAtSql(step, offset)))[0]?.at,
  })
  const words = wordStatements(columns, query)
  if (words === undefined) return searchInSteps(query, steps('look-up'))
  return searchByWords(query, {
    ...steps('read'),
    async isRare() {
      const [found] = await rowsOf<{ count: number }>(words.fragments(RARE_FRAGMENTS + 1))
      return found!.count <= RARE_FRAGMENTS
    },
    places: (list, few) => rowsOf(words.places(list, few)),
  })
}

/** Reads and deletion of records other than TraceRuns. */
function readingOthers(clickhouse: ClickHouse, columns: StoreColumns) {
  return {
    feedbackPlaces: (workspace_id: string, wanted: FeedbackQuery, fields: readonly string[]) =>
      listFeedback(clickhouse, workspace_id, wanted, fields),
    feedbackBodies: (workspace_id: string, places: readonly FeedbackPlace[]) =>
      clickhouse.rowBinary(
        `SELECT concat(toString(run_id), '/', toString(feedback_id)), body FROM feedback FINAL
         WHERE workspace_id = {workspace_id:UUID} AND run_id IN {run_ids:Array(UUID)}
           AND feedback_id IN {ids:Array(UUID)}`,
        {
          params: {
            workspace_id,
            run_ids: [...new Set(places.map(({ run_id }) => run_id))],
            ids: places.map(({ feedback_id }) => feedback_id),
          },
        },
      ),
    // A record that was sent again with another run_id has several rows.
    feedbackRecord: (workspace_id: string, feedback_id: string) =>
      clickhouse.rowBinary(
        `${selectOf(columns)('feedback')} feedback FINAL
         WHERE workspace_id = {workspace_id:UUID} AND feedback_id = {feedback_id:UUID}
         ORDER BY received_at DESC LIMIT 1`,
        { params: { workspace_id, feedback_id } },
      ),
    deleteFeedback: (workspace_id: string, feedback_id: string) =>
      clickhouse.command(
        'DELETE FROM feedback WHERE workspace_id = {workspace_id:UUID} AND feedback_id = {feedback_id:UUID}',
        { params: { workspace_id, feedback_id } },
      ),
  } satisfies Partial<TraceStore>
}
