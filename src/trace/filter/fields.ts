import { parseUuid } from '../../base/ids.ts'
import { isObject } from '../../schema/json.ts'
import { formatDecimal, parseDecimal } from '../price/decimal.ts'
import { type FilterArgument, type FilterLiteral, badFilter } from './syntax.ts'
import { RUN_TYPES } from '../derive/derive.ts'
import { parseTime } from '../derive/time.ts'

/** The type of a field's values, which determines its operators. */
export type FieldType =
  | 'text'
  | 'word'
  | 'searched'
  | 'entry'
  | 'uuid'
  | 'count'
  | 'score'
  | 'cost'
  | 'time'
  | 'seconds'
  | 'flag'
  | 'listed'

/**
 * Fields that a filter reads. `inputs` and `outputs` are their previews. `check_…` are the verdicts of llm TraceRuns,
 * `issue` is any of a TraceRun's issue codes, `input_source` and `output_source` are the sources of its token counts,
 * `user` and `api_key` its senders; `trace_failed` is true if any TraceRun of its trace failed.
 */
export const FIELDS = {
  id: 'uuid',
  trace_id: 'uuid',
  parent_run_id: 'uuid',
  session: 'uuid',
  name: 'text',
  run_type: 'word',
  status: 'word',
  error: 'text',
  thread_id: 'text',
  provider: 'text',
  model: 'text',
  inputs: 'searched',
  outputs: 'searched',
  start_time: 'time',
  end_time: 'time',
  first_token_time: 'time',
  latency: 'seconds',
  ttft: 'seconds',
  tokens_per_second: 'count',
  total_tokens: 'count',
  prompt_tokens: 'count',
  completion_tokens: 'count',
  total_cost: 'cost',
  prompt_cost: 'cost',
  completion_cost: 'cost',
  metadata_key: 'entry',
  metadata_value: 'entry',
  feedback_key: 'entry',
  feedback_score: 'score',
  trace_failed: 'flag',
  check_run_type: 'flag',
  check_format: 'flag',
  check_model: 'flag',
  check_usage: 'flag',
  issue: 'listed',
  input_source: 'word',
  output_source: 'word',
  price_model_id: 'text',
  user: 'uuid',
  api_key: 'uuid',
} as const satisfies Record<string, FieldType>

export type FilterField = keyof typeof FIELDS

/** Other names that clients use for a field. */
const ALIASES: Readonly<Record<string, FilterField>> = {
  run_id: 'id',
  session_id: 'session',
  project_id: 'session',
  user_id: 'user',
  api_key_id: 'api_key',
}

/** Fields with special operators. */
const SPECIAL = ['is_root', 'tags', 'metadata']

/**
 * The value of a comparison: text and uuids unchanged; a count as a number; a cost as decimal text; a time in epoch
 * microseconds; latency and ttft in microseconds; a flag as 1 or 0. With metadata_value, numbers are compared by size
 * and texts alphabetically.
 */
export type FilterValue = string | number

/** A comparison of values; `neq` is the negation of `eq`. */
export type Comparison = 'eq' | 'gt' | 'gte' | 'lt' | 'lte'

const STATUSES: ReadonlySet<string> = new Set(['pending', 'success', 'error'])
const DURATION = /^(-?\d+(?:\.\d+)?)\s*(us|ms|s|m|h|d)$/
const MICROS = { us: 1, ms: 1e3, s: 1e6, m: 6e7, h: 3.6e9, d: 8.64e10 }

/** Reads an operator's first argument as a name. This and the following functions throw AppError `invalid_request`. */
export function nameOf(argument: FilterArgument): string {
  if (argument.kind === 'name') return argument.name
  throw badFilter(argument.at, 'expected the name of a field, without quotes.')
}

