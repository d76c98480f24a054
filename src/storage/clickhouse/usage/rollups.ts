import { chunksOf } from '../../../base/chunks.ts'
import type { RollupUnit, UsageRollups } from '../../../usage/counting/rollups.ts'
import type { ClickHouse } from '../connect.ts'

/**
 * A rollup is complete if it is younger than the last mark of its hour or day by more than this time. A mark may be
 * written up to 3 s before its change (see usage/counting/recorder.ts), and the clocks of replicas may differ by up to
 * 7 s.
 */
const MARGIN_SECONDS = 10

/** SQL condition: the rollup of `as_of` includes every change up to `marked_at`. */
export const COMPLETE = `as_of > marked_at + ${MARGIN_SECONDS}`

/** Seconds without a change after which a changed hour or day is rolled up again; longer than the margin. */
const QUIET_SECONDS: Record<RollupUnit, number> = { hour: 15, day: 60 }
/** Maximum number of hours or days that one statement of a refresh computes, so that they fit into memory. */
const AT_ONCE: Record<RollupUnit, number> = { hour: 240, day: 20 }

type Bucket = [workspace_id: string, bucket: number]

/** The UsageRollups over a ClickHouse whose schema is migrated. */
export function createUsageRollups(clickhouse: ClickHouse): UsageRollups {
  return {
    async refresh(unit, signal) {
      // The clock is read before the data: all changes after this moment have later marks.
      const as_of = await now(clickhouse)
      const changed = await clickhouse.rows<{ workspace_id: string; bucket: number; is_quiet: number }>(
        changedSql(),
        { params: { unit, as_of, quiet: QUIET_SECONDS[unit] } },
      )
      const due = changed
        .filter(({ is_quiet }) => is_quiet === 1)
        .map(({ workspace_id, bucket }): Bucket => [workspace_id, bucket])
      const done = await roll(clickhouse, unit, due, as_of, signal)
      return { done, left: changed.length - done }
    },

    async rebuild(signal) {
      await clickhouse.command(MARK_ALL, patient(signal))
      const as_of = await now(clickhouse)
      const days = await clickhouse.rows<{ day: number; traces: number }>(
        `SELECT ${DAY} AS day, count() AS traces FROM usage_traces GROUP BY day ORDER BY day`,
      )
      for (const unit of ['hour', 'day'] as const) {
        for (const { from, to } of rangesOf(days)) {
          signal?.throwIfAborted()
          const params = { unit, as_of, from: from * 24, to: to * 24 }
          await clickhouse.command(rollSql(unit, RANGE[unit]), { params, ...patient(signal) })
        }
      }
    },
  }
}

/** The time of the ClickHouse server, as text for later statements. */
async function now(clickhouse: ClickHouse): Promise<string> {
  const [row] = await clickhouse.rows<{ now: string }>("SELECT toString(now64(6, 'UTC')) AS now")
  return row!.now
}

function changedSql(): string {
  return `SELECT workspace_id, bucket, marked_at < toDateTime64({as_of:String}, 6, 'UTC') - {quiet:UInt32} AS is_quiet
    FROM (SELECT workspace_id, bucket, max(marked_at) AS marked_at FROM usage_marks
          WHERE unit = {unit:String} GROUP BY workspace_id, bucket) AS marks
    LEFT JOIN (SELECT workspace_id, bucket, max(as_of) AS as_of FROM usage_rollups
               WHERE unit = {unit:String} GROUP BY workspace_id, bucket) AS rollups USING (workspace_id, bucket)
    WHERE NOT (${COMPLETE})
    ORDER BY bucket DESC, workspace_id LIMIT 100000`
}

/**
 * Adds a mark with an old time to hours without a mark, so that queries include these hours; newer marks replace it.
 */
const MARK_ALL = `INSERT INTO usage_marks (workspace_id, unit, bucket, marked_at)
  SELECT DISTINCT workspace_id, mark.1, mark.2, toDateTime64(1, 6, 'UTC')
  FROM usage_traces ARRAY JOIN [('hour', hour), ('day', toInt32(floor(hour / 24)))] AS mark`

