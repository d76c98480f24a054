import { type JsonObject, type JsonValue, isObject } from '../../../schema/json.ts'
import type { Issue } from '../../../schema/issue.ts'
import type { UsageMetadata } from '../../../schema/types.gen.ts'
import { parseDecimal } from '../../price/decimal.ts'
import { areParts } from '../../price/cost-details.ts'
import { SENT } from '../../price/complete-costs.ts'
import { readCount } from './read-count.ts'
import type { ModelUsage } from './read-usage.ts'
import { kindsOf, lifetimesOf, reconcile, type SentCounts } from './reconcile.ts'
import { reportUnread } from './unread.ts'
import { asObject, clientPlaces, findUsage, hasClientPlace, type FoundUsage, formatUsage } from './places.ts'
import { emptyUsage, type ModelPart, type Usage } from './record.ts'

/** Facts about the call that its usage objects do not have. */
export interface UsageHints {
  run_type: string
  provider?: string | undefined
  /** Whether the vendor bills tokens of its total beyond input and output. */
  billsGap?: boolean
  model?: string | undefined
  /** The counts that a user's own processor found. */
  ofFormat?: UsageMetadata | undefined
}

/**
 * The reported usage of a TraceRun. The places are read in order, attributes of a span (`span`) first. Counts are those
 * of the first place that has some; a side that it lacks is that of the next place. Details, units and conditions that
 * the first place lacks are those of the others, details only if the side has the same count there.
 */
export function reportedUsage(
  outputs: JsonValue | undefined,
  metadata: JsonObject,
  issues: Issue[],
  hints: UsageHints,
  span: readonly FoundUsage[] = [],
): Usage {
  const usage = emptyUsage()
  reportUnreadable(outputs, metadata, issues)
  const places = findUsage(outputs, metadata, span, hints.provider)
  if (hints.ofFormat !== undefined) places.push(formatUsage(hints.ofFormat))
  if (places.length === 0 && metadata['usage_metadata'] === undefined) return usage
  if (places.length > 1) shareDetails(places)
  const whole: Whole[] = []
  for (const place of places) {
    const counts = wholeCounts(place, hints, whole, issues)
    if (counts !== undefined) whole.push(counts)
  }
  takeCounts(usage, whole)
  const hasModels = whole.some(({ models }) => models.length > 0)
  if (hasModels) takeMoreOfModels(usage, whole)
  if (whole.length > 1) {
    for (const counts of whole) fillDetails(usage, counts)
    reportConflict(whole, issues)
  }
  for (const { reading } of places) {
    addMissing(usage.units, reading.units)
    addMissing(usage.conditions, reading.conditions)
    for (const unit in reading.units) (usage.unit_paths ??= {})[unit] ??= reading.unit_paths[unit] ?? ''
  }
  if (chargesGroundingOnce(hints.model, usage)) usage.units['web_searches'] = 1
  takeCosts(usage, places, metadata, issues)
  if (hasModels) takeModels(usage, whole)
  reportUnread(places, usage, issues)
  return usage
}

/** Reports usage_metadata that is no object; null stands for none. */
function reportUnreadable(outputs: JsonValue | undefined, metadata: JsonObject, issues: Issue[]): void {
  if (!hasClientPlace(outputs, metadata)) return
  for (const [path, sent] of clientPlaces(outputs, metadata)) {
    if (sent === undefined || sent === null || sent === '' || asObject(sent) !== undefined) continue
    issues.push({
      code: 'usage_unread',
      severity: 'warning',
      path,
      message: 'usage_metadata is not an object and was ignored.',
      fix: 'Send an object with input_tokens and output_tokens.',
    })
  }
}

/** Details of places without counts, such as a framework's notes about the vendor, become those of the first with some. */
function shareDetails(places: readonly FoundUsage[]): void {
  const hasCounts = ({ reading: { value } }: FoundUsage): boolean =>
    SIDES.some((side) => value[`${side}_tokens`] !== undefined)
  const first = places.find(hasCounts)
  if (first === undefined) return
  for (const place of places) {
    if (hasCounts(place) || place.reading.models.length > 0) continue
    for (const side of SIDES) {
      const more = place.reading.value[`${side}_token_details`]
      if (isObject(more))
        addMissing((first.reading.value[`${side}_token_details`] ??= {}) as JsonObject, more)
    }
    if (place.reading.beside.size > 0)
      first.reading.beside = new Set([...first.reading.beside, ...place.reading.beside])
  }
}