/** The field that an operator's first argument names. */
export function fieldOf(argument: FilterArgument): FilterField {
  const name = nameOf(argument)
  if (isField(name)) return name
  const alias = Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined
  if (alias) return alias
  if (SPECIAL.includes(name)) throw badFilter(argument.at, `"${name}" does not take this operator.`)
  throw badFilter(
    argument.at,
    `"${name}" is no field; these are: ${[...SPECIAL, ...Object.keys(FIELDS)].join(', ')}.`,
  )
}

function isField(name: string): name is FilterField {
  return Object.hasOwn(FIELDS, name)
}

/** A value argument of an operator, null included. */
export function literalOf(argument: FilterArgument): FilterLiteral {
  if (argument.kind === 'literal') return argument
  const hint = argument.kind === 'name' ? `; text needs quotes: "${argument.name}"` : ''
  throw badFilter(argument.at, `expected a value${hint}.`)
}

/** A text of at least one character. */
export function textOf({ value, at }: FilterLiteral): string {
  if (typeof value === 'string' && value !== '') return value
  throw badFilter(at, 'expected a text in quotes that is not empty.')
}

/** Parses the JSON object in a quoted text. The backslashes of the JSON may be doubled because of the quotes. */
export function objectOf(literal: FilterLiteral): Record<string, unknown> {
  for (const text of [literal.value, literal.source]) {
    try {
      const parsed: unknown = typeof text === 'string' ? JSON.parse(text) : undefined
      if (isObject(parsed)) return parsed
    } catch {
      // The text is not JSON in this spelling. The next spelling is tried, and then the error below is thrown.
    }
  }
  throw badFilter(literal.at, `expected a JSON object in quotes such as '{"key": "value"}'.`)
}

export function valueOf(field: FilterField, literal: FilterLiteral, is: Comparison): FilterValue {
  const { value, source, at } = literal
  switch (FIELDS[field]) {
    case 'uuid':
      return known(parseUuid(value), at, 'a UUID in quotes')
    case 'time':
      return known(parseTime(value), at, 'a time such as "2026-11-20T09:00:00Z"')
    case 'seconds':
      return known(microsOf(value), at, 'seconds, or a duration such as "5s" or "250ms"')
    case 'count':
    case 'score':
      return known(typeof value === 'number' && Number.isFinite(value) ? value : undefined, at, 'a number')
    case 'cost': {
      const cost = typeof value === 'number' || typeof value === 'string' ? parseDecimal(source) : undefined
      return known(
        cost === undefined ? undefined : formatDecimal(cost),
        at,
        'an amount of dollars below 10^20',
      )
    }
    case 'entry':
      if (value === null) throw badFilter(at, 'expected a text, a number, true or false.')
      return field === 'metadata_value' && is !== 'eq' && typeof value === 'number'
        ? finite(value, at)
        : String(value)
    case 'flag':
      return known(typeof value === 'boolean' ? Number(value) : undefined, at, 'true or false')
    case 'word':
      return known(typeof value === 'string' ? wordOf(value) : undefined, at, 'a text in quotes')
    default:
      return known(typeof value === 'string' ? value : undefined, at, 'a text in quotes')
  }
}

/** Converts types and statuses, which are in upper case in API v2, to the lower case of rows. */
function wordOf(value: string): string {
  const lower = value.toLowerCase()
  return RUN_TYPES.has(lower) || STATUSES.has(lower) ? lower : value
}

function known<T>(value: T | undefined, at: number, what: string): T {
  if (value !== undefined) return value
  throw badFilter(at, `expected ${what}.`)
}

function finite(value: number, at: number): number {
  return known(Number.isFinite(value) ? value : undefined, at, 'a finite number')
}

function microsOf(value: FilterLiteral['value']): number | undefined {
  if (typeof value === 'number') return whole(value * 1e6)
  const match = typeof value === 'string' ? DURATION.exec(value.trim()) : null
  if (!match) return undefined
  return whole(Number(match[1]) * MICROS[match[2] as keyof typeof MICROS])
}

function whole(micros: number): number | undefined {
  const rounded = Math.round(micros)
  return Number.isSafeInteger(rounded) ? rounded : undefined
}
