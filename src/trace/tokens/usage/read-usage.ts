import { type JsonObject, type JsonValue, isObject, text } from '../../../schema/json.ts'
import { type Decimal, divide, parseDecimal } from '../../price/decimal.ts'
import { ANSWERS } from './dialects/answers.ts'
import { ATTRIBUTES } from './dialects/attributes.ts'
import { USAGE_METADATA } from './dialects/frameworks.ts'
import { USAGE_DIALECTS } from './dialects/index.ts'
import { createUsageTable, snakeCase, type UsageRow, type UsageTable } from './table.ts'
import {
  pathOf,
  type UnreadNumber,
  type UsageLeaf,
  walkAttributes,
  walkUsage,
  type WalkedUsage,
  withoutEnum,
} from './walk.ts'

/** The usage of one model in a call of several, as sent. */
export interface ModelUsage {
  model: string | undefined
  usage: UsageReading
}

/** What one usage object says. Counts and details are as sent: their sides may or may not include the details. */
export interface UsageReading {
  /** In the shape of usage_metadata. */
  value: JsonObject
  /** Details that their side does not include by the names of the dialect, as `input.cache_read`. */
  beside: ReadonlySet<string>
  billsGap: boolean
  units: Record<string, number>
  unit_paths: Record<string, string>
  conditions: Record<string, string>
  /** Stated costs in dollars; `client` is an estimate of the client. */
  costs: { vendor?: Decimal; client?: Decimal; input?: Decimal; output?: Decimal }
  /** Usage by model; it is a part of the counts, or all of them. */
  models: ModelUsage[]
  /** Further usage objects of the same call, with their paths. */
  nested: { value: JsonObject; path: string }[]
  unread: UnreadNumber[]
  isCut: boolean
  /** Whether a row read a count, a unit, a condition or a cost. */
  isKnown: boolean
}

const NONE: ReadonlySet<string> = new Set()

/** A reading of counts, details and costs that are known already. */
export function readingOf(value: JsonObject): UsageReading {
  return {
    value,
    beside: NONE,
    billsGap: false,
    units: {},
    unit_paths: {},
    conditions: {},
    costs: {},
    models: [],
    nested: [],
    unread: [],
    isCut: false,
    isKnown: true,
  }
}

interface Tables {
  usage: UsageTable
  metadata: UsageTable
  answers: UsageTable
  attributes: UsageTable
}
let tables: Tables | undefined
/** The tables, built at the first use. */
function builtTables(): Tables {
  tables ??= {
    usage: createUsageTable(USAGE_DIALECTS),
    metadata: createUsageTable([USAGE_METADATA]),
    answers: createUsageTable([ANSWERS]),
    attributes: createUsageTable([ATTRIBUTES]),
  }
  return tables
}

/** Reads a usage object of a vendor or a framework. `provider` decides between dialects that fit equally well. */
export function readUsage(value: JsonValue, path: string, provider?: string, depth = 0): UsageReading {
  const { usage } = builtTables()
  const walked = walkUsage(value, path, usage)
  return readLeaves(walked, usage, fittingDialect(walked, usage, provider), provider, depth)
}

/** Reads a usage_metadata object of the interface, in which any part may have a name of its own. */
export function readUsageMetadata(value: JsonObject, path: string): UsageReading {
  const { metadata } = builtTables()
  return readLeaves(walkUsage(value, path, metadata), metadata, 0, undefined, 0)
}

/** Reads an object whose keys are models and whose values are their usage objects. */
export function readUsageByModel(value: JsonObject, path: string, provider?: string): UsageReading {
  const draft = newDraft()
  draft.reading.isKnown = true
  addModels(draft, readModels(value, path, provider, 1))
  return finish(draft)
}

/** Whether the table of answers has rows for a key. */
export function isOfAnswers(key: string): boolean {
  return builtTables().answers.root.below.has(snakeCase(key))
}

/** Reads the numbers and conditions that an answer has outside of its usage objects. */
export function readAnswerFacts(value: JsonValue, path: string, provider?: string): UsageReading {
  const { answers } = builtTables()
  return readLeaves(walkUsage(value, path, answers, true), answers, 0, provider, 0)
}

/**
 * Reads the attributes of a span that are about usage, except the counts of whole sides, which may disagree; `parsed`
 * gives the value of one that contains JSON. Adds the names of all these attributes, and of costs, to `names`.
 */
