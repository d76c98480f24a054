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
} from './fields.ts'
import {
  type FilterArgument,
  type FilterCall,
  type FilterLiteral,
  badFilter,
  readFilterSyntax,
} from './syntax.ts'

/**
 * A condition on a TraceRun. It is true or false: a comparison with an unknown value is false. `missing` is true if the
 * field is null; `search` if one of the fields contains the text, ignoring case; `listed` if the list contains any of
 * the values; `entry` if one entry of the metadata, or one feedback record of the TraceRun, satisfies all of `of`. The
 * fields metadata_key, metadata_value, feedback_key and feedback_score occur only inside `of`.
 */
export type Filter =
  | { kind: 'and' | 'or'; of: Filter[] }
  | { kind: 'not'; of: Filter }
  | { kind: 'entry'; among: EntryList; of: Filter }
  | { kind: 'missing'; field: FilterField }
  | { kind: 'compare'; field: FilterField; is: Comparison; value: FilterValue }
  | { kind: 'in'; field: FilterField; values: FilterValue[] }
  | { kind: 'search'; fields: SearchField[]; text: string }
  | { kind: 'listed'; list: 'tags' | 'issues'; values: string[] }

/**
 * Text that a search reads. `metadata` is all metadata; `inputs`, `outputs` and `error` are the complete
 * payloads.
 */
export type SearchField = FilterField | 'metadata'

/** Lists of a TraceRun whose entries have a key and a value. */
type EntryList = 'metadata' | 'feedback'

/** A condition on the TraceRun, or on the key or the value of an entry of a list. */
type Part =
  | { about: 'trace_run'; filter: Filter }
  | { about: 'key' | 'value'; among: EntryList; filter: Filter }
type Half = Exclude<Part, { about: 'trace_run' }>
const HALVES: Partial<Record<FilterField, Omit<Half, 'filter'>>> = {
  metadata_key: { about: 'key', among: 'metadata' },
  metadata_value: { about: 'value', among: 'metadata' },
  feedback_key: { about: 'key', among: 'feedback' },
  feedback_score: { about: 'value', among: 'feedback' },
}
const LISTS: readonly EntryList[] = ['metadata', 'feedback']

const TEXTS: ReadonlySet<FieldType> = new Set(['text', 'word', 'searched', 'entry'])

const UNORDERED: ReadonlySet<FieldType> = new Set(['uuid', 'text', 'word', 'flag', 'listed'])

/** Maximum number of metadata entries in a row. */
const MAX_ENTRIES = 32
const COMPARISONS: ReadonlySet<string> = new Set(['eq', 'gt', 'gte', 'lt', 'lte'] satisfies Comparison[])
const SEARCHED: readonly SearchField[] = ['name', 'inputs', 'outputs', 'error', 'metadata']

/** The condition of `search("…")`. */
export function searchFor(text: string): Filter {
  return { kind: 'search', fields: [...SEARCHED], text }
}

/**
 * Parses a LangSmith filter expression, e.g. `and(eq(run_type, "llm"), gt(latency, "5s"))`. Throws AppError
 * `invalid_request` with position and reason if it is invalid. The limits are those of readFilterSyntax.
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

/**
 * The condition of an `and`. Conditions on a key and on a value within the same `and` apply to the same entry;
 * several keys and values are paired in order.
 */
function conjunction(call: FilterCall): Part {
  const parts = conditions(call).map(readCall)
  const [first] = parts
  const isAlone = first?.about === 'key' && parts.length === 1
  if (isAlone || (first?.about === 'value' && parts.every((part) => isAlike(part, first))))
    return { ...first, filter: join('and', parts.map(inner)) }
  const entries = LISTS.flatMap((among) => entriesOf(call, among, parts.filter(isHalf)))
  const whole = parts.filter((part) => part.about === 'trace_run')
  return onRow(join('and', [...whole.map(inner), ...entries]))
}

/**
 * Conditions on the entries of one list: each condition on a key is joined with the condition on its value, if there
 * is one.
 */
function entriesOf(call: FilterCall, among: EntryList, halves: readonly Half[]): Filter[] {
  const own = halves.filter((half) => half.among === among)
  const keys = own.filter((half) => half.about === 'key')
  const values = own.filter((half) => half.about === 'value')
  if (keys.length === 0 || values.length === 0) return own.map(onTraceRun)
  if (keys.length > 1 && keys.length !== values.length) {
    const value = among === 'metadata' ? 'metadata_value' : 'feedback_score'
    throw badFilter(
      call.at,
      `${keys.length} conditions on ${among}_key and ${values.length} on ${value}: put each pair into an and(…) of its own.`,
    )
  }
  return keys.map((key, i): Filter => {
    const of = [key, ...(keys.length === 1 ? values : [values[i]!])]
    return { kind: 'entry', among, of: join('and', of.map(inner)) }
  })
}

function disjunction(call: FilterCall): Part {
  const parts = conditions(call).map(readCall)
  const first = parts[0]!
  if (!parts.every((part) => isAlike(part, first))) return onRow(join('or', parts.map(onTraceRun)))
  return { ...first, filter: join('or', parts.map(inner)) }
}

