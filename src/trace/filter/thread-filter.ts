import { parseTime } from '../derive/time.ts'
import { literalOf, nameOf } from './fields.ts'
import { badFilter, type FilterArgument, type FilterCall, readFilterSyntax } from './syntax.ts'

/** The fields of a thread that a thread_filter reads; times in epoch microseconds, latencies in seconds. */
export interface FilteredThread {
  thread_id: string
  count: number
  num_errored_turns: number
  start_time: number
  min_start_time: number
  max_start_time: number
  first_inputs: string
  last_outputs: string
  last_error: string | null
  latency_p50: number | null
  latency_p95: number | null
  latency_p99: number | null
  total_tokens: number
  total_cost: number | null
}

/** True for a thread that satisfies the condition; a comparison with an unknown value is false. */
export type ThreadFilter = (thread: FilteredThread) => boolean

type Field = keyof FilteredThread
type Value = string | number

const KINDS: Readonly<Record<Field, 'text' | 'number' | 'time' | 'seconds'>> = {
  thread_id: 'text',
  count: 'number',
  num_errored_turns: 'number',
  start_time: 'time',
  min_start_time: 'time',
  max_start_time: 'time',
  first_inputs: 'text',
  last_outputs: 'text',
  last_error: 'text',
  latency_p50: 'seconds',
  latency_p95: 'seconds',
  latency_p99: 'seconds',
  total_tokens: 'number',
  total_cost: 'number',
}
const SEARCHED: readonly Field[] = ['thread_id', 'first_inputs', 'last_outputs', 'last_error']
const DURATION = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/
const SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 }

const HOLDS: Readonly<Record<string, (a: Value, b: Value) => boolean>> = {
  eq: (a, b) => a === b,
  gt: (a, b) => a > b,
  gte: (a, b) => a >= b,
  lt: (a, b) => a < b,
  lte: (a, b) => a <= b,
}

/**
 * Parses a filter on threads, e.g. `and(gt(count, 3), gte(latency_p99, "5s"))`: and, or, not, eq, neq, gt, gte, lt,
 * lte, in, exists and search. Throws AppError `invalid_request` with position and reason if it is invalid.
 */
export function parseThreadFilter(text: string): ThreadFilter {
  return conditionOf(readFilterSyntax(text))
}

function conditionOf(call: FilterCall): ThreadFilter {
  const holds = Object.hasOwn(HOLDS, call.name) ? HOLDS[call.name] : undefined
  if (holds !== undefined) return comparison(call, holds)
  switch (call.name) {
    case 'and':
    case 'or': {
      const all = call.args.map(callOf).map(conditionOf)
      if (all.length === 0) throw badFilter(call.at, `${call.name} needs conditions.`)
      return call.name === 'and'
        ? (thread) => all.every((one) => one(thread))
        : (thread) => all.some((one) => one(thread))
    }
    case 'not': {
      const of = conditionOf(callOf(argument(call, 0, 1)))
      return (thread) => !of(thread)
    }
    case 'neq': {
      const of = comparison(call, HOLDS['eq']!)
      return (thread) => !of(thread)
    }
    case 'in':
      return membership(call)
    case 'exists': {
      const field = fieldOf(argument(call, 0, 1))
      return (thread) => thread[field] !== null && thread[field] !== ''
    }
    case 'search':
      return search(call)
    default:
      throw badFilter(
        call.at,
        `"${call.name}" is no operator; these are: and, or, not, eq, neq, gt, gte, lt, lte, in, exists, search.`,
      )
  }
}

function comparison(call: FilterCall, holds: (a: Value, b: Value) => boolean): ThreadFilter {
  const field = fieldOf(argument(call, 0, 2))
  const value = valueOf(field, argument(call, 1, 2))
  return (thread) => thread[field] !== null && holds(thread[field], value)
}

function membership(call: FilterCall): ThreadFilter {
  const field = fieldOf(argument(call, 0, 2))
  const list = argument(call, 1, 2)
  if (list.kind !== 'list') throw badFilter(list.at, 'expected a list of values.')
  const values = new Set(list.items.map((item) => valueOf(field, item)))
  return (thread) => thread[field] !== null && values.has(thread[field])
}

function search(call: FilterCall): ThreadFilter {
  const literal = literalOf(argument(call, 0, 1))
  const text = String(literal.value).toLowerCase()
  return (thread) =>
    SEARCHED.some((field) =>
      String(thread[field] ?? '')
        .toLowerCase()
        .includes(text),
    )
}

function argument(call: FilterCall, index: number, count: number): FilterArgument {
  const found = call.args[index]
  if (found === undefined || call.args.length !== count)
    throw badFilter(call.at, `${call.name} takes ${count} argument${count === 1 ? '' : 's'}.`)
  return found
}

function callOf(found: FilterArgument): FilterCall {
  if (found.kind === 'call') return found
  throw badFilter(found.at, 'expected a condition.')
}

function fieldOf(found: FilterArgument): Field {
  const name = nameOf(found)
  if (Object.hasOwn(KINDS, name)) return name as Field
  throw badFilter(found.at, `"${name}" is no field of threads; these are: ${Object.keys(KINDS).join(', ')}.`)
}

function valueOf(field: Field, found: FilterArgument): Value {
  const { value, at } = literalOf(found)
  const read = KINDS[field] === 'text' ? String(value) : numberOf(KINDS[field], value)
  if (read === undefined) throw badFilter(at, `expected a ${KINDS[field]} to compare ${field} with.`)
  return read
}

function numberOf(kind: string, value: unknown): number | undefined {
  if (kind === 'time') return typeof value === 'string' ? parseTime(value) : undefined
  if (typeof value === 'number') return value
  const [, count, unit] = (kind === 'seconds' && typeof value === 'string' && DURATION.exec(value)) || []
  return count === undefined || unit === undefined ? undefined : Number(count) * SECONDS[unit]!
}
