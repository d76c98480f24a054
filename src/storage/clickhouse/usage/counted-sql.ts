import { FACTS, NO_CALL, REQUEST, UNANSWERED } from '../../../trace/derive/same-call.ts'
import type { ClickHouse, StatementOptions } from '../connect.ts'

/** SQL of the ids of the TraceRuns from the root to the row's own TraceRun. */
export const LINE = `arrayMap(part -> toUUIDOrZero(right(part, 36)), splitByChar('.', dotted_order))`

/** SQL condition: the row has tokens or a cost. Besides calls of models, reranks and sums of calls have tokens. */
export const HAS_USAGE = '(isNotNull(input_tokens) OR isNotNull(output_tokens) OR isNotNull(total_cost))'

/** SQL that gives one row for each TraceRun above the row's own, with its id. */
const ABOVE = `arrayJoin(arrayPopBack(${LINE}))`
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

/** SQL condition: a TraceRun below this one has usage of another call. */
function holdsOthersSql(scope: string): string {
  const below = `SELECT workspace_id, project_id, ${ABOVE} AS ancestor, call_id FROM runs FINAL
    WHERE ${scope} AND ${HAS_USAGE} AND (workspace_id, trace_id) IN (${severalSql('workspace_id, trace_id', scope)})`
  return `((workspace_id, project_id, run_id) IN (SELECT workspace_id, project_id, ancestor FROM (${below}))
    AND (workspace_id, project_id, run_id, call_id) NOT IN (
      SELECT workspace_id, project_id, ancestor, min(call_id) AS only FROM (${below})
      GROUP BY workspace_id, project_id, ancestor HAVING only = max(call_id)))`
}

const STARTS = 'toUnixTimestamp64Micro(start_time)'
const ENDS = `greatest(toUnixTimestamp64Micro(ifNull(end_time, start_time)), ${STARTS} + 1)`

/**
 * Selects workspace_id and run_id of the rows of `scope` that do not count because another row records the same answer
 * of the model.
 */
function answersSql(scope: string): string {
  const inOrder = `PARTITION BY ${CALL} ORDER BY start_time, toString(run_id)`
  const differs = (side: string): string => `ifNull(min(${side}) OVER whole != max(${side}) OVER whole, 0)`
  return `SELECT workspace_id, run_id FROM (
    SELECT workspace_id, run_id, row_number() OVER (PARTITION BY ${CALL}, island
      ORDER BY holds_others, without_vendors_count, call_facts DESC, start_time, toString(run_id)) AS place
    FROM (
      SELECT *, if(${differs('input_tokens')} OR ${differs('output_tokens')},
        1 - bitAnd(call_facts, ${FACTS.vendors_count}), 0) AS without_vendors_count
      FROM (
        SELECT *, sum(begins) OVER (${inOrder}) AS island FROM (
          SELECT ${CALL}, run_id, start_time, call_facts, input_tokens, output_tokens,
            ${holdsOthersSql(scope)} AS holds_others,
            ${STARTS} >= max(${ENDS}) OVER (${inOrder} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS begins
          FROM runs FINAL
          WHERE ${scope} AND call_id BETWEEN ${REQUEST + 1} AND ${UNANSWERED - 1} AND (${CALL}) IN (${severalSql(CALL, scope)})))
      WINDOW whole AS (PARTITION BY ${CALL}, island)))
    WHERE place > 1`
}

/** Selects the rows below a request whose answer is recorded by another span. They do not count. */
function belowRequestsSql(scope: string): string {
  return `SELECT workspace_id, run_id FROM (
      SELECT workspace_id, project_id, run_id, ${ABOVE} AS ancestor FROM runs FINAL
      WHERE ${scope} AND run_type = 'llm'
        AND (workspace_id, trace_id) IN (SELECT workspace_id, trace_id FROM runs WHERE ${scope} AND call_id = ${REQUEST}))
    WHERE (workspace_id, project_id, ancestor) IN (
      SELECT workspace_id, project_id, run_id FROM runs FINAL WHERE ${scope} AND call_id = ${REQUEST})`
}

/**
 * Selects the rows of failed calls without messages that lie within the time of a call with messages. They do not
 * count.
 */
