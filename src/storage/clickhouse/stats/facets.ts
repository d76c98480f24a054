import { NIL_UUID } from '../../../base/ids.ts'
import type { FacetField, FacetQuery, Facets, StatsStore } from '../../../ingest/store/stats-store.ts'
import type { ListQuery } from '../../../ingest/store/trace-store.ts'
import type { ClickHouse } from '../connect.ts'
import { listConditions, timeAtSql } from '../list-sql.ts'
import { PROVIDER } from '../provider-sql.ts'
import { SEARCH_SETTINGS } from '../search/search-sql.ts'

/** Maximum number of TraceRuns that are read for one response, newest first. */
const MAX_RUNS = 200_000
/** Maximum number of different values that are counted. The longest values then take about 60 MB. */
const MAX_VALUES = 100_000

const known = (id: string): string => `if(${id} = toUUID('${NIL_UUID}'), '', toString(${id}))`

/** SQL of a TraceRun's value of each field: a text, empty for no value. With `isList`, a list of texts. */
export const VALUES: Readonly<Record<FacetField, { sql: string; isList?: true }>> = {
  name: { sql: 'name' },
  run_type: { sql: 'toString(run_type)' },
  status: { sql: 'toString(status)' },
  model: { sql: 'toString(model)' },
  provider: { sql: PROVIDER },
  tag: { sql: 'arrayDistinct(tags)', isList: true },
  issue: { sql: 'arrayDistinct(issues)', isList: true },
  metadata_key: { sql: 'mapKeys(metadata)', isList: true },
  metadata_value: { sql: 'metadata[{facet_key:String}]' },
  input_source: { sql: 'toString(input_source)' },
  output_source: { sql: 'toString(output_source)' },
  price_model_id: { sql: 'toString(price_model_id)' },
  user: { sql: known('user_id') },
  api_key: { sql: known('api_key_id') },
}

/** Lists values of fields, computed in ClickHouse. */
export function readingFacets(clickhouse: ClickHouse) {
  return {
    runFacets: (workspace_id: string, query: FacetQuery) => readFacets(clickhouse, workspace_id, query),
  } satisfies Partial<StatsStore>
}

async function readFacets(
  clickhouse: ClickHouse,
  workspace_id: string,
  { field, key = '', prefix = '', max_values, ...selection }: FacetQuery,
): Promise<Facets> {
  const list: ListQuery = { ...selection, order: 'desc', limit: 1 }
  const edge = await edgeOf(clickhouse, workspace_id, list)
  const { keys, rest, params } = listConditions(edge === undefined ? list : { ...list, start_time: edge })
  const { sql, isList } = VALUES[field]
  const rows = await clickhouse.rows<{ value: string; found: number; different: number }>(
    `SELECT value, toUInt32(count()) AS found, toUInt32(count() OVER ()) AS different
     FROM (SELECT ${isList ? `arrayJoin(${sql})` : sql} AS value FROM runs FINAL
           WHERE ${[...keys, ...rest].join(' AND ')})
     WHERE value != '' AND startsWith(lowerUTF8(value), lowerUTF8({facet_prefix:String}))
     GROUP BY value ORDER BY found DESC, value LIMIT ${max_values}`,
    {
      params: { ...params, workspace_id, facet_key: key, facet_prefix: prefix },
      settings: { ...SEARCH_SETTINGS, max_rows_to_group_by: MAX_VALUES, group_by_overflow_mode: 'any' },
    },
  )
  const different = rows[0]?.different ?? 0
  return {
    values: rows.map(({ value, found }) => ({ value, count: found })),
    has_more: different > rows.length,
    is_whole: edge === undefined && different < MAX_VALUES,
  }
}

/** The start of the last TraceRun to read; undefined if all are read. */
export async function edgeOf(
  clickhouse: ClickHouse,
  workspace_id: string,
  list: ListQuery,
): Promise<number | undefined> {
  const { sql, params } = timeAtSql(list, MAX_RUNS)
  const [row] = await clickhouse.rows<{ at: number }>(sql, { params: { workspace_id, ...params } })
  return row?.at
}