export function readSpanAttributes(
  attributes: JsonObject,
  parsed: (key: string) => JsonValue | undefined,
  path: string,
  names: string[],
): UsageReading {
  const { attributes: table } = builtTables()
  return readLeaves(walkAttributes(attributes, parsed, path, table, names), table, 0, undefined, 0)
}

/** The dialect that knows most names; of equal ones that of the provider, otherwise the first. */
function fittingDialect({ fits }: WalkedUsage, { dialects, extended }: UsageTable, provider = ''): number {
  let best = 0
  let most = -1
  let isOfProvider = false
  for (let i = 0; i < dialects.length; i++) {
    let known = 0
    for (let at = i; at >= 0; at = extended[at]!) known += fits[at]!
    if (known < most || (known === most && isOfProvider)) continue
    const isOwn = provider !== '' && dialects[i]!.providers?.test(provider) === true
    if (known === most && !isOwn) continue
    best = i
    most = known
    isOfProvider = isOwn
  }
  return best
}

/** The row of the dialect, or of one that it extends, or else the first that other dialects may use. */
function rowOf(rows: readonly UsageRow[], dialect: number, { extended }: UsageTable): UsageRow | undefined {
  if (rows.length === 1 && !rows[0]!.isOwn) return rows[0]!
  for (let i = dialect; i >= 0; i = extended[i]!) {
    const own = rows.find((row) => row.dialect === i)
    if (own) return own
  }
  return rows.find(({ isOwn }) => !isOwn)
}

function readLeaves(
  { leaves, unread, isCut }: WalkedUsage,
  table: UsageTable,
  dialect: number,
  provider: string | undefined,
  depth: number,
): UsageReading {
  const draft = newDraft()
  for (const leaf of leaves) {
    const row = rowOf(leaf.rows, dialect, table)
    const { value } = leaf
    if (row === undefined) continue
    if (row.kind === 'models' || row.kind === 'parts') {
      if (depth < 2) addModels(draft, readModels(value, pathOf(leaf), provider, depth + 1))
    } else if (row.kind === 'nested') {
      if (isObject(value)) draft.reading.nested.push({ value, path: pathOf(leaf) })
    } else take(draft, row, leaf)
  }
  const reading = finish(draft)
  reading.billsGap = table.dialects[dialect]!.billsGap ?? false
  reading.unread = unread
  reading.isCut = isCut
  return reading
}

/** A reading in the making. What most usage objects do not have is made when it is needed. */
interface Draft {
  reading: UsageReading
  fallbacks: Record<string, JsonValue> | undefined
  /** The row that gave each number; numbers of the same row in a list are added. */
  givenBy: Map<string, UsageRow> | undefined
  beside: Set<string> | undefined
  costs: Record<string, Decimal> | undefined
  model_units: Record<string, number> | undefined
}

function newDraft(): Draft {
  const reading = readingOf({})
  reading.isKnown = false
  return {
    reading,
    fallbacks: undefined,
    givenBy: undefined,
    beside: undefined,
    costs: undefined,
    model_units: undefined,
  }
}

/** Maximum characters of the name of a detail, unit or condition, which becomes a key of stored rows. */
const LONGEST_KEY = 128
/** Names that rows cannot have: stored conditions have the parts by model under `models`. */
const RESERVED = new Set(['__proto__', 'models'])

function take(draft: Draft, row: UsageRow, leaf: UsageLeaf): void {
  const { reading } = draft
  const value = row.isLength ? (Array.isArray(leaf.value) ? leaf.value.length : 0) : leaf.value
  if (row.kind !== 'ignored') reading.isKnown = true
  const key = row.key === '*' || row.key === '' ? (leaf.wild ?? '') : row.key
  if (row.key === '*' && (key.length > LONGEST_KEY || RESERVED.has(key))) return
  if (row.kind === 'side') {
    const into = row.isFallback ? (draft.fallbacks ??= {}) : reading.value
    into[row.field] = joined(draft, row, '', into[row.field], value)
  } else if (row.kind === 'detail') {
    const into = (reading.value[row.field] ??= {}) as Record<string, JsonValue>
    into[key] = joined(draft, row, key, own(into, key), value)
    if (row.beside) (draft.beside ??= new Set()).add(`${row.side}.${key}`)
  } else if (row.kind === 'unit') {
    const count = toNumber(value)
    if (count) {
      reading.units[key] = Number(joined(draft, row, key, reading.units[key], count))
      reading.unit_paths[key] = pathOf(leaf)
    }
  } else if (row.kind === 'condition') {
    const word = typeof value === 'string' || typeof value === 'boolean' ? String(value) : ''
    if (word !== '') reading.conditions[key] ??= withoutEnum(word.slice(0, 100))
  } else if (row.kind === 'cost') {
    const cost = parseDecimal(value)
    if (cost !== undefined && cost >= 0n)
      (draft.costs ??= {})[key] ??= key === 'ticks' ? divide(cost, 10n ** 10n) : cost
  }
}

