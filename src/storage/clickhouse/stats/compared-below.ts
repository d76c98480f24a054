import { NIL_UUID } from '../../../base/ids.ts'
import type { BelowField } from '../../../ingest/store/stats-store.ts'

/** Maximum number of different values of a trace that are counted. */
const MAX_OF_TRACE = 200

const one = (field: BelowField, text: string): string => `[('${field}', '', ${text})]`

/** SQL of the values of a TraceRun. Keys of `ls_` repeat the model and its parameters. */
function pairsSql(maxLength: number): string {
  return `arrayFilter(pair -> pair.3 != '' AND lengthUTF8(pair.3) <= ${maxLength}, arrayConcat(
    if(run_type = 'llm', ${one('model_below', 'toString(model)')}, []),
    if(run_type = 'tool', ${one('tool_below', 'toString(name)')}, []),
    ${one('error_below', `substringUTF8(splitByChar('\\n', error)[1], 1, ${maxLength})`)},
    arrayMap(text -> ('tag_below', '', text), arrayDistinct(tags)),
    arrayFilter(pair -> NOT startsWith(pair.2, 'ls_'),
      arrayMap((key, text) -> ('metadata_below', key, text), mapKeys(metadata), mapValues(metadata)))))`
}

/**
 * SQL of `pair` and `is_selected`: for each trace, the values of the TraceRuns below its root that the root itself does
 * not have, each once. `roots` is a SELECT of `trace_id` and `is_selected`.
 */
export function pairsBelowSql(roots: string, maxLength: number): string {
  const traces = `SELECT trace_id FROM (${roots})`
  const isRoot = `parent_run_id = toUUID('${NIL_UUID}')`
  return `SELECT arrayJoin(arrayFilter(pair -> NOT has(own, pair), below)) AS pair, is_selected
    FROM (
      SELECT trace_id, groupUniqArrayArrayIf(${MAX_OF_TRACE})(pairs, NOT is_root) AS below,
        groupUniqArrayArrayIf(${MAX_OF_TRACE})(pairs, is_root) AS own
      FROM (SELECT trace_id, ${isRoot} AS is_root, ${pairsSql(maxLength)} AS pairs FROM runs FINAL
            WHERE workspace_id = {workspace_id:UUID} AND (project_id, sort_time, run_id) IN (
              SELECT project_id, sort_time, run_id FROM trace_runs FINAL
              WHERE workspace_id = {workspace_id:UUID} AND trace_id IN (${traces})) AND trace_id IN (${traces}))
      GROUP BY trace_id) AS of_traces
    INNER JOIN (SELECT trace_id, max(is_selected) AS is_selected FROM (${roots}) GROUP BY trace_id) AS roots
    USING (trace_id)`
}
