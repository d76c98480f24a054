import type { Summed, UsageRun, UsageRunSource, UsageRunsQuery } from '../../../usage/report/runs.ts'
import type { ClickHouse } from '../connect.ts'
import { PROVIDER } from '../provider-sql.ts'
import { countedSql, hasDoubles } from './counted-sql.ts'
import { MAX_ROWS, nearOf, scope, slices } from './details-scope.ts'
import { ESTIMATED_COLUMNS } from './sums-sql.ts'

/** For each sum of the usage report, the SQL condition on the rows that add to it. */
const OF: Record<Summed, string> = {
  tokens: '(isNotNull(input_tokens) OR isNotNull(output_tokens))',
  cost: 'isNotNull(total_cost)',
  unpriced: 'isNull(total_cost)',
}

/** The groupings of a list, each with its SQL expression and type. */
const GROUPS = {
  project_id: ['project_id', 'UUID'],
  user_id: ['user_id', 'UUID'],
  api_key_id: ['api_key_id', 'UUID'],
  provider: [PROVIDER, 'String'],
} as const

const ID_NAMES = ['project_id', 'user_id', 'api_key_id'] as const
const NAMES = [...ID_NAMES, 'provider'] as const

const IDS = ['workspace_id', 'project_id', 'run_id'].map((id) => `toString(${id})`).join(', ')
const MICROS = 'toUnixTimestamp64Micro(sort_time)'

/** SQL condition that leaves out the rows of excluded groups. */
function notExcludedSql({ excluded }: UsageRunsQuery): string {
  const ids = ID_NAMES.filter((name) => excluded[name].length > 0).map(
    (name) => `AND ${name} NOT IN {excluded_${name}:Array(UUID)}`,
  )
  if (excluded.models.length === 0) return ids.join(' ')
  const isThis = `(one, other) -> one = ${PROVIDER} AND other = model`
  return `${ids.join(' ')} AND NOT arrayExists(${isThis},
    {excluded_providers:Array(String)}, {excluded_models:Array(String)})`
}

function listSql(query: UsageRunsQuery, doubles: boolean): string {
  const near = scope('near_start', 'near_end')
  const groups = NAMES.filter((name) => query[name] !== undefined).map((name) => {
    const [column, type] = GROUPS[name]
    return `AND ${column} = {${name}:${type}}`
  })
  if (query.models !== undefined) groups.push('AND model IN {models:Array(String)}')
  const after =
    query.after === undefined
      ? ''
      : `AND (${MICROS} < {after_time:Int64} OR (${MICROS} = {after_time:Int64}
          AND (${IDS}) > ({after_workspace:String}, {after_project:String}, {after_run:String})))`
  // The aliases differ from the names of the table's columns. Otherwise the conditions would use the aliases instead of
  // the columns.
  return `SELECT workspace_id, project_id, user_id, api_key_id, trace_id, run_id, name, run_type, model,
      ${PROVIDER} AS shown_provider, ${MICROS} AS micros, input_tokens AS prompt_tokens,
      output_tokens AS completion_tokens, toString(total_cost) AS cost, toString(estimated_part) AS estimated
    FROM (SELECT *, ${ESTIMATED_COLUMNS} FROM runs FINAL
      WHERE ${scope('start', 'end')} AND ${OF[query.of]} AND ${countedSql(near, { doubles, nested: true })}
        ${groups.join(' ')} ${notExcludedSql(query)} ${after})
    ORDER BY micros DESC, ${IDS} LIMIT {limit:UInt32}`
}

interface Row extends Omit<UsageRun, 'provider' | 'time' | 'total_cost' | 'estimated_cost'> {
  shown_provider: string
  micros: number
  cost: string | null
  estimated: string | null
}

function toRun({ shown_provider, micros, cost, estimated, ...row }: Row): UsageRun {
  return { ...row, provider: shown_provider, time: micros, total_cost: cost, estimated_cost: estimated }
}

function paramsOf({ workspace_ids, after, excluded, ...query }: UsageRunsQuery) {
  const groups = NAMES.flatMap((name) => {
    const value = query[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    workspace_ids,
    ...Object.fromEntries(groups),
    ...(query.models !== undefined && { models: query.models }),
    ...Object.fromEntries(ID_NAMES.map((name) => [`excluded_${name}`, excluded[name]])),
    excluded_providers: excluded.models.map(({ provider }) => provider),
    excluded_models: excluded.models.map(({ model }) => model),
    ...(after !== undefined && {
      after_time: after.time,
      after_workspace: after.workspace_id,
      after_project: after.project_id,
      after_run: after.run_id,
    }),
  }
}

/**
 * Lists the lean rows that `createUsageDetailsSource` adds up. If the range has more than `maxRows` rows, its pieces
 * are read one after the other, the newest first, until the page is full.
 */
export function createUsageRunSource(clickhouse: ClickHouse, maxRows = MAX_ROWS): UsageRunSource {
  return {
    async list(query) {
      const { workspace_ids, start, after, limit } = query
      const end = after === undefined ? query.end : Math.min(query.end, Math.floor(after.time / 1000) + 1)
      const span = { workspace_ids, start, end }
      const params = paramsOf(query)
      const doubles = await hasDoubles(clickhouse, scope('near_start', 'near_end'), {
        params: { workspace_ids, ...nearOf(span) },
      })
      const found: UsageRun[] = []
      for (const piece of (await slices(clickhouse, span, maxRows)).reverse()) {
        if (found.length >= limit) break
        const rows = await clickhouse.rows<Row>(listSql(query, doubles), {
          params: { ...params, ...piece, ...nearOf(piece), limit: limit - found.length },
        })
        found.push(...rows.map(toRun))
      }
      return found
    },
  }
}
