import { hash } from 'node:crypto'
import type { LlmFacts } from './trace-run.ts'
import { modelStem } from '../price/default/default-price-match.ts'
import type { Usage } from '../tokens/usage/record.ts'

/** The call_id of an llm TraceRun that is only a step of a call; it never counts as a call. */
export const NO_CALL = 1
/**
 * The call_id of a request whose answer is a separate span; llm TraceRuns below the request show the call of that
 * answer.
 */
export const REQUEST = 2
/**
 * The smallest call_id of calls that failed without an answer; the call_ids of calls with an answer are between REQUEST
 * and this number.
 */
export const UNANSWERED = 2 ** 48

/** Minimum length of a unique response id in characters: Ollama sends `chatcmpl-0` to `chatcmpl-998`. */
const SHORTEST_ID = 16

type CallNames = Pick<LlmFacts, 'response_id' | 'model' | 'part'>

/**
 * The number of the model call that an llm TraceRun shows. TraceRuns with the same response id and model have the
 * same number; the version in the model's name is ignored. For calls without an answer (`isUnanswered`), the model
 * alone determines the number. 0 if the model is unknown, or the response id is missing or too short. NO_CALL for a
 * step, REQUEST for a request whose answer is a separate span.
 */
export function callIdOf({ response_id, model, part }: CallNames, isUnanswered: boolean): number {
  if (part !== 'call') return part === 'step' ? NO_CALL : REQUEST
  if (model === undefined) return 0
  if (isUnanswered) return UNANSWERED + numberOf(modelStem(model))
  if (response_id === undefined || response_id.length < SHORTEST_ID) return 0
  return numberOf(`${response_id} ${modelStem(model)}`)
}

function numberOf(text: string): number {
  return Number.parseInt(hash('sha1', text, 'hex').slice(0, 12), 16)
}

/**
 * Weights of the details that a TraceRun has about its call, the greatest first. Their sum is below 256.
 * `vendors_count` is the last bit: the vendor's own SDK read the counts in the answer.
 */
export const FACTS = {
  reported_side: 64,
  known_side: 16,
  details: 8,
  sent_cost: 4,
  first_token: 2,
  vendors_count: 1,
} as const

/**
 * The amount of detail that a TraceRun has about its call. Of several TraceRuns that show the same call, the one with
 * the highest value counts. `isVendors`: the vendor's own SDK made the span.
 */
export function callFactsOf(
  llm: LlmFacts,
  usage: Usage,
  first_token_time: number | undefined,
  isVendors: boolean,
): number {
  const { input, output } = usage.source
  const reported = [input, output].filter((source) => source === 'client' || source === 'vendor').length
  const known = [llm.input_messages, llm.output_messages].filter((side) => side.length > 0).length
  const details = [usage.input_token_details, usage.output_token_details]
  const hasDetails = details.some((counts) => Object.values(counts).some((count) => count > 0))
  return (
    reported * FACTS.reported_side +
    known * FACTS.known_side +
    (hasDetails ? FACTS.details : 0) +
    (usage.sent_costs ? FACTS.sent_cost : 0) +
    (first_token_time === undefined ? 0 : FACTS.first_token) +
    (isVendors && reported === 2 ? FACTS.vendors_count : 0)
  )
}

/** The fields of a TraceRunRow that are compared to find the same call. Times are epoch microseconds. */
export interface CallRow {
  run_id: string
  parent_run_id: string
  run_type: string
  model: string
  start_time: number
  end_time: number | null
  input_tokens: number | null
  output_tokens: number | null
  call_id: number
  call_facts: number
}

/**
 * Returns the TraceRuns of one trace whose call another TraceRun describes in more detail, each with the id of the
 * other one. The result does not depend on the order of the rows; storage/clickhouse/usage/counted-sql.ts has the
 * same rules in SQL.
 * - TraceRuns with the same response id and model that overlap in time show the same call, and one of them counts. If
 * their counts differ, it is one whose counts the vendor's own SDK read; otherwise it is the one with the most
 * detail. A TraceRun with other calls below it (`holdsOthers`) is chosen only if all of the group have calls below
 * them, because its counts are sums.
 * - llm TraceRuns below a request whose answer is a separate span show the call of that answer.
 * - A call whose parent is a call with the same model and more detail shows the call of its parent (see addNested).
 * - A failed call without messages shows the same call as a failed call of that model with messages, if its time lies
 * within the time of the other.
 */
export function findDoubles<Row extends CallRow>(
  rows: readonly Row[],
  holdsOthers: (row: Row) => boolean,
): Map<string, string> {
  const calls = new Map<number, Row[]>()
  for (const row of rows) {
    if (row.call_id <= NO_CALL) continue
    const known = calls.get(row.call_id)
    if (known) known.push(row)
    else calls.set(row.call_id, [row])
  }
  const doubles = new Map<string, string>()
  for (const [call_id, views] of calls) {
    if (call_id === REQUEST || views.length === 1) continue
    if (call_id >= UNANSWERED) addUnanswered(doubles, views)
    else for (const island of overlapping(views)) addOthers(doubles, island, holdsOthers)
  }
  const requests = calls.get(REQUEST)
  if (requests) addBelow(doubles, rows, requests)
  addNested(doubles, rows)
  return doubles
}

