import { FACTS, NO_CALL, REQUEST, UNANSWERED } from '../../../trace/derive/same-call.ts'
import type { ClickHouse, StatementOptions } from '../connect.ts'

/** SQL of the ids of the TraceRuns from the root to the row's own TraceRun. */
export const LINE = `arrayMap(part -> toUUIDOrZero(right(part, 36)), splitByChar('.', dotted_order))`

/** SQL condition: the row has tokens or a cost. Besides calls of models, reranks and sums of calls have tokens. */
export const HAS_USAGE = '(isNotNull(input_tokens) OR isNotNull(output_tokens) OR isNotNull(total_cost))'

/** SQL condition: the row is a call of a model. */
const IS_CALL = `run_type = 'llm' AND call_id NOT IN (${NO_CALL}, ${REQUEST})`

/** SQL of the ids of the TraceRuns above the row's own TraceRun. */
const ABOVE = `arrayPopBack(${LINE})`
const CALL = 'workspace_id, trace_id, call_id'

/**
 * Selects the calls that several TraceRuns of `scope` may record. Also reads outdated rows, because leaving them out
 * would be slower.
 */
function severalSql(columns: string, scope: string): string {
  return `SELECT ${columns} FROM runs WHERE ${scope} AND call_id > ${NO_CALL}
    GROUP BY ${CALL}
    HAVING call_id = ${REQUEST} OR (min(run_id) != max(run_id)
      AND (call_id < ${UNANSWERED} OR (min(call_facts) < ${FACTS.known_side} AND max(call_facts) >= ${FACTS.known_side})))`
}

const STARTS = 'toUnixTimestamp64Micro(start_time)'
const ENDS = `greatest(toUnixTimestamp64Micro(ifNull(end_time, start_time)), ${STARTS} + 1)`
const VIEW = ['trace_id', 'call_id', 'call_facts', 'starts', 'ends', 'input_tokens', 'output_tokens']

/**
 * Selects the rows of traces in which several rows may record a call, with the range of the calls whose usage the
 * TraceRuns below have. Also has rows without a call, whose call_id is 0.
 */
function viewsSql(scope: string): string {
  return `SELECT workspace_id, node AS run_id, ${VIEW.map((name) => `anyIf(row.${name}, is_self) AS ${name}`).join(', ')},
      countIf(is_below) AS below, minIf(row.call_id, is_below) AS least, maxIf(row.call_id, is_below) AS most
    FROM (SELECT workspace_id, project_id, trace_id, call_id, call_facts, input_tokens, output_tokens,
        ${STARTS} AS starts, ${ENDS} AS ends, arrayJoin(arrayPushBack(${ABOVE}, run_id)) AS node,
        node = run_id AS is_self, NOT is_self AND ${HAS_USAGE} AS is_below
      FROM runs FINAL
      WHERE ${scope} AND (call_id > ${REQUEST} OR ${HAS_USAGE})
        AND (workspace_id, trace_id) IN (${severalSql('workspace_id, trace_id', scope)})) AS row
    GROUP BY workspace_id, project_id, node`
}

/**
 * Selects workspace_id and run_id of the rows of `scope` that do not count because another row records the same answer
 * of the model, or, for a failed call without messages, because it lies within the time of a failed call with messages.
 */
function sameCallsSql(scope: string): string {
  const inOrder = `PARTITION BY ${CALL} ORDER BY starts, has_known_side DESC, toString(run_id)`
  const before = `${inOrder} ROWS BETWEEN UNBOUNDED PRECEDING AND`
  const differs = (side: string): string => `ifNull(min(${side}) OVER whole != max(${side}) OVER whole, 0)`
  return `SELECT workspace_id, run_id FROM (
    SELECT *, row_number() OVER (PARTITION BY ${CALL}, island
      ORDER BY holds_others, without_vendors_count, call_facts DESC, starts, toString(run_id)) AS place
    FROM (
      SELECT *, if(${differs('input_tokens')} OR ${differs('output_tokens')},
        1 - bitAnd(call_facts, ${FACTS.vendors_count}), 0) AS without_vendors_count
      FROM (
        SELECT *, sum(begins) OVER (${inOrder}) AS island FROM (
          SELECT *, call_facts >= ${FACTS.known_side} AS has_known_side,
            below > 0 AND (least != call_id OR most != call_id) AS holds_others,
            starts >= max(ends) OVER (${before} 1 PRECEDING) AS begins,
            max(if(has_known_side, ends, starts)) OVER (${before} CURRENT ROW) AS reached
          FROM (${viewsSql(scope)}) WHERE call_id > ${REQUEST}))
      WINDOW whole AS (PARTITION BY ${CALL}, island)))
    WHERE if(call_id < ${UNANSWERED}, place > 1, NOT has_known_side AND ends <= reached)`
}

