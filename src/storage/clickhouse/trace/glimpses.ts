import { NIL_UUID } from '../../../base/ids.ts'
import type { TraceGlimpse } from '../../../trace/json/row-fields.ts'
import type { ClickHouse } from '../connect.ts'
import { FIRST_OF_ORDER, PLACES_OF_TRACES } from './scope.ts'

/** Failed TraceRuns of a trace among which the names are chosen. */
const MOST_FAILED = 100
const MOST_NAMES = 3

/**
 * What lists show of traces that their roots do not say: their first question, their last answer, what failed. By root,
 * because a trace may have several.
 */
export async function readGlimpses(
  clickhouse: ClickHouse,
  workspace_id: string,
  traces: readonly string[],
): Promise<Map<string, TraceGlimpse>> {
  if (traces.length === 0) return new Map()
  const rows = await clickhouse.rows<TraceGlimpse & { root: string }>(GLIMPSES, {
    params: { workspace_id, traces },
  })
  return new Map(rows.map(({ root, ...glimpse }) => [root, glimpse]))
}

const IS_CALL = "run_type = 'llm'"
const RANK = "multiIf(run_type = 'tool', 0, run_type = 'llm', 1, 2)"

const GLIMPSES = `
  SELECT if(${FIRST_OF_ORDER} = toUUID('${NIL_UUID}'), trace_id, ${FIRST_OF_ORDER}) AS root,
    argMinIf(inputs_preview, start_time, ${IS_CALL} AND inputs_preview != '') AS asked,
    argMaxIf(outputs_preview, start_time, ${IS_CALL} AND outputs_preview != '') AS answered,
    arraySlice(arrayDistinct(arrayMap(one -> one.2, arraySort(
      groupArrayIf(${MOST_FAILED})((${RANK}, name), status = 'error' AND run_id != root)))), 1, ${MOST_NAMES}) AS failed
  FROM runs FINAL
  WHERE workspace_id = {workspace_id:UUID} AND ${PLACES_OF_TRACES} AND trace_id IN {traces:Array(UUID)}
  GROUP BY root`
