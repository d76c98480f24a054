import { NIL_UUID } from '../../base/ids.ts'
import { carriesUsage } from '../derive/derive.ts'
import { type RollUp, rollUp } from '../derive/roll-up.ts'
import { formatTime } from '../derive/time.ts'
import { formatDecimal } from '../price/decimal.ts'
import { MAX_OUTLINE_RUNS, type OutlineColumns } from '../rows/trace-run-row.ts'
import { ownCounts, type TopCounts, totalsJson } from './row-fields.ts'

/** Values instead of a parent's index: ROOT for a root, UNKNOWN for a TraceRun whose parent is not in the outline. */
const ROOT = -1
const UNKNOWN = -2

export interface OutlineInput {
  trace_id: string
  /** Version of the trace that was read, for the next request. */
  version: string
  /** The TraceRuns, in any order; at most 200,000. */
  rows: readonly OutlineColumns[]
  /** Ids of the TraceRuns to return, each with its ancestors; undefined for all. */
  changed: ReadonlySet<string> | undefined
}

/**
 * A column with few values: each different value once, in order of appearance, and for each TraceRun the index of its
 * value.
 */
class Dictionary {
  readonly places = new Map<string, number>()

  placeOf(value: string): number {
    const known = this.places.get(value)
    if (known !== undefined) return known
    this.places.set(value, this.places.size)
    return this.places.size - 1
  }

  toJSON(): string[] {
    return [...this.places.keys()]
  }
}

/**
 * A whole trace as columns, in order of start: one array for each field, with an element for each TraceRun. Tokens and
 * costs are the same as in a read of the TraceRun.
 */
export function outlineJson({ trace_id, version, rows, changed }: OutlineInput): string {
  const roll = rollUp(rows)
  const shown = inOrder(changed ? withAncestors(rows, changed) : rows)
  const start = shown.reduce((first, row) => Math.min(first, row.start_time), Number.POSITIVE_INFINITY)
  const places = new Map<string, number>()
  for (const [place, row] of shown.entries()) places.set(row.run_id, place)
  const [names, types, statuses, models] = [
    new Dictionary(),
    new Dictionary(),
    new Dictionary(),
    new Dictionary(),
  ]
  const withTokens = idsWithTokens(rows, roll)
  const counts = shown.map((row) => (carriesUsage(row.run_type) ? ownCounts(row) : roll.of(row.run_id)))
  const columns = {
    id: shown.map((row) => row.run_id),
    parent: shown.map((row) => parentPlace(row, places)),
    name: shown.map((row) => names.placeOf(row.name)),
    run_type: shown.map((row) => types.placeOf(row.run_type)),
    status: shown.map((row) => statuses.placeOf(row.status)),
    model: shown.map((row) => (row.model === '' ? null : models.placeOf(row.model))),
    start: shown.map((row) => row.start_time - start),
    duration: shown.map((row) => since(row.start_time, row.end_time)),
    first_token: shown.map((row) => since(row.start_time, row.first_token_time)),
    tokens: shown.map(({ run_id }, place) => (withTokens.has(run_id) ? tokensOf(counts[place]!) : null)),
    checks: shown.map((row) => (row.run_type === 'llm' ? row.checks : null)),
  }
  const costs = counts.map((of) => (of.total_cost === null ? 'null' : formatDecimal(of.total_cost)))
  const head = {
    trace_id,
    version,
    is_whole: changed === undefined,
    run_count: rows.length,
    is_truncated: rows.length >= MAX_OUTLINE_RUNS,
    start_time: shown.length === 0 ? null : formatTime(start),
    totals: totalsJson(roll.trace),
    names,
    run_types: types,
    statuses,
    models,
    columns,
  }
  // Costs are added as decimal text, because a JavaScript number would lose digits.
  return `${JSON.stringify(head).slice(0, -2)},"cost":[${costs.join(',')}]}}`
}

/** The answer if nothing has changed since the last one; without columns and totals. */
export function unchangedOutlineJson(trace_id: string, version: string, run_count: number): string {
  const { totals: _totals, ...empty } = JSON.parse(
    outlineJson({ trace_id, version, rows: [], changed: new Set() }),
  ) as Record<string, unknown>
  return JSON.stringify({ ...empty, run_count, totals: null })
}

function tokensOf({ prompt_tokens, completion_tokens }: TopCounts): number {
  return prompt_tokens + completion_tokens
}

function knowsTokens({ run_type, input_tokens, output_tokens }: OutlineColumns): boolean {
  return carriesUsage(run_type) && (input_tokens !== null || output_tokens !== null)
}

/**
 * Ids of the TraceRuns that are shown with tokens: those whose own tokens are known, and the ancestors of those that
 * the roll-up counts.
 */
function idsWithTokens(rows: readonly OutlineColumns[], { counted }: RollUp): ReadonlySet<string> {
  const byId = new Map(rows.map((row) => [row.run_id, row]))
  const own = new Set<string>()
  const above = new Set<string>()
  for (const row of rows) {
    if (!knowsTokens(row)) continue
    own.add(row.run_id)
    if (!counted.has(row.run_id)) continue
    let parent = byId.get(row.parent_run_id)
    while (parent !== undefined && !above.has(parent.run_id)) {
      above.add(parent.run_id)
      parent = byId.get(parent.parent_run_id)
    }
  }
  // A call shows its own tokens, never the sum of the TraceRuns below it.
  for (const id of above) if (!carriesUsage(byId.get(id)?.run_type ?? '')) own.add(id)
  return own
}

function parentPlace({ parent_run_id }: OutlineColumns, places: ReadonlyMap<string, number>): number {
  return parent_run_id === NIL_UUID ? ROOT : (places.get(parent_run_id) ?? UNKNOWN)
}

function since(start: number, time: number | null): number | null {
  return time === null ? null : Math.max(0, time - start)
}

function inOrder(rows: readonly OutlineColumns[]): OutlineColumns[] {
  return rows.toSorted((a, b) => a.start_time - b.start_time || (a.run_id < b.run_id ? -1 : 1))
}

/** The changed rows and their ancestors: the sums of ancestors change too, and `parent` refers to their places. */
function withAncestors(rows: readonly OutlineColumns[], changed: ReadonlySet<string>): OutlineColumns[] {
  const byId = new Map(rows.map((row) => [row.run_id, row]))
  const found = new Set<OutlineColumns>()
  for (const id of changed)
    for (let row = byId.get(id); row && !found.has(row); row = byId.get(row.parent_run_id)) found.add(row)
  return [...found]
}