/** Selects calls that are the only child of a call with the same model and more detail. They do not count. */
function nestedSql(scope: string): string {
  const rows = `SELECT workspace_id, project_id, run_id, parent_run_id, model, call_id, call_facts,
      ifNull(input_tokens, 0) AS input, ifNull(output_tokens, 0) AS output,
      ${IS_CALL} AND model != '' AND (isNotNull(input_tokens) OR isNotNull(output_tokens)) AS is_call
    FROM runs FINAL WHERE ${scope}`
  return `SELECT workspace_id, any(child.run_id) AS run_id
    FROM (${rows}) AS child
    INNER JOIN (${rows} AND is_call) AS parent
      ON child.workspace_id = parent.workspace_id AND child.parent_run_id = parent.run_id
    GROUP BY parent.workspace_id AS workspace_id, parent.project_id, parent.run_id
    HAVING count() = 1 AND any(child.is_call AND child.project_id = parent.project_id
      AND (startsWith(child.model, parent.model) OR startsWith(parent.model, child.model))
      AND (child.call_id = 0 OR child.call_id != parent.call_id)
      AND child.input <= parent.input AND child.output <= parent.output
      AND (parent.call_facts > child.call_facts OR (parent.call_facts = child.call_facts
        AND parent.input + parent.output > child.input + child.output)))`
}

/**
 * SQL condition for the rows that do not count by the rules of findDoubles in trace/derive/same-call.ts, applied to the
 * rows of `scope`: another row records the same call, or the row is below a request whose answer is recorded by another
 * span.
 */
function isDoubleSql(scope: string): string {
  return `((workspace_id, run_id) IN (${sameCallsSql(scope)} UNION ALL ${nestedSql(scope)})
    OR (run_type = 'llm' AND arrayExists(ancestor -> (workspace_id, project_id, ancestor) IN (
      SELECT workspace_id, project_id, run_id FROM runs FINAL WHERE ${scope} AND call_id = ${REQUEST}), ${ABOVE})))`
}

/** True if a call of `scope` may be nested in a call. The sums of such rows are only slower if none is. */
async function hasNestedCalls(
  clickhouse: ClickHouse,
  scope: string,
  options: StatementOptions,
): Promise<boolean> {
  const isCall = `${scope} AND run_type = 'llm' AND ${HAS_USAGE}`
  const found = await clickhouse.rows(
    `SELECT 1 FROM runs WHERE ${isCall}
       AND cityHash64(parent_run_id) IN (SELECT cityHash64(run_id) FROM runs WHERE ${isCall}) LIMIT 1`,
    options,
  )
  return found.length > 0
}

/** Properties of rows. If one is true, the usage of the rows cannot simply be added up. Usually both are false. */
export interface UsageShape {
  /** True if several TraceRuns may record the same model call. */
  doubles: boolean
  /** True if TraceRuns with usage may have descendants with usage. */
  nested: boolean
}

/** The shape of rows whose usage can simply be added up. */
export const PLAIN_SHAPE: UsageShape = { doubles: false, nested: false }

/** The shape of rows of which nothing is known. */
const ANY_SHAPE: UsageShape = { doubles: true, nested: true }

/**
 * Checks whether the rows of `scope` may have doubles or nested usage. Sums are much faster for rows that have neither.
 */
