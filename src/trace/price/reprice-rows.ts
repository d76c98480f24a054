import { isDeepStrictEqual } from 'node:util'
import { RowWriter } from '../row-binary.ts'
import {
  TRACE_RUN_COLUMNS,
  type TraceRunRow,
  readRows,
  repricedVersion,
  writeTraceRunRow,
} from '../trace-run-row.ts'
import type { PriceSource } from './price.ts'
import { PRICE_ISSUES } from './price-issues.ts'
import { type SettledCosts, settleCosts } from './settle-costs.ts'

/** What became of some stored rows. */
export interface Repriced {
  /** Rows whose costs are others now, as RowBinary, to be stored over the old ones. */
  rows: Uint8Array<ArrayBuffer>
  examined: number
  changed: number
  /** Place of the last row in its list; undefined when there was none. */
  last: { sort_time: number; run_id: string } | undefined
}

/** Computes the costs of stored rows again; those that a client sent stay. The same prices change nothing twice. */
export function repriceRows(stored: Uint8Array, pricesOf: (workspace_id: string) => PriceSource): Repriced {
  const out = new RowWriter(1 << 16)
  let examined = 0
  let changed = 0
  let last: Repriced['last']
  for (const row of readRows(stored, TRACE_RUN_COLUMNS)) {
    examined++
    last = { sort_time: row.sort_time, run_id: row.run_id }
    const repriced = reprice(row, pricesOf(row.workspace_id))
    if (!repriced) continue
    changed++
    writeTraceRunRow(out, repriced)
  }
  return { rows: out.finish(), examined, changed, last }
}

/** The row with its new costs; undefined when they are what they were. */
function reprice(row: TraceRunRow, prices: PriceSource): TraceRunRow | undefined {
  if (row.input_tokens === null && row.output_tokens === null) return undefined
  const input_tokens = row.input_tokens ?? undefined
  const output_tokens = row.output_tokens ?? undefined
  const settled = settleCosts(
    {
      input_cost: row.input_cost ?? undefined,
      output_cost: row.output_cost ?? undefined,
      total_cost: row.total_cost ?? undefined,
      input_cost_details: row.input_cost_details,
      output_cost_details: row.output_cost_details,
    },
    row.sent_costs,
    { ...row, input_tokens, output_tokens },
    () =>
      prices.find({
        model: row.model || undefined,
        provider: row.provider || undefined,
        at: row.start_time,
        input_tokens,
      }),
  )
  const issues = [...settled.issues, ...row.issues.filter((code) => !PRICE_CODES.has(code))]
  const costs = {
    ...columnsOf(settled),
    issues: settled.issues.length > 0 || hasPriceIssue(row) ? issues : row.issues,
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

function columnsOf(settled: SettledCosts) {
  return {
    input_cost: settled.input_cost ?? null,
    output_cost: settled.output_cost ?? null,
    total_cost: settled.total_cost ?? null,
    input_cost_details: settled.input_cost_details ?? {},
    output_cost_details: settled.output_cost_details ?? {},
    price_model_id: settled.price_model_id ?? '',
  }
}
