import { NIL_UUID } from '../../../base/ids.ts'
import type {
  DetailGrouping,
  UsageDetail,
  UsageDetailsSource,
  UsageSums,
} from '../../../usage/report/details-source.ts'
import type { ClickHouse } from '../connect.ts'
import { addsToSql, hasDoubles } from './counted-sql.ts'
import { MAX_ROWS, nearOf, scope, slices } from './details-scope.ts'
import { ESTIMATED_COLUMNS, USAGE_SUMS } from './sums-sql.ts'
import { PROVIDER } from '../provider-sql.ts'
import { UNITS } from '../../../trace/price/units.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NONE = `toUUID('${NIL_UUID}')`

/** SQL of `workspace_id` and `dimension_id` of UsageCount for each grouping. */
const GROUPS: Record<DetailGrouping, { workspace: string; dimension: string }> = {
  workspace: { workspace: 'workspace_id', dimension: 'workspace_id' },
  project: { workspace: 'workspace_id', dimension: 'project_id' },
  user: { workspace: NONE, dimension: 'user_id' },
  api_key: { workspace: NONE, dimension: 'api_key_id' },
  model: { workspace: NONE, dimension: NONE },
}

/** Clients name units freely; only those that can have a price are added up, so that their number is bounded. */
const KNOWN_UNITS = `mapFilter((k, v) -> k IN (${UNITS.map((unit) => `'${unit}'`).join(', ')}), usage_units)`

function detailsSql(group_by: DetailGrouping, doubles: boolean): string {
  const { workspace, dimension } = GROUPS[group_by]
  const byModel = group_by === 'model'
  return `SELECT
    intDiv(toUnixTimestamp64Micro(sort_time) - {origin:Int64} * 1000, {size:Int64} * 1000) AS slot,
    ${workspace} AS group_workspace,
    ${dimension} AS group_dimension,
    ${byModel ? PROVIDER : "''"} AS group_provider,
    ${byModel ? 'model' : "''"} AS group_model,
    countIf(is_call) AS llm_runs,
    countIf(counted AND is_unpriced) AS unpriced_runs,
    sumIf(all_tokens, counted AND is_unpriced) AS unpriced_tokens,
    sumMapIf(${KNOWN_UNITS}, counted) AS units,
    ${USAGE_SUMS}
  FROM (
    SELECT *, has(adds_to, 'usage') AS counted, has(adds_to, 'call') AS is_call, isNull(total_cost) AS is_unpriced,
      toFloat64(ifNull(input_tokens, 0)) + toFloat64(ifNull(output_tokens, 0)) AS all_tokens, ${ESTIMATED_COLUMNS}
    FROM (SELECT *, ${addsToSql(scope('near_start', 'near_end'), doubles)} AS adds_to
      FROM runs FINAL WHERE ${scope('start', 'end')}))
  WHERE counted OR is_call
  GROUP BY slot, group_workspace, group_dimension, group_provider, group_model`
}

interface DetailRow extends UsageSums {
  slot: number
  group_workspace: string
  group_dimension: string
  group_provider: string
  group_model: string
  llm_runs: number
  unpriced_runs: number
  unpriced_tokens: number
  units: Record<string, number>
}

function toDetail(row: DetailRow, bucket: number): UsageDetail {
  const { slot: _slot, group_workspace, group_dimension, group_provider, group_model, ...sums } = row
  return {
    bucket,
    workspace_id: group_workspace,
    dimension_id: group_dimension,
    provider: group_provider,
    model: group_model,
    ...sums,
  }
}

/** The exact sum of two decimals with at most 18 places. */
function sumOf(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  const units = (text: string): bigint => {
    const [whole = '', fraction = ''] = text.split('.')
    return BigInt(whole + fraction.padEnd(18, '0'))
  }
  const sum = units(a) + units(b)
  const digits = String(sum < 0n ? -sum : sum).padStart(19, '0')
  const text = `${digits.slice(0, -18)}.${digits.slice(-18)}`.replace(/\.?0+$/, '')
  return sum < 0n ? `-${text}` : text
}

function unitSums(known: UsageDetail['units'], more: UsageDetail['units']): UsageDetail['units'] {
  const sums = { ...known }
  for (const [unit, count] of Object.entries(more)) sums[unit] = (sums[unit] ?? 0) + count
  return sums
}

function merged(known: UsageDetail, more: UsageDetail): UsageDetail {
  return {
    ...known,
    llm_runs: known.llm_runs + more.llm_runs,
    unpriced_runs: known.unpriced_runs + more.unpriced_runs,
    unpriced_tokens: known.unpriced_tokens + more.unpriced_tokens,
    units: unitSums(known.units, more.units),
    prompt_tokens: known.prompt_tokens + more.prompt_tokens,
    completion_tokens: known.completion_tokens + more.completion_tokens,
    prompt_cost: sumOf(known.prompt_cost, more.prompt_cost),
    completion_cost: sumOf(known.completion_cost, more.completion_cost),
    total_cost: sumOf(known.total_cost, more.total_cost),
    estimated_prompt_tokens: known.estimated_prompt_tokens + more.estimated_prompt_tokens,
    estimated_completion_tokens: known.estimated_completion_tokens + more.estimated_completion_tokens,
    estimated_cost: sumOf(known.estimated_cost, more.estimated_cost),
  }
}

/**
 * Sums over the lean rows. A TraceRun counts at its time in lists: its start, or its receive time if the start is not
 * plausible. A TraceRun that repeats the usage of a descendant is left out, if the descendant started at most a week
 * later. If the range has more than `maxRows` rows, its pieces are added up one after the other.
 */
export function createUsageDetailsSource(clickhouse: ClickHouse, maxRows = MAX_ROWS): UsageDetailsSource {
  return {
    async details(query) {
      const { workspace_ids, origin, stride, group_by } = query
      const size = stride.days * DAY + stride.hours * HOUR
      const groups = new Map<string, UsageDetail>()
      const doubles = await hasDoubles(clickhouse, scope('near_start', 'near_end'), {
        params: { workspace_ids, ...nearOf(query) },
      })
      for (const { start, end } of await slices(clickhouse, query, maxRows)) {
        const near = nearOf({ start, end })
        const rows = await clickhouse.rows<DetailRow>(detailsSql(group_by, doubles), {
          params: { workspace_ids, start, end, ...near, origin, size },
        })
        for (const row of rows) {
          const { slot, group_workspace, group_dimension, group_provider, group_model } = row
          const key = JSON.stringify([slot, group_workspace, group_dimension, group_provider, group_model])
          const known = groups.get(key)
          const detail = toDetail(row, origin + slot * size)
          groups.set(key, known === undefined ? detail : merged(known, detail))
        }
      }
      return [...groups.values()]
    },
  }
}
