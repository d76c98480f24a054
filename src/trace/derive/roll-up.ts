import { type EstimatedPart, type EstimatedRow, estimatedPart } from '../tokens/estimated-part.ts'
import { findDoubles, NO_CALL, REQUEST } from './same-call.ts'
import type { TraceRunRow } from '../rows/trace-run-row.ts'

/** Tokens and costs of a set of TraceRuns, each call counted once; costs are null while none is known. */
export interface Totals extends EstimatedPart {
  prompt_tokens: number
  completion_tokens: number
  prompt_cost: bigint | null
  completion_cost: bigint | null
  total_cost: bigint | null
  /** Number of model calls; a call that several TraceRuns show counts once. */
  llm_runs: number
  error_runs: number
  /** Number of LLM and embedding calls with tokens but without known cost, which the cost fields do not include. */
  unpriced_runs: number
  /** Earliest time of a first token, in epoch microseconds. */
  first_token_time: number | null
}

/** The fields of a TraceRun that a roll-up reads. */
export type RollUpRow = Pick<
  TraceRunRow,
  | 'run_id'
  | 'parent_run_id'
  | 'run_type'
  | 'model'
  | 'status'
  | 'start_time'
  | 'end_time'
  | 'first_token_time'
  | 'thread_id'
  | 'call_id'
  | 'call_facts'
> &
  EstimatedRow

/** Totals of a whole trace, and of the subtree under each of its TraceRuns (rule N6, D-17). */
export interface RollUp {
  trace: Totals
  of(run_id: string): Totals
  /** TraceRuns whose call another TraceRun shows in more detail, with the id of the other one. They do not count. */
  same_calls: ReadonlyMap<string, string>
  /** Ids of the TraceRuns whose usage is in the totals. */
  counted: ReadonlySet<string>
  /** The thread of the earliest TraceRun that names one; undefined if none does. */
  thread_id: string | undefined
}

/**
 * Adds up one trace. If several TraceRuns show the same call (see findDoubles), one of them counts. A TraceRun whose
 * descendants have usage does not count, since it repeats theirs. The time is
 * linear in the number of rows, for any parent links, except for sorting the TraceRuns that show the same call.
 */
export function rollUp(rows: readonly RollUpRow[]): RollUp {
  const nodes = new Map<string, Node>()
  for (const row of rows) nodes.set(row.run_id, newNode(row))
  const order = childrenFirst(nodes)
  for (const node of order) if (node.parent) noteBelow(node.parent, node)
  const same_calls = findDoubles(rows, ({ run_id, call_id }) => {
    const { below } = nodes.get(run_id)!
    return below !== undefined && below !== call_id
  })
  const trace = noTotals()
  const counted = new Set<string>()
  for (const node of order) {
    const { row, parent } = node
    const isDouble = same_calls.size > 0 && same_calls.has(row.run_id)
    const bears = bearsUsage(row) && !isDouble
    const isCounted = bears && !node.repeats
    const isCall = isLlmCall(row) && !isDouble && node.totals.llm_runs === 0
    if (isCounted) counted.add(row.run_id)
    if (isCounted || isCall || row.status === 'error' || row.first_token_time !== null)
      addRow(sumsOf(node), row, isCounted, isCall)
    if (parent) parent.repeats ||= bears || node.repeats
    if (node.totals !== NOTHING) addTotals(parent ? sumsOf(parent) : trace, node.totals)
  }
  return {
    trace,
    of: (id) => nodes.get(id)?.totals ?? NOTHING,
    same_calls,
    counted,
    thread_id: threadOf(rows),
  }
}

/**
 * The thread that the earliest TraceRun (by start, then id) names; storage/clickhouse/filter-sql.ts has the same rule
 * in SQL.
 */
function threadOf(rows: readonly RollUpRow[]): string | undefined {
  let first: RollUpRow | undefined
  for (const row of rows) {
    if (row.thread_id === '') continue
    const isEarlier =
      first === undefined ||
      row.start_time < first.start_time ||
      (row.start_time === first.start_time && row.run_id < first.run_id)
    if (isEarlier) first = row
  }
  return first?.thread_id
}

interface Node {
  row: RollUpRow
  /** Undefined if the parent is unknown, or the node is in a cycle of parents. */
  parent: Node | undefined
  /**
   * The sum over the descendants so far and, once the node is finished, over the TraceRun itself. NOTHING while none of
   * them counts.
   */
  totals: Totals
  /** The call of all descendants with usage; 0 for several or unknown calls, undefined if none has usage. */
  below: number | undefined
  /** Whether a descendant that counts has usage. */
  repeats: boolean
  /** Number of children without a place in the order. */
  children: number
  /** Whether the node has a place in the order. */
  isPlaced: boolean
}