function unansweredSql(scope: string): string {
  const hasKnownSide = `call_facts >= ${FACTS.known_side}`
  return `SELECT workspace_id, run_id FROM (
      SELECT workspace_id, run_id, ${hasKnownSide} AS has_known_side, ${ENDS} AS until,
        max(if(${hasKnownSide}, ${ENDS}, ${STARTS})) OVER (PARTITION BY ${CALL}
          ORDER BY start_time, has_known_side DESC, toString(run_id) ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS reached
      FROM runs FINAL WHERE ${scope} AND call_id >= ${UNANSWERED})
    WHERE NOT has_known_side AND until <= reached`
}

/**
 * Applies the rules of findDoubles in trace/derive/same-call.ts to the rows of `scope`: selects workspace_id and run_id
 * of the rows that do not count.
 */
function doublesSql(scope: string): string {
  return [answersSql(scope), belowRequestsSql(scope), unansweredSql(scope), nestedSql(scope)].join(
    ' UNION ALL ',
  )
}

/** Selects calls of `scope` that have usage, with the columns that `nestedSql` compares. */
function callsSql(scope: string): string {
  return `SELECT workspace_id, project_id, run_id, parent_run_id, model, call_id, call_facts,
      ifNull(input_tokens, 0) AS input, ifNull(output_tokens, 0) AS output
    FROM runs FINAL WHERE ${scope} AND run_type = 'llm' AND call_id NOT IN (${NO_CALL}, ${REQUEST}) AND model != ''
      AND (isNotNull(input_tokens) OR isNotNull(output_tokens))`
}

/** Selects calls that are the only child of a call with the same model and more detail. They do not count. */
function nestedSql(scope: string): string {
  return `SELECT child.workspace_id AS workspace_id, child.run_id AS run_id
    FROM (${callsSql(scope)}) AS child
    INNER JOIN (${callsSql(scope)}) AS parent
      ON child.workspace_id = parent.workspace_id AND child.project_id = parent.project_id
        AND child.parent_run_id = parent.run_id
    WHERE (startsWith(child.model, parent.model) OR startsWith(parent.model, child.model))
      AND (child.call_id = 0 OR child.call_id != parent.call_id)
      AND child.input <= parent.input AND child.output <= parent.output
      AND (parent.call_facts > child.call_facts OR (parent.call_facts = child.call_facts
        AND parent.input + parent.output > child.input + child.output))
      AND (parent.workspace_id, parent.run_id) IN (SELECT workspace_id, parent_run_id FROM runs FINAL
        WHERE ${scope} GROUP BY workspace_id, parent_run_id HAVING count() = 1)`
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

/** SQL condition: no other TraceRun records the same call in more detail. */
function isOwnSql(scope: string): string {
  return `(workspace_id, run_id) NOT IN (${doublesSql(scope)})`
}

/**
 * The condition under which a row of table `runs` adds to sums, as in trace/derive/roll-up.ts (rule N6, D-17). The row
 * must have usage, and no other row may record its call in more detail. It must not repeat the usage of a descendant
 * that satisfies both conditions. Only rows of the same workspace count as other rows, and only rows of the same
 * project as descendants, because an id may exist in several workspaces. `scope` is a condition that limits the rows.
 */
export function countedSql(scope: string, shape = ANY_SHAPE): string {
  return addsSql(HAS_USAGE, scope, shape)
}

/** The condition under which a row counts as a model call, as in trace/derive/roll-up.ts. */
export function isCallSql(scope: string, doubles = true): string {
  return addsSql(`run_type = 'llm' AND call_id NOT IN (${NO_CALL}, ${REQUEST})`, scope, {
    doubles,
    nested: true,
  })
}

function addsSql(bears: string, scope: string, { doubles, nested }: UsageShape): string {
  const own = doubles ? `${bears} AND ${isOwnSql(scope)}` : bears
  if (!nested) return `(${own})`
  return `(${own} AND (workspace_id, project_id, run_id) NOT IN (
    SELECT workspace_id, project_id, ${ABOVE} FROM runs FINAL WHERE ${scope} AND ${own}))`
}
