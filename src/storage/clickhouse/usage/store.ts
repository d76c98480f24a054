import { chunksOf } from '../../../base/chunks.ts'
import type { UsageHour, UsageStore } from '../../../usage/counting/recorder.ts'
import type { ClickHouse } from '../connect.ts'
import { idSlices } from '../id-slices.ts'

/** Columns of encoded rows, in the order in which they are encoded. */
export interface UsageColumns {
  usage_claims: readonly string[]
  usage_traces: readonly string[]
}

const HOURS_A_DAY = 24

/** The UsageStore over a ClickHouse whose schema is migrated. */
export function createUsageStore(clickhouse: ClickHouse, columns: UsageColumns): UsageStore {
  const add = (table: keyof UsageColumns) => (body: readonly Uint8Array[], signal?: AbortSignal) =>
    clickhouse.insert({ table, columns: columns[table], body, ...(signal && { signal }) })
  return {
    addClaims: add('usage_claims'),
    addCounted: add('usage_traces'),

    async claims(workspace_id, trace_ids) {
      const found: Buffer[] = []
      for (const ids of idSlices(trace_ids)) {
        found.push(
          await clickhouse.rowBinary(
            `SELECT ${columns.usage_claims.join(', ')} FROM usage_claims
             WHERE workspace_id = {workspace_id:UUID} AND trace_id IN {ids:Array(UUID)}`,
            { params: { workspace_id, ids } },
          ),
        )
      }
      return Buffer.concat(found)
    },

    async mark(hours, signal) {
      for (const part of chunksOf(marksOf(hours), MARKS_AT_ONCE)) {
        const params = {
          workspaces: part.map(({ workspace_id }) => workspace_id),
          units: part.map(({ unit }) => unit),
          buckets: part.map(({ bucket }) => bucket),
        }
        await clickhouse.command(MARK, { params, ...(signal && { signal }) })
      }
    },
  }
}

const MARKS_AT_ONCE = 1000
const MARKED = 'arrayJoin(arrayZip({workspaces:Array(UUID)}, {units:Array(String)}, {buckets:Array(Int32)}))'

/**
 * Inserts marks with the current time, or with the time of the rollup if that is later. A mark must not be older than
 * the rollup that it invalidates, and the store's clock may have been set back.
 */
const MARK = `INSERT INTO usage_marks (workspace_id, unit, bucket, marked_at)
  SELECT marks.mark.1, marks.mark.2, marks.mark.3, greatest(now64(6, 'UTC'), rollups.as_of)
  FROM (SELECT ${MARKED} AS mark) AS marks
  LEFT JOIN (SELECT (workspace_id, toString(unit), bucket) AS mark, max(as_of) AS as_of FROM usage_rollups
             WHERE (workspace_id, toString(unit), bucket) IN (SELECT ${MARKED}) GROUP BY mark) AS rollups
  ON marks.mark = rollups.mark`

/** One mark per hour and per day. */
function marksOf(hours: readonly UsageHour[]) {
  const marks = new Map<string, { workspace_id: string; unit: string; bucket: number }>()
  for (const { workspace_id, hour } of hours) {
    const day = Math.floor(hour / HOURS_A_DAY)
    marks.set(`${workspace_id} hour ${hour}`, { workspace_id, unit: 'hour', bucket: hour })
    marks.set(`${workspace_id} day ${day}`, { workspace_id, unit: 'day', bucket: day })
  }
  return [...marks.values()]
}
