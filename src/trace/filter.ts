import {
  type Comparison,
  FIELDS,
  type FieldType,
  type FilterField,
  type FilterValue,
  fieldOf,
  literalOf,
  nameOf,
  objectOf,
  textOf,
  valueOf,
} from './filter-fields.ts'
import {
  type FilterArgument,
  type FilterCall,
  type FilterLiteral,
  badFilter,
  readFilterSyntax,
} from './filter-syntax.ts'

/**
 * A condition on a TraceRun. It holds or it does not: a comparison with what is unknown does not hold. `missing`
 * holds where the field is null; `search` where one of the fields holds the text in any case; `tagged` for any of
 * the tags; `entry` when one entry of the metadata satisfies all of `of`, which alone names metadata_key and
 * metadata_value.
 */
export type Filter =
  | { kind: 'and' | 'or'; of: Filter[] }
  | { kind: 'not' | 'entry'; of: Filter }
  | { kind: 'missing'; field: FilterField }
  | { kind: 'compare'; field: FilterField; is: Comparison; value: FilterValue }
  | { kind: 'in'; field: FilterField; values: FilterValue[] }
  | { kind: 'search'; fields: FilterField[]; text: string }
  | { kind: 'tagged'; tags: string[] }

/** A condition, and whether it is one on the TraceRun or waits for its other half to be one on a metadata entry. */
interface Part {
  about: 'trace_run' | 'key' | 'value'
  filter: Filter
}

/** Metadata entries that a row keeps at most. */
const MAX_ENTRIES = 32
const COMPARISONS: ReadonlySet<string> = new Set(['eq', 'gt', 'gte', 'lt', 'lte'] satisfies Comparison[])
const SEARCHED: readonly FilterField[] = ['name', 'inputs', 'outputs', 'error']
/**
 * The condition that a LangSmith filter expression states, e.g. `and(eq(run_type, "llm"), gt(latency, "5s"))`.
 * Throws AppError `invalid_request` that says where and why for anything that is none. The limits are those of
 * readFilterSyntax.
 */
export function parseFilter(text: string): Filter {
  return onTraceRun(readCall(readFilterSyntax(text)))
}

function readCall(call: FilterCall): Part {
  switch (call.name) {
    case 'and':
      return conjunction(call)
    case 'or':
      return disjunction(call)
    case 'not':
      return negation(readCall(onlyCondition(call)))
    case 'neq':
      return negation(comparison(call, 'eq'))
    case 'in':
      return membership(call)
    case 'has':
      return onRow(containment(call))
    case 'exists':
      return existence(call)
    case 'search':
      return search(call)
    default:
      if (isComparison(call.name)) return comparison(call, call.name)
      throw badFilter(
        call.at,
        `"${call.name}" is no operator; these are: and, or, not, eq, neq, gt, gte, lt, lte, in, has, exists, search.`,
      )
  }
}

function isComparison(name: string): name is Comparison {
  return COMPARISONS.has(name)
}

/** Conditions on a metadata key and on a value in one `and` speak of the same entry; several pair in their order. */
function conjunction(call: FilterCall): Part {
  const parts = conditions(call).map(readCall)
  const keys = parts.filter((part) => part.about === 'key')
  const values = parts.filter((part) => part.about === 'value')
  if (values.length === parts.length) return { about: 'value', filter: join('and', values.map(inner)) }
  if (keys.length === 1 && parts.length === 1) return keys[0]!
  if (keys.length === 0 || values.length === 0) return onRow(join('and', parts.map(onTraceRun)))
  if (keys.length > 1 && keys.length !== values.length) {
    throw badFilter(
      call.at,
      `${keys.length} conditions on metadata_key and ${values.length} on metadata_value: put each pair into an and(…) of its own.`,
    )
  }
  const entries = keys.map((key, i): Filter => {
    const of = [key, ...(keys.length === 1 ? values : [values[i]!])]
    return { kind: 'entry', of: join('and', of.map(inner)) }
  })
  const rest = parts.filter((part) => part.about === 'trace_run')
  return onRow(join('and', [...rest.map(inner), ...entries]))
}

function disjunction(call: FilterCall): Part {
  const parts = conditions(call).map(readCall)
  const { about } = parts[0]!
  const alike = parts.every((part) => part.about === about)
  return alike ? { about, filter: join('or', parts.map(inner)) } : onRow(join('or', parts.map(onTraceRun)))
}

/** "Not this key" speaks of all entries; "not this value" of the entry whose key stands beside it, if one does. */
function negation(part: Part): Part {
  return part.about === 'value'
    ? { about: 'value', filter: { kind: 'not', of: part.filter } }
    : onRow({ kind: 'not', of: onTraceRun(part) })
}

function comparison(call: FilterCall, is: Comparison): Part {
  const [subject, operand] = pair(call)
  const name = nameOf(subject)
  const value = literalOf(operand)
  if (name === 'is_root') return onRow(rootness(call, is, value))
  const field = fieldOf(subject)
  const type: FieldType = FIELDS[field]
  if (field === 'error' && is === 'eq' && typeof value.value === 'boolean') {
    return onRow(value.value ? { kind: 'not', of: { kind: 'missing', field } } : { kind: 'missing', field })
  }
  const ordered = type !== 'uuid' && type !== 'text' && field !== 'metadata_key'
  if (type === 'searched' || (is !== 'eq' && !ordered)) throw wrongOperator(call, field)
  if (value.value !== null)
    return onField(field, { kind: 'compare', field, is, value: valueOf(field, value, is) })
  if (is !== 'eq' || type === 'entry')
    throw badFilter(value.at, `${call.name}(${field}, …) cannot take null.`)
  return onRow({ kind: 'missing', field })
}

