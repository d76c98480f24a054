import { AppError } from '../../base/errors.ts'
import { NIL_UUID } from '../../base/ids.ts'
import type { Comparison, FilterField, FilterValue } from '../../trace/filter/fields.ts'
import { type Filter, type SearchField, searches } from '../../trace/filter/filter.ts'
import { normalizeProvider } from '../../trace/price/provider-name.ts'
import { checkBit } from '../../trace/rows/trace-run-row.ts'
import { LINE, countedSql } from './usage/counted-sql.ts'
import { wide } from './usage/sums-sql.ts'
import { fragmentsSql } from './fragments/fragments-sql.ts'
import { PROVIDER } from './provider-sql.ts'
import { FEW_AT_A_TIME, fragmentWordsSql, isPayload, payloadSql, wordsOf } from './search/search-sql.ts'

/** SQL with typed parameters `{name:Type}`; the text contains no user input. */
export interface SqlCondition {
  sql: string
  params: Record<string, unknown>
}

/** A field as an expression over a row of table `runs`. */
interface Column {
  sql: string
  /** Type of the values with which the column is compared. */
  type: 'String' | 'UUID' | 'UInt8' | 'Int64' | 'Float64' | 'Decimal(38, 18)'
  /** SQL condition: the field is null. */
  missing: string
  /** SQL of the field as a sum over descendants, for TraceRuns that have no counts themselves. */
  total?: { sql: string; missing: string }
}

const text = (sql: string): Column => ({ sql, type: 'String', missing: `${sql} = ''` })
const uuid = (sql: string): Column => ({ sql, type: 'UUID', missing: `${sql} = toUUID('${NIL_UUID}')` })
const micros = (sql: string): Column => ({ sql, type: 'Int64', missing: `isNull(${sql})` })
const ticks = (column: string) => `toUnixTimestamp64Micro(${column})`
const cost = (sql: string): Column => ({
  sql,
  type: 'Decimal(38, 18)',
  missing: `isNull(${sql})`,
  total: { sql: `sum(${wide(sql)})`, missing: `count(${sql}) = 0` },
})
/** Unknown counts are compared as 0, as in responses. */
const count = (...columns: string[]): Column => {
  const sql = `(${columns.map((column) => `ifNull(${column}, 0)`).join(' + ')})`
  return {
    sql,
    type: 'Float64',
    missing: `(${columns.map((column) => `isNull(${column})`).join(' AND ')})`,
    total: {
      sql: `sum(${sql})`,
      missing: `(${columns.map((column) => `count(${column})`).join(' + ')}) = 0`,
    },
  }
}

/** One of the quality checks of a TraceRun. Only TraceRuns of type llm have results of checks. */
const check = (name: Parameters<typeof checkBit>[0]): Column => ({
  sql: `if(run_type = 'llm', bitTest(checks, ${checkBit(name)}), NULL)`,
  type: 'UInt8',
  missing: `(run_type != 'llm')`,
})

/** The value to compare: the name of a provider is normalised, because providers have several spellings. */
function spelt(field: FilterField, value: FilterValue): FilterValue {
  return field === 'provider' && typeof value === 'string' ? normalizeProvider(value) : value
}

/** Microseconds in which a TraceRun generated its output (rule LLM-11). */
const GENERATED_FOR = `(${ticks('end_time')} - ${ticks('ifNull(first_token_time, start_time)')})`
const SPEED = `if(run_type = 'llm' AND output_tokens > 0 AND ${GENERATED_FOR} > 0, output_tokens * 1000000 / ${GENERATED_FOR}, NULL)`

/** SQL of the score of a feedback record as a number. Clients may also send true and false. */
const SCORE = "JSONExtract(body, 'score', 'Nullable(Float64)')"