/**
 * The condition of `not`. A negated key means that no entry has the key. A negated value means that an entry has
 * another value; a key in the same `and` selects that entry.
 */
function negation(part: Part): Part {
  return part.about === 'value'
    ? { ...part, filter: { kind: 'not', of: part.filter } }
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
  const ordered = !UNORDERED.has(type) && HALVES[field]?.about !== 'key'
  if (type === 'searched' || (is !== 'eq' && !ordered)) throw wrongOperator(call, field)
  if (type === 'listed' && value.value !== null)
    return onRow({ kind: 'listed', list: 'issues', values: [textOf(value)] })
  if (value.value !== null)
    return onField(field, { kind: 'compare', field, is, value: valueOf(field, value, is) })
  if (is !== 'eq' || HALVES[field] !== undefined)
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
  if (nameOf(subject) === 'tags')
    return onRow({ kind: 'listed', list: 'tags', values: operand.items.map(textOf) })
  const field = fieldOf(subject)
  const type: FieldType = FIELDS[field]
  if (type === 'listed') return onRow({ kind: 'listed', list: 'issues', values: operand.items.map(textOf) })
  if (type === 'searched' || type === 'cost' || type === 'flag') throw wrongOperator(call, field)
  return onField(field, {
    kind: 'in',
    field,
    values: operand.items.map((item) => valueOf(field, item, 'eq')),
  })
}

/**
 * `has(tags, "x")`, and `has(metadata, '{"k": "v"}')`, which is true if the metadata has every entry of the object.
 */
function containment(call: FilterCall): Filter {
  const [subject, operand] = pair(call)
  const name = nameOf(subject)
  const value = literalOf(operand)
  if (name === 'tags') return { kind: 'listed', list: 'tags', values: [textOf(value)] }
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
  if (HALVES[field] !== undefined || FIELDS[field] === 'searched') throw wrongOperator(call, field)
  return onRow({ kind: 'not', of: { kind: 'missing', field } })
}

/** `search("text")` searches every text of the TraceRun, `search(field, "text")` one. */
function search(call: FilterCall): Part {
  const [first, second] = call.args
  if (!first || call.args.length > 2) {
    throw badFilter(call.at, 'expected search("text") or search(field, "text").')
  }
  if (!second) return onRow(searchFor(textOf(literalOf(first))))
  const text = textOf(literalOf(second))
  if (nameOf(first) === 'metadata') return onRow({ kind: 'search', fields: ['metadata'], text })
  const field = fieldOf(first)
  const type: FieldType = FIELDS[field]
  if (!TEXTS.has(type)) throw wrongOperator(call, field)
  return onField(field, { kind: 'search', fields: [field], text })
}

function entry(key: string, value?: Filter): Filter {
  const named: Filter = { kind: 'compare', field: 'metadata_key', is: 'eq', value: key }
  return { kind: 'entry', among: 'metadata', of: value ? join('and', [named, value]) : named }
}

function inner(part: Part): Filter {
  return part.filter
}

function onRow(filter: Filter): Part {
  return { about: 'trace_run', filter }
}

function onField(field: FilterField, filter: Filter): Part {
  const half = HALVES[field]
  return half === undefined ? onRow(filter) : { ...half, filter }
}

function isHalf(part: Part): part is Half {
  return part.about !== 'trace_run'
}

function isAlike(part: Part, other: Part): boolean {
  if (!isHalf(part) || !isHalf(other)) return part.about === other.about
  return part.about === other.about && part.among === other.among
}

/**
 * Converts a part to a condition on the TraceRun. A condition on only a key or only a value is true if any entry
 * satisfies it.
 */
function onTraceRun(part: Part): Filter {
  return isHalf(part) ? onAnyEntry(part.filter, part.among) : part.filter
}

function onAnyEntry(filter: Filter, among: EntryList): Filter {
  if (filter.kind === 'and' || filter.kind === 'or')
    return { kind: filter.kind, of: filter.of.map((one) => onAnyEntry(one, among)) }
  if (filter.kind === 'not') return { kind: 'not', of: onAnyEntry(filter.of, among) }
  return { kind: 'entry', among, of: filter }
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

export function looksAtFeedback(filter: Filter): boolean {
  return someCondition(filter, (one) => one.kind === 'entry' && one.among === 'feedback')
}

export function searches(filter: Filter): boolean {
  return someCondition(filter, (one) => one.kind === 'search')
}

/** The searches that every matching TraceRun satisfies. */
export function requiredSearches(filter: Filter): Extract<Filter, { kind: 'search' }>[] {
  if (filter.kind === 'search') return [filter]
  return filter.kind === 'and' ? filter.of.flatMap(requiredSearches) : []
}

function someCondition(filter: Filter, test: (one: Filter) => boolean): boolean {
  if (test(filter)) return true
  if (filter.kind === 'and' || filter.kind === 'or') return filter.of.some((one) => someCondition(one, test))
  return filter.kind === 'not' && someCondition(filter.of, test)
}