const SIDES = ['input', 'output'] as const

/** A vendor's usage object in the shape of usage_metadata, with all details inside their sides. */
export function wholeUsage(sent: JsonObject): JsonObject | undefined {
  const { input_tokens, output_tokens, input_token_details, output_token_details } = reportedUsage(
    { usage: sent },
    {},
    [],
    { run_type: 'llm' },
  )
  if (input_tokens === undefined && output_tokens === undefined) return undefined
  return {
    ...(input_tokens === undefined ? {} : { input_tokens }),
    ...(output_tokens === undefined ? {} : { output_tokens }),
    input_token_details,
    output_token_details,
  }
}

/** Google charges for each query of a grounded answer only since Gemini 3; before, once for an answer. */
function chargesGroundingOnce(model: string | undefined, { units, unit_paths }: Usage): boolean {
  if ((units['web_searches'] ?? 0) <= 1) return false
  const isOfGoogle = /web_?search_?queries$/i.test(unit_paths?.['web_searches'] ?? '')
  return isOfGoogle && /gemini-[12][.-]/.test(model ?? '')
}

function addMissing<T>(known: Record<string, T>, more: Readonly<Record<string, T>>): void {
  for (const key in more) if (!Object.hasOwn(known, key)) known[key] = more[key]!
}

/** The counts of one place, with all details inside their sides. */
interface Whole {
  place: FoundUsage
  input?: number
  output?: number
  input_token_details: Record<string, number>
  output_token_details: Record<string, number>
  models: ModelPart[]
}

/**
 * Reads the counts of a place. Faults are reported only for the places whose counts are used: those before which no
 * place has both sides.
 */
function wholeCounts(
  place: FoundUsage,
  hints: UsageHints,
  earlier: readonly Whole[],
  issues: Issue[],
): Whole | undefined {
  const isUsed = !earlier.some(({ input, output }) => input !== undefined && output !== undefined)
  const isFirst = earlier.length === 0
  const report: Issue[] = isUsed ? issues : []
  const counts = readCounts(place, hints, report, isFirst)
  const models = place.reading.models.map((it) => modelPart(it, hints))
  if (models.length > 0) addModels(counts, models)
  if (place.source === 'vendor') dropToldWrites(counts.input_token_details)
  const { input, output } = counts
  if (input === undefined && output === undefined) return undefined
  return { ...counts, place, models }
}

type Counts = Pick<Whole, 'input' | 'output' | 'input_token_details' | 'output_token_details'>

function readCounts(
  { reading, path }: FoundUsage,
  { run_type, billsGap }: UsageHints,
  issues: Issue[],
  isFirst: boolean,
): Counts {
  const { value } = reading
  const input = readCount(value['input_tokens'], path, 'input_tokens', issues)
  const output = readCount(value['output_tokens'], path, 'output_tokens', issues)
  const total = readCount(value['total_tokens'], path, 'total_tokens', issues)
  const input_token_details = readDetails(value, 'input_token_details', path, issues)
  const output_token_details = readDetails(value, 'output_token_details', path, issues)
  const details = { input_token_details, output_token_details }
  const habits = { beside: reading.beside, billsGap: billsGap === true || reading.billsGap, path }
  if (input !== undefined && output !== undefined) {
    const counts: SentCounts = { input_tokens: input, output_tokens: output, total, ...details }
    reconcile(counts, habits, issues)
    return { input: counts.input_tokens, output: counts.output_tokens, ...details }
  }
  if (input === undefined && output === undefined) {
    const only = run_type === 'llm' ? undefined : (total ?? kindsOf(input_token_details))
    return only === undefined ? details : { input: only, ...details }
  }
  if (total !== undefined && isFirst) {
    // The total gives the other side.
    if (input !== undefined && total >= input) return { input, output: total - input, ...details }
    if (output !== undefined && total >= output) return { input: total - output, output, ...details }
  }
  const counts: SentCounts = {
    input_tokens: input ?? 0,
    output_tokens: output ?? 0,
    total: undefined,
    ...details,
  }
  reconcile(counts, habits, issues)
  return {
    ...(input === undefined ? {} : { input: counts.input_tokens }),
    ...(output === undefined ? {} : { output: counts.output_tokens }),
    ...details,
  }
}

