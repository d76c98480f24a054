import type { TraceRunRow } from './trace-run-row.ts'

/** Tokens and costs of a set of TraceRuns without double counts; costs null while none is known. */
export interface Totals {
  prompt_tokens: number
  completion_tokens: number
  prompt_cost: bigint | null
  completion_cost: bigint | null
  total_cost: bigint | null
  llm_runs: number
  error_runs: number
}

/** What a roll-up reads of each TraceRun of one trace. */
export type RollUpRow = Pick<
  TraceRunRow,
  | 'run_id'
  | 'parent_run_id'
  | 'run_type'
  | 'status'
  | 'input_tokens'
  | 'output_tokens'
  | 'input_cost'
  | 'output_cost'
  | 'total_cost'
>

/** Totals of a whole trace, and of the subtree under each of its TraceRuns (rule N6, D-17). */
export interface RollUp {
  trace: Totals
  of(run_id: string): Totals
}

/**
 * Adds up one trace. A TraceRun with a usage-bearing descendant is left out: it repeats its descendants' counts.
 * Tokens count on llm and embedding only. Linear in the number of rows, whatever their parent links say.
 */
export function rollUp(rows: readonly RollUpRow[]): RollUp {
  const nodes = new Map(
    rows.map((row): [string, Node] => [row.run_id, { row, totals: noTotals(), bears: false, children: 0 }]),
  )
  for (const { row } of nodes.values()) {
    const parent = nodes.get(row.parent_run_id)
    if (parent) parent.children++
  }
  const trace = noTotals()
  const ready = [...nodes.values()].filter((node) => node.children === 0)
  const done = new Set<Node>()
  const settle = (node: Node): void => {
    done.add(node)
    const isCounted = bearsUsage(node.row) && !node.bears
    addRow(node.totals, node.row, isCounted)
    addRow(trace, node.row, isCounted)
    node.bears ||= isCounted
  }
  for (let node = ready.pop(); node; node = ready.pop()) {
    settle(node)
    const parent = nodes.get(node.row.parent_run_id)
    if (!parent || done.has(parent)) continue
    addTotals(parent.totals, node.totals)
    parent.bears ||= node.bears
    if (--parent.children === 0) ready.push(parent)
  }
  // What is left has itself among its ancestors: each counts for itself.
  for (const node of nodes.values()) if (!done.has(node)) settle(node)
  return { trace, of: (id) => nodes.get(id)?.totals ?? noTotals() }
}

interface Node {
  row: RollUpRow
  /** Of the descendants so far, and of the TraceRun itself once it is settled. */
  totals: Totals
  /** Usage has been counted in the subtree. */
  bears: boolean
  /** Children that are not settled yet. */
  children: number
}

function bearsUsage(row: RollUpRow): boolean {
  const { input_tokens, output_tokens, total_cost } = row
  return total_cost !== null || (countsTokens(row) && (input_tokens !== null || output_tokens !== null))
}

function countsTokens({ run_type }: RollUpRow): boolean {
  return run_type === 'llm' || run_type === 'embedding'
}

function addRow(totals: Totals, row: RollUpRow, isCounted: boolean): void {
  if (row.status === 'error') totals.error_runs++
  if (row.run_type === 'llm') totals.llm_runs++
  if (!isCounted) return
  if (countsTokens(row)) {
    totals.prompt_tokens += row.input_tokens ?? 0
    totals.completion_tokens += row.output_tokens ?? 0
  }
  totals.prompt_cost = sum(totals.prompt_cost, row.input_cost)
  totals.completion_cost = sum(totals.completion_cost, row.output_cost)
  totals.total_cost = sum(totals.total_cost, row.total_cost)
}

function addTotals(totals: Totals, more: Totals): void {
  totals.error_runs += more.error_runs
  totals.llm_runs += more.llm_runs
  totals.prompt_tokens += more.prompt_tokens
  totals.completion_tokens += more.completion_tokens
  totals.prompt_cost = sum(totals.prompt_cost, more.prompt_cost)
  totals.completion_cost = sum(totals.completion_cost, more.completion_cost)
  totals.total_cost = sum(totals.total_cost, more.total_cost)
}

function sum(a: bigint | null, b: bigint | null): bigint | null {
  return a === null ? b : b === null ? a : a + b
}

function noTotals(): Totals {
  return {
    prompt_tokens: 0,
    completion_tokens: 0,
    prompt_cost: null,
    completion_cost: null,
    total_cost: null,
    llm_runs: 0,
    error_runs: 0,
  }
}
