import { AppError } from '../../base/errors.ts'
import { NIL_UUID } from '../../base/ids.ts'
import type { Comparison, FilterField, FilterValue } from '../../trace/filter-fields.ts'
import type { Filter } from '../../trace/filter.ts'
import { LINE, countedSql } from './counted-sql.ts'

/** SQL with typed parameters `{name:Type}`; the text holds no user input. */
export interface SqlCondition {
  sql: string
  params: Record<string, unknown>
}

/** How a field reads from a row of table `runs`. */
interface Column {
  sql: string
  /** Type of the values that it is compared with. */
  type: 'String' | 'UUID' | 'Int64' | 'Float64' | 'Decimal(38, 18)'
  /** True where the field is null. */
  missing: string
  /** The same over all that count for a TraceRun without counts of its own. */
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
  total: { sql: `sum(${sql})`, missing: `count(${sql}) = 0` },
})
/** Unknown counts are read as 0, as in the answers. */
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

/** Rule LLM-11. */
const GENERATED_FOR = `(${ticks('end_time')} - ${ticks('ifNull(first_token_time, start_time)')})`
const SPEED = `if(run_type = 'llm' AND output_tokens > 0 AND ${GENERATED_FOR} > 0, output_tokens * 1000000 / ${GENERATED_FOR}, NULL)`

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
  provider: text('provider'),
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
  // Inside arrayExists over the metadata's entries.
  metadata_key: text('entry_key'),
  metadata_value: text('entry_value'),
}

const OPERATORS: Record<Comparison, string> = { eq: '=', gt: '>', gte: '>=', lt: '<', lte: '<=' }
const HOLDS: Record<Comparison, (a: number, b: number) => boolean> = {
  eq: (a, b) => a === b,
  gt: (a, b) => a > b,
  gte: (a, b) => a >= b,
  lt: (a, b) => a < b,
  lte: (a, b) => a <= b,
}

const OWN_COUNTS = "run_type IN ('llm', 'embedding')"
/** Each condition on sums reads the usage of the whole scope: 0.7 s for a million rows. */
const MAX_SUMS = 8

/** What the parts of a condition share. */
interface Context {
  /** Makes a parameter of a value; gives its place. */
  bind(value: unknown, type: string): string
  /** Ids of the TraceRuns whose sums satisfy `having`; undefined where the row's own counts do. */
  sums: ((having: string) => string) | undefined
}

/**
 * The filter as a condition on rows of table `runs`; parameters are `f0`, `f1`, …. It is never NULL. Tokens and costs
 * of a TraceRun that has none of its own are those of its descendants, as it reads (rule N6); `scope` is the SQL
 * condition for the rows among which they are, and only its own are looked at without it. Throws AppError
 * `invalid_request` for more than 8 conditions on such sums.
 */
export function filterSql(filter: Filter, scope?: string): SqlCondition {
  const params: Record<string, unknown> = {}
  let values = 0
  let sums = 0
  const context: Context = {
    bind(value, type) {
      const name = `f${values++}`
      params[name] = value
      return `{${name}:${type}}`
    },
    sums: undefined,
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

/** True when only TraceRuns with counts of their own can match. */
function namesTypeWithCounts(filter: Filter): boolean {
  if (filter.kind === 'and') return filter.of.some(namesTypeWithCounts)
  if (filter.kind !== 'compare' || filter.field !== 'run_type') return false
  return filter.value === 'llm' || filter.value === 'embedding'
}

function conditionSql(filter: Filter, context: Context): string {
  const { bind } = context
  switch (filter.kind) {
    case 'and':
    case 'or':
      return `(${filter.of.map((one) => conditionSql(one, context)).join(` ${filter.kind.toUpperCase()} `)})`
    case 'not':
      return `NOT ${conditionSql(filter.of, context)}`
    case 'entry':
      return `arrayExists((entry_key, entry_value) -> ${conditionSql(filter.of, context)}, mapKeys(metadata), mapValues(metadata))`
    case 'missing': {
      const { missing, total } = COLUMNS[filter.field]
      return withSums(`(${missing})`, total?.missing, true, context)
    }
    case 'compare':
      return comparisonSql(filter.field, filter.is, filter.value, context)
    case 'in': {
      const { sql, type, total } = COLUMNS[filter.field]
      const list = bind(filter.values, `Array(${type})`)
      return withSums(
        `ifNull(${sql} IN ${list}, 0)`,
        total && `${total.sql} IN ${list}`,
        filter.values.includes(0),
        context,
      )
    }
    case 'search': {
      const needle = bind(filter.text, 'String')
      const found = filter.fields.map(
        (field) => `positionCaseInsensitiveUTF8(${COLUMNS[field].sql}, ${needle}) > 0`,
      )
      return `(${found.join(' OR ')})`
    }
    case 'tagged':
      return `hasAny(tags, ${bind(filter.tags, 'Array(String)')})`
  }
}

function comparisonSql(field: FilterField, is: Comparison, value: FilterValue, context: Context): string {
  const { sql, type, total } = COLUMNS[field]
  if (field === 'metadata_value' && typeof value === 'number') {
    return `ifNull(toFloat64OrNull(${sql}) ${OPERATORS[is]} ${context.bind(value, 'Float64')}, 0)`
  }
  const operand = `${OPERATORS[is]} ${context.bind(value, type)}`
  // A cost that nobody stated is unknown, tokens that nobody counted are 0.
  const holdsForNone = typeof value === 'number' && HOLDS[is](0, value)
  return withSums(
    `ifNull(${sql} ${operand}, 0)`,
    total && `ifNull(${total.sql} ${operand}, 0)`,
    holdsForNone,
    context,
  )
}

/** `own` for a TraceRun with counts of its own, else whether its sums satisfy `sums`. */
function withSums(own: string, sums: string | undefined, holdsForNone: boolean, context: Context): string {
  if (sums === undefined || !context.sums) return own
  const ids = holdsForNone ? `NOT IN (${context.sums(`NOT (${sums})`)})` : `IN (${context.sums(sums)})`
  return `if(${OWN_COUNTS}, ${own}, run_id ${ids})`
}

/** Ids of the TraceRuns under which the counted rows of `scope` satisfy `having`. */
function sumsSql(scope: string, having: string): string {
  return `SELECT ancestor FROM (
      SELECT arrayJoin(${LINE}) AS ancestor, input_tokens, output_tokens, input_cost, output_cost, total_cost
      FROM runs FINAL
      WHERE ${scope} AND ${countedSql(scope)}
    ) GROUP BY ancestor HAVING ${having}`
}