/** Number of details of a side that are read. */
const MOST_DETAILS = 50

function readDetails(
  value: JsonObject,
  key: 'input_token_details' | 'output_token_details',
  path: string,
  issues: Issue[],
): Record<string, number> {
  const details: Record<string, number> = {}
  const raw = value[key]
  if (!isObject(raw)) return details
  const base = `${path}.${key}`
  let left = MOST_DETAILS
  for (const name in raw) {
    if (left-- <= 0) break
    const read = readCount(raw[name], base, name, issues)
    if (read !== undefined && isDetailName(name)) details[name] = read
  }
  return details
}

/** Whether a name is allowed. Its form is restricted, because names become keys of stored rows. */
function isDetailName(name: string): boolean {
  return name !== '__proto__' && name.length <= 128
}

function modelPart({ model, usage }: ModelUsage, hints: UsageHints): ModelPart {
  const place: FoundUsage = { reading: usage, path: '', source: 'vendor' }
  const { input = 0, output = 0, ...details } = readCounts(place, hints, [], true)
  return { model, input_tokens: input, output_tokens: output, ...details }
}

/** The counts of a call are those of its parts, if these are more: compaction is in no other count. */
function addModels(counts: Counts, models: readonly ModelPart[]): void {
  const input = models.reduce((sum, it) => sum + it.input_tokens, 0)
  const output = models.reduce((sum, it) => sum + it.output_tokens, 0)
  if (input + output <= (counts.input ?? 0) + (counts.output ?? 0)) return
  counts.input = input
  counts.output = output
  for (const key of ['input_token_details', 'output_token_details'] as const) {
    const sums: Record<string, number> = {}
    for (const it of models)
      for (const [name, count] of Object.entries(it[key])) sums[name] = (sums[name] ?? 0) + count
    counts[key] = { ...counts[key], ...sums }
  }
}

function takeCounts(usage: Usage, whole: readonly Whole[]): void {
  for (const side of ['input', 'output'] as const) {
    const first = fullest(whole, side)
    if (first === undefined) continue
    usage[`${side}_tokens`] = first[side]!
    usage[`${side}_token_details`] = { ...first[`${side}_token_details`] }
    usage.source[side] = first.place.source
  }
}

/**
 * The first place that has a count of the side. Of two of the vendor's, the one that says more about at least as many
 * tokens (rule U11).
 */
function fullest(whole: readonly Whole[], side: 'input' | 'output'): Whole | undefined {
  const detailsOf = (it: Whole): number =>
    Object.values(it[`${side}_token_details`]).filter((count) => count > 0).length
  let best: Whole | undefined
  for (const it of whole) {
    if (it[side] === undefined) continue
    const isFuller =
      best?.place.source === 'vendor' &&
      it.place.source === 'vendor' &&
      it[side] >= best[side]! &&
      detailsOf(it) > detailsOf(best)
    if (best === undefined || isFuller) best = it
  }
  return best
}

/** The usage of all models of a call is its own, if the counts elsewhere are those of one of them. */
function takeMoreOfModels(usage: Usage, whole: readonly Whole[]): void {
  const { input_tokens = 0, output_tokens = 0 } = usage
  const more = whole.find(
    ({ models, input = 0, output = 0 }) => models.length > 1 && input + output > input_tokens + output_tokens,
  )
  if (more !== undefined) takeCounts(usage, [more])
}

/**
 * Reports that the vendor's answer says another total than the client (rule U11). Only the answer around the client's
 * counts is compared, because lists of messages have the usage of several calls.
 */
function reportConflict([first, ...others]: readonly Whole[], issues: Issue[]): void {
  if (first === undefined || first.place.source !== 'client' || !first.place.path.endsWith(CLIENT)) return
  const around = first.place.path.slice(0, -CLIENT.length)
  const total = totalOf(first)
  for (const other of others) {
    const { source, path } = other.place
    const isBeside =
      source === 'vendor' && path.startsWith(around) && !path.slice(around.length).includes('[')
    const said = totalOf(other)
    if (!isBeside || total === undefined || said === undefined || said === total) continue
    issues.push({
      code: 'usage_conflict',
      severity: 'warning',
      path,
      message: `This says ${said} tokens, ${first.place.path} says ${total}; the latter is used.`,
      fix: 'Send the counts of the vendor, with cache and reasoning tokens included.',
    })
    return
  }
}

