import { NIL_UUID } from '../base/ids.ts'
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
 * Adds up one trace. An llm TraceRun with a usage-bearing llm descendant is left out: it repeats its children's
 * counts. Other types add costs only. Bounded by the number of rows, whatever their parent links say (cycles end).
 */
export function rollUp(rows: readonly RollUpRow[]): RollUp {
  const byId = new Map(rows.map((row) => [row.run_id, row]))
  const repeats = repeating(rows, byId)
  const subtree = new Map<string, Totals>()
  const trace = noTotals()
  for (const row of rows) {
    const counted = !repeats.has(row.run_id)
    add(trace, row, counted)
    for (const id of upwards(row, byId)) {
      let totals = subtree.get(id)
      if (!totals) subtree.set(id, (totals = noTotals()))
      add(totals, row, counted)
    }
  }
  return { trace, of: (id) => subtree.get(id) ?? noTotals() }
}

/** Ids of llm TraceRuns whose usage an llm descendant carries as well. */
function repeating(rows: readonly RollUpRow[], byId: ReadonlyMap<string, RollUpRow>): Set<string> {
  const repeats = new Set<string>()
  for (const row of rows) {
    if (!bearsUsage(row)) continue
    for (const id of upwards(row, byId)) {
      if (id !== row.run_id && bearsUsage(byId.get(id)!)) repeats.add(id)
    }
  }
  return repeats
}

function bearsUsage(row: RollUpRow): boolean {
  return (
    row.run_type === 'llm' &&
    (row.input_tokens !== null || row.output_tokens !== null || row.total_cost !== null)
  )
}

/** The row itself and its ancestors that are known, nearest first. */
function* upwards(row: RollUpRow, byId: ReadonlyMap<string, RollUpRow>): Generator<string> {
  const seen = new Set<string>()
  for (
    let at: RollUpRow | undefined = row;
    at && !seen.has(at.run_id);
    at = at.parent_run_id === NIL_UUID ? undefined : byId.get(at.parent_run_id)
  ) {
    seen.add(at.run_id)
    yield at.run_id
  }
}

function add(totals: Totals, row: RollUpRow, counted: boolean): void {
  if (row.status === 'error') totals.error_runs++
  if (row.run_type === 'llm') totals.llm_runs++
  if (!counted) return
  if (row.run_type === 'llm' || row.run_type === 'embedding') {
    totals.prompt_tokens += row.input_tokens ?? 0
    totals.completion_tokens += row.output_tokens ?? 0
  }
  totals.prompt_cost = sum(totals.prompt_cost, row.input_cost)
  totals.completion_cost = sum(totals.completion_cost, row.output_cost)
  totals.total_cost = sum(totals.total_cost, row.total_cost)
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