export async function usageShape(
  clickhouse: ClickHouse,
  scope: string,
  options: StatementOptions,
): Promise<UsageShape> {
  const [doubles, nested] = await Promise.all([
    hasDoubles(clickhouse, scope, options),
    isNested(clickhouse, scope, options),
  ])
  return { doubles, nested }
}

/**
 * True if several TraceRuns of `scope` may record the same model call. The faster query, without GROUP BY, runs first.
 */
export async function hasDoubles(
  clickhouse: ClickHouse,
  scope: string,
  options: StatementOptions,
): Promise<boolean> {
  if (await hasNestedCalls(clickhouse, scope, options)) return true
  const [calls] = await clickhouse.rows<{ repeats: number }>(
    `SELECT count() != uniqExact(call_id) OR countIf(call_id = ${REQUEST}) > 0 AS repeats
     FROM runs FINAL WHERE ${scope} AND call_id > ${NO_CALL}`,
    options,
  )
  if (calls?.repeats !== 1) return false
  const found = await clickhouse.rows(`${severalSql('1', scope)} LIMIT 1`, options)
  return found.length > 0
}

/**
 * Whether a row of `scope` with usage may be the parent of another row. May be true although no row is a parent: for
 * equal hashes of different ids, and for replaced rows. Sums are then only slower. If the parent of a row is missing,
 * the row is no descendant of the rows further up, as in trace/derive/roll-up.ts.
 */
async function isNested(clickhouse: ClickHouse, scope: string, options: StatementOptions): Promise<boolean> {
  const found = await clickhouse.rows(
    `SELECT 1 FROM runs WHERE ${scope} AND ${HAS_USAGE}
       AND cityHash64(run_id) IN (SELECT cityHash64(parent_run_id) FROM runs WHERE ${scope}) LIMIT 1`,
    options,
  )
  return found.length > 0
}

/**
 * The condition under which a row of table `runs` adds to sums, as in trace/derive/roll-up.ts (rule N6, D-17). The row
 * must have usage, and no other row may record its call in more detail. It must not repeat the usage of a descendant
 * that satisfies both conditions. Only rows of the same workspace count as other rows, and only rows of the same
 * project as descendants, because an id may exist in several workspaces. `scope` is a condition that limits the rows.
 */
export function countedSql(scope: string, { doubles, nested } = ANY_SHAPE): string {
  return doubles || nested ? `(${HAS_USAGE} AND ${addsSql(HAS_USAGE, scope, doubles)})` : HAS_USAGE
}

/** The condition under which a row counts as a model call, as in trace/derive/roll-up.ts. */
export function isCallSql(scope: string, doubles: boolean): string {
  return `(${IS_CALL} AND ${addsSql(IS_CALL, scope, doubles)})`
}

/**
 * SQL of a list with 'usage' if countedSql is true for a row, and 'call' if isCallSql is. Faster than both conditions if
 * there are doubles.
 */
export function addsToSql(scope: string, doubles: boolean): string {
  const kinds = `arrayFilter(kind -> if(kind = 'usage', ${HAS_USAGE}, ${IS_CALL}), ['usage', 'call'])`
  return `arrayFilter(kind -> (workspace_id, project_id, run_id, kind) NOT IN (
    SELECT workspace_id, project_id, arrayJoin(${leftOutSql(scope, doubles)}), arrayJoin(${kinds}) FROM runs FINAL
    WHERE ${scope} AND (${HAS_USAGE} OR ${IS_CALL})), ${kinds})`
}

/** SQL condition for rows that satisfy `bears`: the row is no double, and no such row below it counts. */
function addsSql(bears: string, scope: string, doubles: boolean): string {
  return `(workspace_id, project_id, run_id) NOT IN (
    SELECT workspace_id, project_id, arrayJoin(${leftOutSql(scope, doubles)}) FROM runs FINAL WHERE ${scope} AND ${bears})`
}

/** SQL of the ids that a row leaves out of sums: its own if it is a double, otherwise those above. */
function leftOutSql(scope: string, doubles: boolean): string {
  return doubles ? `if(${isDoubleSql(scope)}, [run_id], ${ABOVE})` : ABOVE
}
