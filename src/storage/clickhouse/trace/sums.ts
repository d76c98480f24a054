import { NIL_UUID } from '../../../base/ids.ts'
import type { TraceSums } from '../../../ingest/store/outline-store.ts'
import { NO_CALL, REQUEST } from '../../../trace/derive/same-call.ts'
import type { ClickHouse } from '../connect.ts'
import type { TraceScope } from './scope.ts'
import { HAS_USAGE } from '../usage/counted-sql.ts'
import { ESTIMATED_COLUMNS, USAGE_SUMS } from '../usage/sums-sql.ts'

/**
 * The sums of a trace, computed in ClickHouse. Undefined if trace/derive/roll-up.ts must compute them from the rows:
 * several TraceRuns may record the same call, a TraceRun with usage may have descendants, or not all TraceRuns are
 * below one root.
 */
export async function readTraceSums(
  clickhouse: ClickHouse,
  { condition, params }: TraceScope,
): Promise<TraceSums | undefined> {
  const [row] = await clickhouse.rows<TraceSums & { is_plain: number }>(sumsSql(condition), { params })
  if (row?.is_plain !== 1) return undefined
  const { is_plain: _plain, ...sums } = row
  return sums
}

const IS_ROOT = `parent_run_id = toUUID('${NIL_UUID}')`
/** Length of one part of a dotted_order, including the dot before it. */
const PART = 59

/**
 * `place` is the id of a TraceRun together with the length of its dotted_order; `parent_place` is the same of its
 * parent. All TraceRuns are below the root if the `parent_place` of each other TraceRun is the `place` of some
 * TraceRun. Parents cannot form a cycle, because a dotted_order is longer than the dotted_order of the parent.
 */
function sumsSql(condition: string): string {
  return `SELECT ${USAGE_SUMS}, argMinIf(thread_id, (start_time, toString(run_id)), thread_id != '') AS thread_id,
      countIf(is_root) = 1 AND countIf(is_root AND run_id = trace_id) = 1
        AND uniqExactArray(if(is_root, [place], [place, parent_place])) = count()
        AND uniqExactArray(arrayConcat(if(counted, [place], []), if(is_root, [], [parent_place])))
          = countIf(counted) + uniqExactIf(parent_place, NOT is_root)
        AND uniqExactIf(call_id, call_id > ${NO_CALL}) = countIf(call_id > ${NO_CALL})
        AND countIf(call_id = ${REQUEST}) = 0 AS is_plain
    FROM (
      SELECT *, ${ESTIMATED_COLUMNS}, ${HAS_USAGE} AS counted, ${IS_ROOT} AS is_root,
        cityHash64(run_id, dotted_order.size) AS place, cityHash64(parent_run_id, dotted_order.size - ${PART}) AS parent_place
      FROM runs FINAL WHERE ${condition})`
}
