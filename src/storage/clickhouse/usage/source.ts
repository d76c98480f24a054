import { chunksOf } from '../../../base/chunks.ts'
import { NIL_UUID } from '../../../base/ids.ts'
import type { RollupUnit } from '../../../usage/counting/rollups.ts'
import type { Grouping, UsageCount, UsageQuery, UsageCounts } from '../../../usage/report/source.ts'
import type { ClickHouse } from '../connect.ts'
import { idSlices } from '../id-slices.ts'
import { COMPLETE } from './rollups.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * Counts traces from complete rollups. For hours that have changed recently, and for the parts of hours at both ends of
 * the range, the rows of `usage_traces` are counted (D-31).
 */
export function createUsageSource(clickhouse: ClickHouse): UsageCounts {
  return {
    async count(query) {
      if (query.end <= query.start) return []
      const counting = new Counting(clickhouse, query)
      for (const workspaces of idSlices(query.workspace_ids)) await counting.add(workspaces)
      return counting.counts()
    },
  }
}

/** A day or hour of a workspace whose rollup is incomplete. */
interface Loose {
  workspace_id: string
  bucket: number
}

interface Row extends UsageCount {
  is_complete: number
}

/**
 * The counts of one query. Each statement returns both the counts of complete rollups and the list of incomplete ones.
 * So each hour is counted once, even if a mark is written between two statements.
 */
class Counting {
  readonly #clickhouse: ClickHouse
  readonly #query: UsageQuery
  readonly #bounds: Readonly<Record<string, number>>
  readonly #sums = new Map<string, UsageCount>()

  constructor(clickhouse: ClickHouse, query: UsageQuery) {
    this.#clickhouse = clickhouse
    this.#query = query
    this.#bounds = boundsOf(query)
  }

