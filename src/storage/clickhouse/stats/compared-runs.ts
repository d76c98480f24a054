import type {
  ComparedField,
  ComparedQuery,
  ComparedRuns,
  ComparedValue,
  SelectedRuns,
  StatsStore,
} from '../../../ingest/store/stats-store.ts'
import type { ListQuery } from '../../../ingest/store/trace-store.ts'
import { VALUE_CLASSES } from '../../../trace/filter/value-classes.ts'
import type { ClickHouse } from '../connect.ts'
import { OWN_COUNTS } from '../filter-sql.ts'
import { KEY, listConditions } from '../list-sql.ts'
import { SEARCH_SETTINGS } from '../search/search-sql.ts'
import { pairsBelowSql } from './compared-below.ts'
import { edgeOf, VALUES } from './facets.ts'

/** Maximum number of different values that are counted. */
const MAX_VALUES = 300_000
/** Maximum length of a value in characters; longer ones are left out, and the first line of an error is cut. */
const MAX_LENGTH = 200
/** Number of values that are returned. */
const MOST = 200

/** SQL of the lower bound of the class that a number is in; '' for null. */
function classSql(number: string, bounds: readonly number[]): string {
  const largest = `arrayMax(arrayFilter(bound -> bound <= greatest(${number}, 0), [${bounds.join(', ')}]))`
  return `if(isNull(${number}), '', toString(assumeNotNull(${largest})))`
}

/** In milliseconds. */
const LATENCY = '((toUnixTimestamp64Micro(end_time) - toUnixTimestamp64Micro(start_time)) / 1000)'
const OWN_TOKENS = `if(${OWN_COUNTS}, ifNull(input_tokens, 0) + ifNull(output_tokens, 0), NULL)`

const FACETS = [
  'name',
  'run_type',
  'status',
  'model',
  'provider',
  'user',
  'tag',
  'issue',
  'metadata_key',
] as const

/** SQL of the text of each field, or of its list of texts. */
const COMPARED: Readonly<Partial<Record<ComparedField, { sql: string; isList?: true }>>> = {
  ...Object.fromEntries(FACETS.map((field) => [field, VALUES[field]])),
  error: { sql: `substringUTF8(splitByChar('\\n', error)[1], 1, ${MAX_LENGTH})` },
  thread: { sql: 'thread_id' },
  latency: { sql: classSql(LATENCY, VALUE_CLASSES.latency) },
  tokens: { sql: classSql(OWN_TOKENS, VALUE_CLASSES.tokens) },
}

/** SQL of all values of a TraceRun, as (field, key of the metadata, text). The first one, of no field, counts the TraceRun. */
const PAIRS = `arrayFilter(pair -> pair.1 = '' OR (pair.3 != '' AND lengthUTF8(pair.3) <= ${MAX_LENGTH}), arrayConcat(
  [('', '', '')],
  ${Object.entries(COMPARED)
    .map(
      ([field, { sql, isList }]) => `arrayMap(text -> ('${field}', '', text), ${isList ? sql : `[${sql}]`})`,
    )
    .join(',\n  ')},
  arrayMap((key, text) -> ('metadata_value', key, text), mapKeys(metadata), mapValues(metadata))))`

/** Counts the values of two sets of TraceRuns, in ClickHouse. */
export function comparingRuns(clickhouse: ClickHouse) {
  return {
    comparedRuns: (workspace_id: string, query: ComparedQuery) =>
      readCompared(clickhouse, workspace_id, query),
  } satisfies Partial<StatsStore>
}

interface Row extends Omit<ComparedValue, 'field'> {
  field: ComparedField | ''
  different: number
}

async function readCompared(
  clickhouse: ClickHouse,
  workspace_id: string,
  { selected, ...selection }: ComparedQuery,
): Promise<ComparedRuns> {
  const list: ListQuery = { ...selection, order: 'desc', limit: 1 }
  const [edge, selectedEdge] = await Promise.all([
    edgeOf(clickhouse, workspace_id, list),
    selected.run_ids === undefined ? edgeOf(clickhouse, workspace_id, within(list, selected)) : undefined,
  ])
  const { keys, rest, params } = listConditions(list)
  const chosen = selectedSql(selected)
  const where = [
    ...keys,
    ...rest,
    `(sort_time >= fromUnixTimestamp64Micro({edge:Int64})
      OR (${chosen} AND sort_time >= fromUnixTimestamp64Micro({selected_edge:Int64})))`,
  ].join(' AND ')
  const own = `SELECT arrayJoin(${PAIRS}) AS pair, ${chosen} AS is_selected FROM runs FINAL WHERE ${where}`
  const roots = `SELECT trace_id, ${chosen} AS is_selected FROM runs FINAL WHERE ${where}`
  const pairs = list.is_root === true ? `${own} UNION ALL ${pairsBelowSql(roots, MAX_LENGTH)}` : own
  const rows = await clickhouse.rows<Row>(
    `SELECT field, key, value, selected, rest, different FROM (
       SELECT pair.1 AS field, pair.2 AS key, pair.3 AS value,
         toUInt32(countIf(is_selected)) AS selected, toUInt32(countIf(NOT is_selected)) AS rest,
         toUInt32(count() OVER ()) AS different,
         max(selected) OVER () AS all_selected, max(rest) OVER () AS all_rest
       FROM (${pairs})
       GROUP BY pair)
     WHERE field = '' OR selected + rest > 1
     ORDER BY field = '' DESC, abs(selected / greatest(all_selected, 1) - rest / greatest(all_rest, 1)) DESC,
       field, key, value
     LIMIT ${MOST + 1}`,
    {
      params: {
        ...params,
        workspace_id,
        edge: edge ?? 0,
        selected_edge: selectedEdge ?? 0,
        selected_ids: selected.run_ids ?? [],
        selected_from: selected.start_time ?? 0,
        selected_to: selected.end_time ?? Number.MAX_SAFE_INTEGER,
      },
      settings: { ...SEARCH_SETTINGS, max_rows_to_group_by: MAX_VALUES, group_by_overflow_mode: 'any' },
    },
  )
  const different = rows[0]?.different ?? 0
  const all = rows.find(({ field }) => field === '')
  return {
    selected_count: all?.selected ?? 0,
    rest_count: all?.rest ?? 0,
    values: rows.flatMap(({ field, key, value, selected: inside, rest: outside }) =>
      field === '' ? [] : [{ field, key, value, selected: inside, rest: outside }],
    ),
    is_whole: edge === undefined && selectedEdge === undefined && different < MAX_VALUES,
  }
}

/** The list between the times of the selection. */
function within(
  list: ListQuery,
  { start_time = 0, end_time = Number.MAX_SAFE_INTEGER }: SelectedRuns,
): ListQuery {
  return {
    ...list,
    start_time: Math.max(start_time, list.start_time ?? 0),
    end_time: Math.min(end_time, list.end_time ?? Number.MAX_SAFE_INTEGER),
  }
}

/** SQL condition, on the sort key: the TraceRun is selected. */
function selectedSql({ run_ids }: SelectedRuns): string {
  const times = `sort_time >= fromUnixTimestamp64Micro({selected_from:Int64})
    AND sort_time < fromUnixTimestamp64Micro({selected_to:Int64})`
  if (run_ids === undefined) return `(${times})`
  return `(${times} AND (${KEY}) IN (SELECT ${KEY} FROM run_places FINAL
    WHERE workspace_id = {workspace_id:UUID} AND run_id IN {selected_ids:Array(UUID)}))`
}
