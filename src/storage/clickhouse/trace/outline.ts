import type { OutlineStore, TraceState } from '../../../ingest/store/outline-store.ts'
import type { ClickHouse } from '../connect.ts'
import { OF_TRACE, scopeOfTrace } from './scope.ts'
import { readTraceSums } from './sums.ts'

/** Reads of one trace: selected columns of its rows, and its sums. */
export function readingOutlines(clickhouse: ClickHouse, columns: readonly string[]) {
  return {
    traceState: async (workspace_id: string, trace_id: string) => {
      const [state] = await clickhouse.rows<TraceState>(
        `SELECT toUnixTimestamp64Milli(max(written_at)) AS written_at, count() AS runs, sum(version) AS versions
         FROM trace_runs FINAL WHERE ${OF_TRACE}`,
        { params: { workspace_id, trace_id } },
      )
      return state ?? { written_at: 0, runs: 0, versions: 0 }
    },

    changedRuns: (workspace_id: string, trace_id: string, since: number) =>
      clickhouse.rowBinary(
        `SELECT run_id FROM trace_runs FINAL
         WHERE ${OF_TRACE} AND written_at >= fromUnixTimestamp64Milli({since:Int64}) `,
        { params: { workspace_id, trace_id, since } },
      ),

    outlineRows: async (workspace_id: string, trace_id: string, limit: number) => {
      const { condition, params } = await scopeOfTrace(clickhouse, workspace_id, trace_id)
      return clickhouse.rowBinary(
        `SELECT ${columns.join(', ')} FROM runs FINAL WHERE ${condition} LIMIT {limit:UInt32}`,
        { params: { ...params, limit } },
      )
    },

    largeTraceSums: async (workspace_id: string, trace_id: string) => {
      const scope = await scopeOfTrace(clickhouse, workspace_id, trace_id)
      return scope.isLarge ? readTraceSums(clickhouse, scope) : undefined
    },
  } satisfies OutlineStore
}
