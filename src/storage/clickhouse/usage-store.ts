import type { UsageHour, UsageStore } from '../../ingest/usage-recorder.ts'
import type { ClickHouse } from './connect.ts'
import { idSlices } from './id-slices.ts'

/** Column order of the encodings; the room that encodes owns it. */
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

    mark(hours, signal) {
      const rows = marksOf(hours).map((mark) => JSON.stringify(mark))
      return clickhouse.insert({
        table: 'usage_marks',
        columns: ['workspace_id', 'unit', 'bucket'],
        format: 'JSONEachRow',
        body: Buffer.from(rows.join('\n')),
        ...(signal && { signal }),
      })
    },
  }
}

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