async function roll(
  clickhouse: ClickHouse,
  unit: RollupUnit,
  buckets: readonly Bucket[],
  as_of: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  let done = 0
  for (const part of chunksOf(buckets, AT_ONCE[unit])) {
    if (signal?.aborted) break
    const params = {
      unit,
      as_of,
      workspaces: part.map(([workspace_id]) => workspace_id),
      buckets: part.map(([, bucket]) => bucket),
    }
    await clickhouse.command(rollSql(unit, LISTED[unit]), { params, ...patient(signal) })
    done += part.length
  }
  return done
}

const PATIENCE_SECONDS = 300

function patient(signal: AbortSignal | undefined) {
  return { settings: { max_execution_time: PATIENCE_SECONDS }, ...(signal && { signal }) }
}

/**
 * Maximum number of traces that one statement of a rebuild reads. A single day with more traces is read by one
 * statement.
 */
const TRACES_AT_ONCE = 500_000

/** Joins days to ranges `[from, to)` with at most TRACES_AT_ONCE traces each. */
function rangesOf(days: readonly { day: number; traces: number }[]): { from: number; to: number }[] {
  const ranges: { from: number; to: number; traces: number }[] = []
  for (const { day, traces } of days) {
    const last = ranges.at(-1)
    if (last && last.traces + traces <= TRACES_AT_ONCE)
      Object.assign(last, { to: day + 1, traces: last.traces + traces })
    else ranges.push({ from: day, to: day + 1, traces })
  }
  return ranges
}

/** The buckets to compute, and the condition on usage_traces that selects them. */
interface Selection {
  buckets: string
  traces: string
}

const DAY = 'toInt32(floor(hour / 24))'
const PAIRS = 'SELECT arrayJoin(arrayZip({workspaces:Array(UUID)}, {buckets:Array(Int32)})) AS pair'
const IN_RANGE = 'hour >= {from:Int32} AND hour < {to:Int32}'

const LISTED: Record<RollupUnit, Selection> = {
  hour: { buckets: PAIRS, traces: `(workspace_id, hour) IN (${PAIRS})` },
  day: {
    buckets: PAIRS,
    traces: `(workspace_id, hour) IN (SELECT pair.1, pair.2 * 24 + arrayJoin(range(24)) FROM (${PAIRS}))`,
  },
}
const RANGE: Record<RollupUnit, Selection> = {
  hour: {
    buckets: `SELECT DISTINCT (workspace_id, hour) AS pair FROM usage_traces WHERE ${IN_RANGE}`,
    traces: IN_RANGE,
  },
  day: {
    buckets: `SELECT DISTINCT (workspace_id, ${DAY}) AS pair FROM usage_traces WHERE ${IN_RANGE}`,
    traces: IN_RANGE,
  },
}

/** SQL that writes one rollup for each bucket, even for a bucket that no longer has traces. */
function rollSql(unit: RollupUnit, { buckets, traces }: Selection): string {
  const bucket = unit === 'hour' ? 'hour' : DAY
  const sums = ['project_id', 'user_id', 'api_key_id'].map(
    (name) => `(sumMapIf([${name}], [traces], traces > 0) AS by_${name}).1, by_${name}.2`,
  )
  return `INSERT INTO usage_rollups
      (workspace_id, unit, bucket, as_of, traces, project_ids, project_traces, user_ids, user_traces,
       api_key_ids, api_key_traces)
    SELECT workspace_id, {unit:String}, bucket, toDateTime64({as_of:String}, 6, 'UTC'), sum(traces), ${sums.join(', ')}
    FROM (
      SELECT workspace_id, ${bucket} AS bucket, project_id, user_id, api_key_id, count() AS traces
      FROM usage_traces FINAL WHERE ${traces}
      GROUP BY workspace_id, bucket, project_id, user_id, api_key_id
      UNION ALL
      SELECT pair.1, pair.2, none, none, none, toUInt64(0)
      FROM (SELECT pair, toUUID('00000000-0000-0000-0000-000000000000') AS none FROM (${buckets}))
    )
    GROUP BY workspace_id, bucket`
}