  async add(workspaces: readonly string[]): Promise<void> {
    await Promise.all([this.#wholeHours(workspaces), this.#ends(workspaces)])
  }

  /** The counts, sorted by bucket, workspace and dimension. */
  counts(): UsageCount[] {
    return [...this.#sums.values()].sort(
      (a, b) =>
        a.bucket - b.bucket ||
        compare(a.workspace_id, b.workspace_id) ||
        compare(a.dimension_id, b.dimension_id),
    )
  }

  async #wholeHours(workspaces: readonly string[]): Promise<void> {
    const { hour_from, hour_to, day_from, day_to } = this.#bounds as Bounds
    const days = day_from < day_to ? await this.#rolled('day', WHOLE_DAYS, { workspaces }) : []
    const hours: Loose[] = []
    if (hour_from < Math.min(day_from * 24, hour_to) || Math.max(day_to * 24, hour_from) < hour_to)
      hours.push(...(await this.#rolled('hour', OTHER_HOURS, { workspaces })))
    for (const part of chunksOf(days, LISTED_AT_ONCE))
      hours.push(...(await this.#rolled('hour', HOURS_OF_DAYS, listOf(part))))
    for (const part of chunksOf(hours, LISTED_AT_ONCE)) await this.#live(LISTED_HOURS, listOf(part))
  }

  async #ends(workspaces: readonly string[]): Promise<void> {
    const { start, end, hour_from, hour_to } = this.#bounds as Bounds
    if (start === hour_from * HOUR_MS && end === hour_to * HOUR_MS) return
    await this.#live(ENDS, { workspaces })
  }

  /** Adds the counts of complete rollups; returns the incomplete ones. */
  async #rolled(unit: RollupUnit, range: string, list: object): Promise<Loose[]> {
    const rows = await this.#ask(rolledSql(this.#query.group_by, unit, range), list)
    const loose = rows.filter(({ is_complete }) => is_complete === 0)
    for (const row of rows) if (row.is_complete === 1) this.#sum(row)
    return loose
  }

  async #live(where: string, list: object): Promise<void> {
    for (const row of await this.#ask(liveSql(this.#query.group_by, where), list)) this.#sum(row)
  }

  #ask(sql: string, list: object): Promise<Row[]> {
    return this.#clickhouse.rows<Row>(sql, { params: { ...this.#bounds, ...list } })
  }

  #sum({ bucket, dimension_id, traces, ...row }: Row): void {
    if (traces === 0) return
    const { group_by } = this.#query
    const workspace_id = group_by === 'workspace' || group_by === 'project' ? row.workspace_id : NIL_UUID
    const key = `${bucket} ${workspace_id} ${dimension_id}`
    const known = this.#sums.get(key)
    if (known) known.traces += traces
    else this.#sums.set(key, { bucket, workspace_id, dimension_id, traces })
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

type Bounds = ReturnType<typeof boundsOf>

/**
 * Hours and days as numbers since 1970: the whole hours are `[hour_from, hour_to)`, the whole days in them `[day_from,
 * day_to)`.
 */
function boundsOf({ start, end, origin, stride }: UsageQuery) {
  const hour_from = Math.ceil(start / HOUR_MS)
  const hour_to = Math.max(hour_from, Math.floor(end / HOUR_MS))
  const day_from = Math.ceil(hour_from / 24)
  // If the query's buckets are hours, rollups of days cannot be used.
  const day_to = stride.hours > 0 ? day_from : Math.max(day_from, Math.floor(hour_to / 24))
  const size = stride.days * DAY_MS + stride.hours * HOUR_MS
  const end_hours = { start_hour: Math.floor(start / HOUR_MS), end_hour: Math.floor(end / HOUR_MS) }
  return { start, end, origin, size, hour_from, hour_to, day_from, day_to, ...end_hours }
}

const LISTED_AT_ONCE = 4_000

function listOf(loose: readonly Loose[]) {
  return {
    listed: loose.map(({ workspace_id }) => workspace_id),
    buckets: loose.map(({ bucket }) => bucket),
  }
}

const IN_WORKSPACES = 'workspace_id IN {workspaces:Array(UUID)}'
const WHOLE_DAYS = `${IN_WORKSPACES} AND bucket >= {day_from:Int32} AND bucket < {day_to:Int32}`
const OTHER_HOURS = `${IN_WORKSPACES} AND bucket >= {hour_from:Int32} AND bucket < {hour_to:Int32}
  AND (bucket < {day_from:Int32} * 24 OR bucket >= {day_to:Int32} * 24)`
const PAIRS = 'SELECT arrayJoin(arrayZip({listed:Array(UUID)}, {buckets:Array(Int32)})) AS pair'
const HOURS_OF_DAYS = `(workspace_id, bucket) IN
  (SELECT pair.1, toInt32(pair.2 * 24 + arrayJoin(range(24))) FROM (${PAIRS}))`
const LISTED_HOURS = `(workspace_id, hour) IN (${PAIRS})`
const ENDS = `${IN_WORKSPACES} AND hour >= {start_hour:Int32} AND hour <= {end_hour:Int32}
  AND (hour < {hour_from:Int32} OR hour >= {hour_to:Int32}) AND start >= {start:Int64} AND start < {end:Int64}`

const bucketOf = (time: string): string =>
  `{origin:Int64} + toInt64(floor((${time} - {origin:Int64}) / {size:Int64})) * {size:Int64}`

/**
 * SELECT over the hours or days that have ever changed. It returns the counts by bucket of those with a complete
 * rollup, and the number (hours or days since 1970) of each one without.
 */
function rolledSql(grouping: Grouping, unit: RollupUnit, range: string): string {
  const ms = unit === 'day' ? DAY_MS : HOUR_MS
  const byWorkspace = grouping === 'workspace'
  const columns = byWorkspace ? 'traces' : `${grouping}_ids AS ids, ${grouping}_traces AS counts`
  return `SELECT is_complete, if(is_complete, ${bucketOf(`bucket * ${ms}`)}, bucket) AS bucket, workspace_id,
      ${byWorkspace ? 'workspace_id' : 'dimension'} AS dimension_id, sum(${byWorkspace ? 'traces' : 'counted'}) AS traces
    FROM (
      SELECT workspace_id, bucket, ${COMPLETE} AS is_complete, ${byWorkspace ? 'traces' : 'ids, counts'}
      FROM (SELECT workspace_id, bucket, as_of, ${columns} FROM usage_rollups FINAL
            WHERE unit = '${unit}' AND ${range}) AS rollups
      RIGHT JOIN (SELECT workspace_id, bucket, max(marked_at) AS marked_at FROM usage_marks
                  WHERE unit = '${unit}' AND ${range} GROUP BY workspace_id, bucket) AS marks
      USING (workspace_id, bucket)
    )
    ${
      byWorkspace
        ? ''
        : `ARRAY JOIN if(is_complete, ids, [toUUID('${NIL_UUID}')]) AS dimension, if(is_complete, counts, [0]) AS counted`
    }
    GROUP BY is_complete, bucket, workspace_id, dimension_id`
}

function liveSql(grouping: Grouping, where: string): string {
  return `SELECT 1 AS is_complete, ${bucketOf('start')} AS bucket, workspace_id, ${grouping}_id AS dimension_id,
      count() AS traces
    FROM usage_traces FINAL
    WHERE ${where}
    GROUP BY bucket, workspace_id, dimension_id`
}