function newNode(row: RollUpRow): Node {
  return {
    row,
    parent: undefined,
    totals: NOTHING,
    below: undefined,
    repeats: false,
    children: 0,
    isPlaced: false,
  }
}

function sumsOf(node: Node): Totals {
  if (node.totals === NOTHING) node.totals = noTotals()
  return node.totals
}

function noteBelow(parent: Node, { row, below }: Node): void {
  noteCall(parent, below)
  if (bearsUsage(row)) noteCall(parent, row.call_id)
}

function noteCall(parent: Node, call: number | undefined): void {
  if (call === undefined) return
  parent.below = parent.below === undefined || parent.below === call ? call : 0
}

/** All nodes, each after its children. Nodes in a cycle are last, and have no parent. */
function childrenFirst(nodes: ReadonlyMap<string, Node>): Node[] {
  for (const node of nodes.values()) {
    node.parent = nodes.get(node.row.parent_run_id)
    if (node.parent) node.parent.children++
  }
  const order: Node[] = []
  const ready: Node[] = []
  for (const node of nodes.values()) if (node.children === 0) ready.push(node)
  for (let node = ready.pop(); node; node = ready.pop()) {
    order.push(node)
    node.isPlaced = true
    if (node.parent && --node.parent.children === 0) ready.push(node.parent)
  }
  if (order.length === nodes.size) return order
  for (const node of nodes.values()) {
    if (node.isPlaced) continue
    node.parent = undefined
    order.push(node)
  }
  return order
}

function isLlmCall({ run_type, call_id }: RollUpRow): boolean {
  return run_type === 'llm' && call_id !== NO_CALL && call_id !== REQUEST
}

function bearsUsage(row: RollUpRow): boolean {
  const { input_tokens, output_tokens, total_cost } = row
  return total_cost !== null || input_tokens !== null || output_tokens !== null
}

function addRow(totals: Totals, row: RollUpRow, isCounted: boolean, isCall: boolean): void {
  if (row.status === 'error') totals.error_runs++
  if (isCall) totals.llm_runs++
  totals.first_token_time = earlier(totals.first_token_time, row.first_token_time)
  if (!isCounted) return
  if (row.total_cost === null) totals.unpriced_runs++
  totals.prompt_tokens += row.input_tokens ?? 0
  totals.completion_tokens += row.output_tokens ?? 0
  addEstimated(totals, estimatedPart(row))
  totals.prompt_cost = sum(totals.prompt_cost, row.input_cost)
  totals.completion_cost = sum(totals.completion_cost, row.output_cost)
  totals.total_cost = sum(totals.total_cost, row.total_cost)
}

function addTotals(totals: Totals, more: Totals): void {
  totals.error_runs += more.error_runs
  totals.unpriced_runs += more.unpriced_runs
  totals.llm_runs += more.llm_runs
  totals.first_token_time = earlier(totals.first_token_time, more.first_token_time)
  totals.prompt_tokens += more.prompt_tokens
  totals.completion_tokens += more.completion_tokens
  totals.prompt_cost = sum(totals.prompt_cost, more.prompt_cost)
  totals.completion_cost = sum(totals.completion_cost, more.completion_cost)
  totals.total_cost = sum(totals.total_cost, more.total_cost)
  addEstimated(totals, more)
}

function addEstimated(totals: Totals, more: EstimatedPart): void {
  totals.estimated_prompt_tokens += more.estimated_prompt_tokens
  totals.estimated_completion_tokens += more.estimated_completion_tokens
  totals.estimated_cost = sum(totals.estimated_cost, more.estimated_cost)
}

function sum(a: bigint | null, b: bigint | null): bigint | null {
  return a === null ? b : b === null ? a : a + b
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.min(a, b)
}

function noTotals(): Totals {
  return {
    prompt_tokens: 0,
    completion_tokens: 0,
    prompt_cost: null,
    completion_cost: null,
    total_cost: null,
    estimated_prompt_tokens: 0,
    estimated_completion_tokens: 0,
    estimated_cost: null,
    llm_runs: 0,
    error_runs: 0,
    unpriced_runs: 0,
    first_token_time: null,
  }
}

/** The totals of a subtree in which no TraceRun counts. All such subtrees share this object. */
const NOTHING: Totals = Object.freeze(noTotals())