const CLIENT = '.usage_metadata'

function totalOf({ input, output }: Whole): number | undefined {
  return input === undefined || output === undefined ? undefined : input + output
}

/** Adds the details of another place whose side has the same count. */
function fillDetails(usage: Usage, counts: Whole): void {
  for (const side of ['input', 'output'] as const) {
    if (counts[side] === undefined || counts[side] !== usage[`${side}_tokens`]) continue
    const details = usage[`${side}_token_details`]
    const more = counts[`${side}_token_details`]
    for (const name in more)
      if (!Object.hasOwn(details, name) || details[name] === 0) details[name] = more[name]!
  }
}

/** Usage by model, if it is that of the whole call. */
function takeModels(usage: Usage, whole: readonly Whole[]): void {
  const { input_tokens: input = 0, output_tokens: output = 0 } = usage
  const sumOf = (models: readonly ModelPart[]): number =>
    models.reduce((sum, it) => sum + it.input_tokens + it.output_tokens, 0)
  usage.models =
    whole.find(({ models }) => models.length > 0 && sumOf(models) === input + output)?.models ?? []
}

/** Drops a vendor's count of all cache writes if the counts by lifetime tell them all. */
function dropToldWrites(details: Record<string, number>): void {
  const known = lifetimesOf(details)
  if (known > 0 && details['cache_creation'] === known) delete details['cache_creation']
}

/** Costs of usage_metadata before those that the vendor states, and those before a client's estimate (rule U14). */
function takeCosts(usage: Usage, places: readonly FoundUsage[], metadata: JsonObject, issues: Issue[]): void {
  const sent = asObject(metadata['usage_metadata'])
  const isSent =
    places.some(({ reading, path }) => readCosts(usage, reading.value, path, issues)) ||
    (sent !== undefined && readCosts(usage, sent, 'extra.metadata.usage_metadata', issues))
  if (isSent) usage.cost_source = 'client'
  else takeStated(usage, places)
  if (!areParts(usage.input_cost_details, usage.input_cost)) usage.input_cost_details = {}
  if (!areParts(usage.output_cost_details, usage.output_cost)) usage.output_cost_details = {}
}

function takeStated(usage: Usage, places: readonly FoundUsage[]): void {
  for (const who of ['vendor', 'client'] as const) {
    const cost = places.find(({ reading }) => reading.costs[who] !== undefined)?.reading.costs[who]
    if (cost === undefined) continue
    usage.total_cost = cost
    usage.sent_costs = SENT.total_cost
    usage.cost_source = who
    return
  }
}

function readCosts(usage: Usage, value: JsonObject, path: string, issues: Issue[]): boolean {
  let any = false
  for (const key of ['input_cost', 'output_cost', 'total_cost'] as const) {
    if (value[key] === undefined || value[key] === null) continue
    const cost = parseDecimal(value[key])
    if (cost === undefined || cost < 0n) {
      issues.push({
        code: 'invalid_cost',
        severity: 'warning',
        path: `${path}.${key}`,
        message: 'A cost must be a number of at least 0; this one was dropped.',
        fix: 'Send US dollars as a number or a decimal string.',
      })
      continue
    }
    usage[key] = cost
    usage.sent_costs = (usage.sent_costs ?? 0) | SENT[key]
    any = true
  }
  for (const key of ['input_cost_details', 'output_cost_details'] as const) {
    const raw = value[key]
    if (!isObject(raw)) continue
    for (const [name, amount] of Object.entries(raw).slice(0, 50)) {
      const cost = parseDecimal(amount)
      if (cost !== undefined && cost >= 0n && isDetailName(name)) usage[key][name] = cost
    }
  }
  const { input_cost, output_cost } = usage
  if (any && usage.total_cost === undefined && (input_cost !== undefined || output_cost !== undefined))
    usage.total_cost = (input_cost ?? 0n) + (output_cost ?? 0n)
  return any
}