const COLUMNS: Record<FilterField, Column> = {
  id: uuid('run_id'),
  trace_id: uuid('trace_id'),
  parent_run_id: uuid('parent_run_id'),
  session: uuid('project_id'),
  name: text('name'),
  run_type: text('run_type'),
  status: text('status'),
  error: { sql: 'error', type: 'String', missing: `status != 'error'` },
  thread_id: text('thread_id'),
  provider: text(PROVIDER),
  model: text('model'),
  inputs: text('inputs_preview'),
  outputs: text('outputs_preview'),
  start_time: micros(ticks('start_time')),
  end_time: micros(ticks('end_time')),
  first_token_time: micros(ticks('first_token_time')),
  latency: micros(`(${ticks('end_time')} - ${ticks('start_time')})`),
  ttft: micros(`(${ticks('first_token_time')} - ${ticks('start_time')})`),
  tokens_per_second: { sql: SPEED, type: 'Float64', missing: `isNull(${SPEED})` },
  total_tokens: count('input_tokens', 'output_tokens'),
  prompt_tokens: count('input_tokens'),
  completion_tokens: count('output_tokens'),
  total_cost: cost('total_cost'),
  prompt_cost: cost('input_cost'),
  completion_cost: cost('output_cost'),
  // Used inside arrayExists over the metadata's entries.
  metadata_key: text('entry_key'),
  metadata_value: text('entry_value'),
  // Expressions over a row of table `feedback`.
  feedback_key: text("JSONExtractString(body, 'key')"),
  feedback_score: { sql: SCORE, type: 'Float64', missing: `isNull(${SCORE})` },
  // The whole trace: see columnOf.
  trace_failed: { sql: "toUInt8(status = 'error')", type: 'UInt8', missing: '0' },
  check_run_type: check('run_type'),
  check_format: check('format'),
  check_model: check('model'),
  check_usage: check('usage'),
  issue: { sql: 'issues', type: 'String', missing: 'empty(issues)' },
  input_source: text('input_source'),
  output_source: text('output_source'),
  price_model_id: text('price_model_id'),
  user: uuid('user_id'),
  api_key: uuid('api_key_id'),
}

const OPERATORS: Record<Comparison, string> = { eq: '=', gt: '>', gte: '>=', lt: '<', lte: '<=' }
const HOLDS: Record<Comparison, (a: number, b: number) => boolean> = {
  eq: (a, b) => a === b,
  gt: (a, b) => a > b,
  gte: (a, b) => a >= b,
  lt: (a, b) => a < b,
  lte: (a, b) => a <= b,
}

/** SQL condition: the TraceRun has tokens and costs of its own. Other types have the sums of their descendants. */
export const OWN_COUNTS = "run_type IN ('llm', 'embedding')"
/**
 * Maximum number of conditions on sums. Each one reads the usage of the whole scope, which takes 0.7 s for a million
 * rows.
 */
const MAX_SUMS = 8

interface Context {
  /** Adds a parameter with the value; returns its placeholder. */
  bind(value: unknown, type: string): string
  /**
   * Returns SQL that selects the ids of TraceRuns whose sums satisfy `having`. Undefined if only a row's own counts are
   * compared.
   */
  sums: ((having: string) => string) | undefined
  /** SQL that selects the ids of traces with a failed TraceRun; undefined if only a row itself is compared. */
  failedTraces: string | undefined
  /**
   * Returns SQL that selects the ids of traces whose thread satisfies `having`. With `some`, the trace must also have a
   * row that satisfies `some`. Undefined if only a row's own thread is compared.
   */
  threads: ((having: string, some?: string) => string) | undefined
  /** Condition on the feedback records that are compared. */
  feedback: string
  /** Condition on `run_id` of the fragments that are searched; undefined: all of the workspace. */
  searched: string | undefined
  search: SearchMode
}

/**
 * The way in which a condition with a search is evaluated.
 * - `look-up`: an index selects payloads, and these are read.
 * - `read`: all payloads are read; for few rows.
 * - `assume`: the condition counts as true, because a later statement reads the payloads.
 */
export type SearchMode = 'look-up' | 'read' | 'assume'

export interface FilterPlace {
  /** SQL condition for the rows that contain the descendants of a TraceRun and the rest of its trace. */
  scope?: string | undefined
  /** Prefix of the names of the filter's parameters, for a statement with several filters. */
  prefix?: string
  /** SQL condition on the rows of table `feedback`; default: all rows of the workspace. */
  feedback?: string | undefined
  /** SQL condition on `run_id` of the fragments that are searched; default: all of the workspace. */
  searched?: string | undefined
  /** Default `look-up`. */
  search?: SearchMode | undefined
}

const OF_WORKSPACE = 'workspace_id = {workspace_id:UUID}'

