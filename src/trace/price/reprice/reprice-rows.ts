import { isDeepStrictEqual } from 'node:util'
import { RowWriter } from '../../rows/row-binary.ts'
import { modelsOf, TRACE_RUN_ROWS, type TraceRunRow, repricedVersion } from '../../rows/trace-run-row.ts'
import type { PriceSource } from '../price.ts'
import { PRICE_ISSUES } from '../issues.ts'
import { providerOfPrice } from '../provider-name.ts'
import { type CompletedCosts, completeCosts, SENT } from '../complete-costs.ts'
import { priceCounts } from '../call-costs.ts'

/** The result of repricing a list of stored rows. */
export interface Repriced {
  /** Rows whose costs have changed, as RowBinary; inserting them replaces the old rows. */
  rows: Uint8Array<ArrayBuffer>
  examined: number
  changed: number
  /** Sort key of the last row; undefined for an empty list. */
  last: { sort_time: number; run_id: string } | undefined
}

/** Computes the costs of stored rows again; sent costs are kept. A second call with the same prices changes nothing. */
export function repriceRows(stored: Uint8Array, pricesOf: (workspace_id: string) => PriceSource): Repriced {
  const out = new RowWriter(1 << 16)
  let examined = 0
  let changed = 0
  let last: Repriced['last']
  for (const row of TRACE_RUN_ROWS.readAll(stored)) {
    examined++
    last = { sort_time: row.sort_time, run_id: row.run_id }
    const repriced = repricedRow(row, pricesOf(row.workspace_id))
    if (!repriced) continue
    changed++
    TRACE_RUN_ROWS.write(out, repriced)
  }
  return { rows: out.finish(), examined, changed, last }
}

/** The row with costs computed from the prices; undefined if they are unchanged. Sent costs stay unchanged. */
export function repricedRow(row: TraceRunRow, prices: PriceSource): TraceRunRow | undefined {
  const hasUnits = Object.keys(row.usage_units).length > 0
  if (row.input_tokens === null && row.output_tokens === null && !hasUnits) return undefined
  const counts = {
    input_tokens: row.input_tokens ?? undefined,
    output_tokens: row.output_tokens ?? undefined,
    input_token_details: row.input_token_details,
    output_token_details: row.output_token_details,
    units: row.usage_units,
    conditions: row.usage_conditions,
    models: modelsOf(row),
  }
  const call = {
    model: row.model || undefined,
    answered_model: row.answered_model || undefined,
    provider: row.provider || undefined,
    at: row.start_time,
  }
  const completed = completeCosts(
    {
      input_cost: row.input_cost ?? undefined,
      output_cost: row.output_cost ?? undefined,
      total_cost: row.total_cost ?? undefined,
      input_cost_details: row.input_cost_details,
      output_cost_details: row.output_cost_details,
    },
    row.sent_costs,
    counts,
    priceCounts(call, counts, prices),
  )
  // A sum of calls, which usually counts nothing, has no issues about prices.
  const found = row.run_type === 'chain' ? [] : completed.issues
  const issues = [...found, ...row.issues.filter((code) => !PRICE_CODES.has(code))]
  const costs = {
    ...columnsOf(completed),
    cost_source: costSource(row, completed),
    provider: row.provider || (providerOfPrice(completed.price_model_id) ?? ''),
    issues: found.length > 0 || hasPriceIssue(row) ? issues : row.issues,
  }
  const isSame = (Object.keys(costs) as (keyof typeof costs)[]).every((key) =>
    isDeepStrictEqual(costs[key], row[key]),
  )
  return isSame ? undefined : { ...row, ...costs, version: repricedVersion(row.version) }
}

const PRICE_CODES: ReadonlySet<string> = new Set(PRICE_ISSUES)

function hasPriceIssue({ issues }: TraceRunRow): boolean {
  return issues.some((code) => PRICE_CODES.has(code))
}

/** Who says the total cost after repricing. Rows of earlier releases do not say who stated it. */
function costSource(row: TraceRunRow, { total_cost }: CompletedCosts): string {
  if ((row.sent_costs & SENT.total_cost) !== 0) return row.cost_source || 'client'
  if (total_cost === undefined) return ''
  return row.sent_costs === 0 ? 'computed' : 'client'
}

function columnsOf(completed: CompletedCosts) {
  return {
    input_cost: completed.input_cost ?? null,
    output_cost: completed.output_cost ?? null,
    total_cost: completed.total_cost ?? null,
    input_cost_details: completed.input_cost_details ?? {},
    output_cost_details: completed.output_cost_details ?? {},
    unit_costs: completed.unit_costs ?? {},
    price_model_id: completed.price_model_id ?? '',
    computed_cost: completed.computed_cost ?? null,
  }
}