/**
 * Records the only child of a call that shows the same call with less detail (rule U10): both have the same model, and
 * no count of the child exceeds that of its parent. Without more detail or tokens in the parent, the child counts.
 */
function addNested(doubles: Map<string, string>, rows: readonly CallRow[]): void {
  const calls = new Map(rows.filter(isCountedCall).map((row) => [row.run_id, row]))
  if (calls.size < 2) return
  const children = new Map<string, number>()
  for (const { parent_run_id } of rows) children.set(parent_run_id, (children.get(parent_run_id) ?? 0) + 1)
  for (const child of calls.values()) {
    const parent = calls.get(child.parent_run_id)
    if (parent === undefined || children.get(parent.run_id) !== 1) continue
    // Of calls with one id, addOthers has chosen.
    if (child.call_id !== 0 && child.call_id === parent.call_id) continue
    if (doubles.has(child.run_id)) continue
    if (isSameModel(parent.model, child.model) && tellsMore(parent, child))
      doubles.set(child.run_id, parent.run_id)
  }
}

function isCountedCall({ run_type, call_id, input_tokens, output_tokens, model }: CallRow): boolean {
  const hasTokens = input_tokens !== null || output_tokens !== null
  return run_type === 'llm' && call_id !== NO_CALL && call_id !== REQUEST && hasTokens && model !== ''
}

function isSameModel(a: string, b: string): boolean {
  return a.startsWith(b) || b.startsWith(a)
}

function tellsMore(parent: CallRow, child: CallRow): boolean {
  const [more, less] = [tokensOf(parent), tokensOf(child)]
  const isPart = less.input <= more.input && less.output <= more.output
  if (!isPart) return false
  return (
    parent.call_facts > child.call_facts ||
    (parent.call_facts === child.call_facts && more.input + more.output > less.input + less.output)
  )
}

function tokensOf({ input_tokens, output_tokens }: CallRow): { input: number; output: number } {
  return { input: input_tokens ?? 0, output: output_tokens ?? 0 }
}

function addOthers<Row extends CallRow>(
  doubles: Map<string, string>,
  views: Row[],
  holdsOthers: (row: Row) => boolean,
): void {
  const differ = differs(views, 'input_tokens') || differs(views, 'output_tokens')
  const withoutVendorsCount = ({ call_facts }: Row): number =>
    differ ? 1 - (call_facts & FACTS.vendors_count) : 0
  const [best, ...others] = views.sort(
    (a, b) =>
      Number(holdsOthers(a)) - Number(holdsOthers(b)) ||
      withoutVendorsCount(a) - withoutVendorsCount(b) ||
      b.call_facts - a.call_facts ||
      compareStart(a, b),
  )
  for (const { run_id } of others) doubles.set(run_id, best!.run_id)
}

function differs(views: readonly CallRow[], side: 'input_tokens' | 'output_tokens'): boolean {
  const known = views.map((row) => row[side]).filter((count) => count !== null)
  return known.some((count) => count !== known[0])
}

function addUnanswered(doubles: Map<string, string>, views: CallRow[]): void {
  const hasKnownSide = ({ call_facts }: CallRow): boolean => call_facts >= FACTS.known_side
  let last: CallRow | undefined
  const inOrder = views.sort(
    (a, b) =>
      a.start_time - b.start_time ||
      Number(hasKnownSide(b)) - Number(hasKnownSide(a)) ||
      (a.run_id < b.run_id ? -1 : 1),
  )
  for (const row of inOrder) {
    if (!hasKnownSide(row)) {
      if (last && endOf(row) <= endOf(last)) doubles.set(row.run_id, last.run_id)
    } else if (last === undefined || endOf(row) > endOf(last)) last = row
  }
}

/** Records the nearest request above each llm TraceRun that is below one. */
function addBelow(
  doubles: Map<string, string>,
  rows: readonly CallRow[],
  requests: readonly CallRow[],
): void {
  const children = new Map<string, CallRow[]>()
  for (const row of rows) {
    const known = children.get(row.parent_run_id)
    if (known) known.push(row)
    else children.set(row.parent_run_id, [row])
  }
  const ids = new Set(requests.map(({ run_id }) => run_id))
  for (const id of ids) {
    const seen = new Set([id])
    for (const above of seen) {
      for (const { run_id, run_type } of children.get(above) ?? []) {
        if (run_type === 'llm') doubles.set(run_id, id)
        if (!ids.has(run_id)) seen.add(run_id)
      }
    }
  }
}

/** Groups rows by time: each row overlaps with an earlier row of its group. */
function overlapping<Row extends CallRow>(rows: Row[]): Row[][] {
  const islands: Row[][] = []
  let end = Number.NEGATIVE_INFINITY
  for (const row of rows.sort(compareStart)) {
    if (row.start_time >= end) islands.push([])
    islands.at(-1)!.push(row)
    end = Math.max(end, endOf(row))
  }
  return islands
}

/** End of a row; a row without duration counts as one microsecond long. */
function endOf({ start_time, end_time }: CallRow): number {
  return Math.max(end_time ?? start_time, start_time + 1)
}

function compareStart(a: CallRow, b: CallRow): number {
  return a.start_time - b.start_time || (a.run_id < b.run_id ? -1 : 1)
}
