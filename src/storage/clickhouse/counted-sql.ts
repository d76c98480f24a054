/** The TraceRuns from the root to a row's own. */
export const LINE = `arrayMap(part -> toUUIDOrZero(right(part, 36)), splitByChar('.', dotted_order))`

/** True of a row with tokens or a cost; tokens are on llm and embedding only. */
export const HAS_USAGE = '(isNotNull(input_tokens) OR isNotNull(output_tokens) OR isNotNull(total_cost))'

/**
 * The condition under which a row of table `runs` adds to sums, as in trace/roll-up.ts (rule N6, D-17): it has usage,
 * and none of its descendants has, which it would repeat. Descendants are looked for in its workspace and project,
 * among the rows of `scope`, a condition itself; ids alone may recur in another workspace.
 */
export function countedSql(scope: string): string {
  return `(${HAS_USAGE} AND (workspace_id, project_id, run_id) NOT IN (
    SELECT workspace_id, project_id, arrayJoin(arrayPopBack(${LINE})) FROM runs FINAL WHERE ${scope} AND ${HAS_USAGE}))`
}