/**
 * The filter as a condition on rows of table `runs`; parameters are `f0`, `f1`, …. The condition is never NULL. A
 * TraceRun that has no tokens and costs itself has the sums of its descendants, as in responses (rule N6), and a root
 * without a thread has the thread of its trace. Without a scope only a TraceRun's own values are compared. The
 * statement has the parameter `workspace_id`. Throws AppError `invalid_request` for more than 8 conditions on such
 * sums.
 */
export function filterSql(
  filter: Filter,
  { scope, prefix = 'f', feedback = OF_WORKSPACE, searched, search = 'look-up' }: FilterPlace = {},
): SqlCondition {
  const params: Record<string, unknown> = {}
  let values = 0
  let sums = 0
  const context: Context = {
    bind(value, type) {
      const name = `${prefix}${values++}`
      params[name] = value
      return `{${name}:${type}}`
    },
    sums: undefined,
    failedTraces: scope && `SELECT trace_id FROM runs FINAL WHERE ${scope} AND status = 'error'`,
    feedback,
    searched,
    search,
    threads: scope === undefined ? undefined : (having, some) => threadsSql(scope, having, some),
  }
  if (scope !== undefined && !namesTypeWithCounts(filter)) {
    context.sums = (having) => {
      if (++sums <= MAX_SUMS) return sumsSql(scope, having)
      const message = `A filter takes at most ${MAX_SUMS} conditions on tokens and costs, unless it names run_type "llm".`
      throw new AppError('invalid_request', { message })
    }
  }
  return { sql: conditionSql(filter, context), params }
}

/** Whether the filter requires a run type that has tokens and costs of its own. */
export function namesTypeWithCounts(filter: Filter): boolean {
  if (filter.kind === 'and') return filter.of.some(namesTypeWithCounts)
  if (filter.kind !== 'compare' || filter.field !== 'run_type') return false
  return filter.value === 'llm' || filter.value === 'embedding'
}

function columnOf(field: FilterField, { failedTraces }: Context): Column {
  const column = COLUMNS[field]
  if (field !== 'trace_failed' || failedTraces === undefined) return column
  return { ...column, sql: `toUInt8(trace_id IN (${failedTraces}))` }
}

function conditionSql(filter: Filter, context: Context): string {
  const { bind } = context
  switch (filter.kind) {
    case 'and':
    case 'or':
      return `(${filter.of.map((one) => conditionSql(one, context)).join(` ${filter.kind.toUpperCase()} `)})`
    case 'not':
      if (context.search === 'assume' && searches(filter.of)) return '1'
      return `NOT ${conditionSql(filter.of, context)}`
    case 'entry':
      if (filter.among === 'feedback')
        return `run_id IN (SELECT run_id FROM feedback FINAL WHERE ${context.feedback} AND ${conditionSql(filter.of, context)})`
      return `arrayExists((entry_key, entry_value) -> ${conditionSql(filter.of, context)}, mapKeys(metadata), mapValues(metadata))`
    case 'missing': {
      const { missing, total } = columnOf(filter.field, context)
      if (filter.field === 'thread_id') return withThread(`(${missing})`, '0', true, context)
      return withSums(`(${missing})`, total?.missing, true, context)
    }
    case 'compare':
      return comparisonSql(filter.field, filter.is, filter.value, context)
    case 'in': {
      const { sql, type, total } = columnOf(filter.field, context)
      const list = bind(
        filter.values.map((value) => spelt(filter.field, value)),
        `Array(${type})`,
      )
      if (filter.field === 'thread_id')
        return withThread(
          `${sql} IN ${list}`,
          `${TRACE_THREAD} IN ${list}`,
          filter.values.includes(''),
          context,
        )
      return withSums(
        `ifNull(${sql} IN ${list}, 0)`,
        total && `${total.sql} IN ${list}`,
        filter.values.includes(0),
        context,
      )
    }
    case 'search':
      return searchSql(filter.fields, filter.text, context)
    case 'listed':
      return `hasAny(${filter.list}, ${bind(filter.values, 'Array(String)')})`
  }
}

