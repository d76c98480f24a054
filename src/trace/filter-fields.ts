import { parseUuid } from '../base/ids.ts'
import { isObject } from '../schema/json.ts'
import { formatDecimal, parseDecimal } from './decimal.ts'
import { type FilterArgument, type FilterLiteral, badFilter } from './filter-syntax.ts'
import { parseTime } from './time.ts'

/** What the values of a field are, and so which operators it takes. */
export type FieldType = 'text' | 'searched' | 'entry' | 'uuid' | 'count' | 'cost' | 'time' | 'seconds'

/** Fields that a filter reads. `inputs` and `outputs` are their previews. */
export const FIELDS = {
  id: 'uuid',
  trace_id: 'uuid',
  parent_run_id: 'uuid',
  session: 'uuid',
  name: 'text',
  run_type: 'text',
  status: 'text',
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
} as const satisfies Record<string, FieldType>

/** The name of a field in a parsed filter. */
export type FilterField = keyof typeof FIELDS

/** Other names under which clients know a field. */
const ALIASES: Readonly<Record<string, FilterField>> = {
  run_id: 'id',
  session_id: 'session',
  project_id: 'session',
}

/** Fields with operators of their own. */
const SPECIAL = ['is_root', 'tags', 'metadata']

/**
 * Text and uuids as they are; a count as a number; a cost as a decimal text; a time in epoch microseconds; latency
 * and ttft in microseconds. On metadata_value a number compares by size and text by its order.
 */
export type FilterValue = string | number

/** How a value compares; `neq` is the negation of `eq`. */
export type Comparison = 'eq' | 'gt' | 'gte' | 'lt' | 'lte'

const DURATION = /^(-?\d+(?:\.\d+)?)\s*(us|ms|s|m|h|d)$/
const MICROS = { us: 1, ms: 1e3, s: 1e6, m: 6e7, h: 3.6e9, d: 8.64e10 }

/** The name that an operator's first argument is; throws like the others here: AppError `invalid_request`. */
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
  if (name.startsWith('feedback_')) {
    throw badFilter(argument.at, 'filters on feedback are not supported; read it with GET /api/v1/feedback.')
  }
  if (SPECIAL.includes(name)) throw badFilter(argument.at, `"${name}" does not take this operator.`)
  throw badFilter(
    argument.at,
    `"${name}" is no field; these are: ${[...SPECIAL, ...Object.keys(FIELDS)].join(', ')}.`,
  )
}

function isField(name: string): name is FilterField {
  return Object.hasOwn(FIELDS, name)
}

/** The value that an argument is, null included. */
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

/** The object in a JSON text; also one whose backslashes were not doubled for the quotes around it. */
export function objectOf(literal: FilterLiteral): Record<string, unknown> {
  for (const text of [literal.value, literal.source]) {
    try {
      const parsed: unknown = typeof text === 'string' ? JSON.parse(text) : undefined
      if (isObject(parsed)) return parsed
    } catch {
      // The other spelling, then the error below.
    }
  }
  throw badFilter(literal.at, `expected a JSON object in quotes such as '{"key": "value"}'.`)
}

/** The value in the unit of its field. */
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
    default:
      return known(typeof value === 'string' ? value : undefined, at, 'a text in quotes')
  }
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