/**
 * Two values of one number: those of the same row, in a list, are added, and so are units of the same pattern and rows
 * that say so; otherwise the greater counts, because an answer may say a number twice.
 */
function joined(
  draft: Draft,
  row: UsageRow,
  key: string,
  known: JsonValue | undefined,
  value: JsonValue,
): JsonValue {
  // Rows for any key give a number for each.
  const name = row.key === '*' ? `${row.number} ${key}` : row.number
  const givenBy = (draft.givenBy ??= new Map())
  const before = givenBy.get(name)
  givenBy.set(name, row)
  if (known === undefined || before === undefined) return value
  const [a, b] = [toNumber(known), toNumber(value)]
  if (a === undefined || b === undefined) return a === undefined ? value : known
  const isSum =
    before === row || before.isAdded || row.isAdded || (row.kind === 'unit' && before.pattern === row.pattern)
  return isSum ? a + b : Math.max(a, b)
}

function own(record: Record<string, JsonValue>, key: string): JsonValue | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

/** The value as a number from 0 to 2^53; digits may be text. */
function toNumber(value: JsonValue | undefined): number | undefined {
  if (typeof value === 'string' && /^\d{1,15}(?:\.\d{1,15})?$/.test(value)) return Number(value)
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined
}

function finish({ reading, fallbacks, beside, costs, model_units }: Draft): UsageReading {
  if (fallbacks !== undefined) for (const field in fallbacks) reading.value[field] ??= fallbacks[field]
  if (beside !== undefined) reading.beside = beside
  if (model_units !== undefined) reading.units = { ...model_units, ...reading.units }
  reading.costs = costs === undefined ? costOfModels(reading.models) : statedCosts(costs, reading.conditions)
  return reading
}

/** With the user's own key, the cost is the router's fee and what the vendor charged. */
function statedCosts(
  costs: Record<string, Decimal>,
  conditions: Record<string, string>,
): UsageReading['costs'] {
  const stated: UsageReading['costs'] = {}
  const { total, fee, upstream, ticks, client, input, output } = costs
  const routed =
    fee !== undefined && conditions['byok'] === 'true' && upstream !== undefined ? fee + upstream : fee
  const vendor = total ?? ticks ?? routed
  if (vendor !== undefined) stated.vendor = vendor
  if (client !== undefined) stated.client = client
  if (input !== undefined) stated.input = input
  if (output !== undefined) stated.output = output
  return stated
}

/** The cost of a call that is stated for each of its models. */
function costOfModels(models: readonly ModelUsage[]): UsageReading['costs'] {
  let client: Decimal | undefined
  for (const { usage } of models) {
    const { vendor } = usage.costs
    if (vendor === undefined) return {}
    client = (client ?? 0n) + vendor
  }
  return client === undefined ? {} : { client }
}

/** Adds usage by model. Its units are those of the call, unless the call tells them itself. */
function addModels(draft: Draft, models: readonly ModelUsage[]): void {
  const { reading } = draft
  reading.models.push(...models)
  for (const { usage } of models) {
    for (const [unit, count] of Object.entries(usage.units)) {
      const sums = (draft.model_units ??= {})
      sums[unit] = (sums[unit] ?? 0) + count
      reading.unit_paths[unit] ??= usage.unit_paths[unit] ?? ''
    }
  }
}

const MOST_MODELS = 50

/** Usage by model: a list of usage objects that name their model, some with the counts in `usage`, or an object by model. */
function readModels(
  value: JsonValue,
  path: string,
  provider: string | undefined,
  depth: number,
): ModelUsage[] {
  const entries: [name: string | undefined, item: JsonValue, path: string][] = Array.isArray(value)
    ? value.map((item, i) => [undefined, item, `${path}[${i}]`])
    : isObject(value)
      ? Object.entries(value).map(([key, item]) => [key, item ?? null, `${path}.${key}`])
      : []
  return entries.slice(0, MOST_MODELS).flatMap(([name, item, at]) => {
    if (!isObject(item)) return []
    const model = text(item['model']) ?? text(item['model_id']) ?? name
    const usage = isObject(item['usage']) ? item['usage'] : item
    return [{ model, usage: readUsage(usage, at, provider, depth) }]
  })
}