/** Condition of a search: the text is in the row of the TraceRun, or in the payload of any of its fragments. */
function searchSql(
  fields: readonly SearchField[],
  text: string,
  { bind, searched, search }: Context,
): string {
  if (search === 'assume') return '1'
  const needle = bind(text, 'String')
  const contains = (sql: string): string => `positionCaseInsensitiveUTF8(${sql}, ${needle}) > 0`
  const found = fields.map((field) =>
    field === 'metadata'
      ? `arrayExists(text -> ${contains('text')}, arrayConcat(mapKeys(metadata), mapValues(metadata)))`
      : contains(COLUMNS[field].sql),
  )
  if (fields.some(isPayload)) found.push(inPayloadsSql(fields, text, { bind, searched, search }))
  return `(${found.join(' OR ')})`
}

function inPayloadsSql(
  fields: readonly SearchField[],
  text: string,
  { bind, searched, search }: Pick<Context, 'bind' | 'searched' | 'search'>,
): string {
  const payloads = payloadSql(fields, text, bind)
  const words = search === 'look-up' ? wordsOf(text) : []
  const where = [...(words.length > 0 ? [fragmentWordsSql(words, bind)] : []), payloads]
  const found = { columns: 'run_id', ofRuns: searched, where, keyword: 'WHERE', end: FEW_AT_A_TIME } as const
  return `run_id IN (${fragmentsSql(found)})`
}

function comparisonSql(field: FilterField, is: Comparison, value: FilterValue, context: Context): string {
  const { sql, type, total } = columnOf(field, context)
  if (field === 'metadata_value' && typeof value === 'number') {
    return `ifNull(toFloat64OrNull(${sql}) ${OPERATORS[is]} ${context.bind(value, 'Float64')}, 0)`
  }
  const operand = `${OPERATORS[is]} ${context.bind(spelt(field, value), type)}`
  // `thread_id` is compared only for equality, so a TraceRun without a thread matches only the empty text.
  if (field === 'thread_id')
    return withThread(`${sql} ${operand}`, `${TRACE_THREAD} ${operand}`, value === '', context)
  // TraceRuns without usage have tokens 0, so they match if 0 does. Their cost is unknown, which matches nothing.
  const holdsForNone = typeof value === 'number' && HOLDS[is](0, value)
  return withSums(
    `ifNull(${sql} ${operand}, 0)`,
    total && `ifNull(${total.sql} ${operand}, 0)`,
    holdsForNone,
    context,
  )
}

/**
 * SQL condition: a TraceRun with counts of its own satisfies `own`; for any other TraceRun, its sums satisfy `sums`.
 */
function withSums(own: string, sums: string | undefined, holdsForNone: boolean, context: Context): string {
  if (sums === undefined || !context.sums) return own
  const ids = holdsForNone ? `NOT IN (${context.sums(`NOT (${sums})`)})` : `IN (${context.sums(sums)})`
  return `if(${OWN_COUNTS}, ${own}, run_id ${ids})`
}

/** SQL condition: the row satisfies `own`. For a root without a thread: the thread of its trace satisfies `having`. */
function withThread(own: string, having: string, holdsForNone: boolean, { threads }: Context): string {
  if (threads === undefined) return own
  const ids = holdsForNone ? `NOT IN (${threads(`NOT (${having})`)})` : `IN (${threads(having, own)})`
  return `if(thread_id = '' AND parent_run_id = toUUID('${NIL_UUID}'), trace_id ${ids}, ${own})`
}

/** The thread of a trace: the thread of the earliest TraceRun that names one, as in trace/derive/roll-up.ts. */
const TRACE_THREAD = 'argMin(thread_id, (start_time, toString(run_id)))'

/** Ids of traces whose thread satisfies `having`. With `some`, only traces that have a row which satisfies `some`. */
function threadsSql(scope: string, having: string, some: string | undefined): string {
  const within =
    some === undefined ? '' : ` AND trace_id IN (SELECT trace_id FROM runs WHERE ${scope} AND ${some})`
  return `SELECT trace_id FROM runs FINAL WHERE ${scope} AND thread_id != ''${within}
    GROUP BY trace_id HAVING ${having}`
}

/** Ids of the TraceRuns for which the sums over the counted rows at and below them satisfy `having`. */
function sumsSql(scope: string, having: string): string {
  return `SELECT ancestor FROM (
      SELECT arrayJoin(${LINE}) AS ancestor, input_tokens, output_tokens, input_cost, output_cost, total_cost
      FROM runs FINAL
      WHERE ${scope} AND ${countedSql(scope)}
    ) GROUP BY ancestor HAVING ${having}`
}