function rootness(call: FilterCall, is: Comparison, value: FilterLiteral): Filter {
  if (is !== 'eq') throw wrongOperator(call, 'is_root')
  if (typeof value.value !== 'boolean') throw badFilter(value.at, 'expected true or false.')
  const root: Filter = { kind: 'missing', field: 'parent_run_id' }
  return value.value ? root : { kind: 'not', of: root }
}

function membership(call: FilterCall): Part {
  const [subject, operand] = pair(call)
  if (operand.kind !== 'list') throw badFilter(operand.at, 'expected a list such as ["a", "b"].')
  if (nameOf(subject) === 'tags') return onRow({ kind: 'tagged', tags: operand.items.map(textOf) })
  const field = fieldOf(subject)
  if (FIELDS[field] === 'searched' || FIELDS[field] === 'cost') throw wrongOperator(call, field)
  return onField(field, {
    kind: 'in',
    field,
    values: operand.items.map((item) => valueOf(field, item, 'eq')),
  })
}

/** `has(tags, "x")`, and `has(metadata, '{"k": "v"}')`: every entry of the object. */
function containment(call: FilterCall): Filter {
  const [subject, operand] = pair(call)
  const name = nameOf(subject)
  const value = literalOf(operand)
  if (name === 'tags') return { kind: 'tagged', tags: [textOf(value)] }
  if (name !== 'metadata') {
    throw badFilter(subject.at, 'has(…) takes tags or metadata; for text use search(field, "text").')
  }
  const entries = Object.entries(objectOf(value))
  if (entries.length === 0 || entries.length > MAX_ENTRIES) {
    throw badFilter(value.at, `expected an object of 1 to ${MAX_ENTRIES} entries.`)
  }
  const filters = entries.map(([key, held]): Filter => {
    if (held === null || typeof held === 'object' || held === undefined) {
      throw badFilter(
        value.at,
        `the value of "${key}" is no text, number or boolean; others are not indexed.`,
      )
    }
    return entry(key, { kind: 'compare', field: 'metadata_value', is: 'eq', value: String(held) })
  })
  return join('and', filters)
}

/** `exists(field)`, and `exists(metadata, "k")`. */
function existence(call: FilterCall): Part {
  const [subject, key] = call.args
  if (subject && nameOf(subject) === 'metadata') {
    if (!key || call.args.length > 2) throw badFilter(call.at, 'expected exists(metadata, "key").')
    return onRow(entry(textOf(literalOf(key))))
  }
  if (!subject || key) throw badFilter(call.at, 'expected exists(field) or exists(metadata, "key").')
  const field = fieldOf(subject)
  if (FIELDS[field] === 'entry' || FIELDS[field] === 'searched') throw wrongOperator(call, field)
  return onRow({ kind: 'not', of: { kind: 'missing', field } })
}

/** `search("text")` looks at every text of the row, `search(field, "text")` at one. */
function search(call: FilterCall): Part {
  const [first, second] = call.args
  if (!first || call.args.length > 2) {
    throw badFilter(call.at, 'expected search("text") or search(field, "text").')
  }
  if (!second) return onRow({ kind: 'search', fields: [...SEARCHED], text: textOf(literalOf(first)) })
  const field = fieldOf(first)
  const type: FieldType = FIELDS[field]
  if (type !== 'text' && type !== 'searched' && type !== 'entry') throw wrongOperator(call, field)
  return onField(field, { kind: 'search', fields: [field], text: textOf(literalOf(second)) })
}

function entry(key: string, value?: Filter): Filter {
  const named: Filter = { kind: 'compare', field: 'metadata_key', is: 'eq', value: key }
  return { kind: 'entry', of: value ? join('and', [named, value]) : named }
}

function inner(part: Part): Filter {
  return part.filter
}

function onRow(filter: Filter): Part {
  return { about: 'trace_run', filter }
}

function onField(field: FilterField, filter: Filter): Part {
  if (field === 'metadata_key') return { about: 'key', filter }
  return { about: field === 'metadata_value' ? 'value' : 'trace_run', filter }
}

/** The condition as one on the TraceRun: without its other half, each test of a key or value is about any entry. */
function onTraceRun(part: Part): Filter {
  return part.about === 'trace_run' ? part.filter : onAnyEntry(part.filter)
}

function onAnyEntry(filter: Filter): Filter {
  if (filter.kind === 'and' || filter.kind === 'or')
    return { kind: filter.kind, of: filter.of.map(onAnyEntry) }
  if (filter.kind === 'not') return { kind: 'not', of: onAnyEntry(filter.of) }
  return { kind: 'entry', of: filter }
}

function join(kind: 'and' | 'or', filters: Filter[]): Filter {
  return filters.length === 1 ? filters[0]! : { kind, of: filters }
}

function conditions(call: FilterCall): FilterCall[] {
  if (call.args.length === 0) throw badFilter(call.at, `${call.name}(…) needs at least one condition.`)
  return call.args.map((argument) => {
    if (argument.kind === 'call') return argument
    throw badFilter(argument.at, `expected a condition such as eq(run_type, "llm") in ${call.name}(…).`)
  })
}

function onlyCondition(call: FilterCall): FilterCall {
  const [only, ...more] = conditions(call)
  if (more.length > 0) throw badFilter(more[0]!.at, 'not(…) takes one condition; join several with and(…).')
  return only!
}

function pair(call: FilterCall): [FilterArgument, FilterArgument] {
  const [subject, operand] = call.args
  if (!subject || !operand || call.args.length > 2) {
    throw badFilter(call.at, `${call.name}(…) takes a field and a value.`)
  }
  return [subject, operand]
}

function wrongOperator(call: FilterCall, field: string): Error {
  return badFilter(call.at, `"${field}" does not take ${call.name}(…).`)
}
