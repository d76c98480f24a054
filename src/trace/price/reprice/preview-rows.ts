import { TRACE_RUN_ROWS } from '../../rows/trace-run-row.ts'
import type { Decimal } from '../decimal.ts'
import type { PriceSource } from '../price.ts'
import { repricedRow } from './reprice-rows.ts'

/** The effect of a change of prices on a list of stored rows. The sums are over the rows whose costs would change. */
export interface PreviewedRows {
  examined: number
  changed: number
  cost_before: Decimal
  cost_after: Decimal
  /** Number of changed rows without a total cost. */
  unpriced_before: number
  unpriced_after: number
  /** Sort key of the last row; undefined for an empty list. */
  last: { sort_time: number; run_id: string } | undefined
}

const NO_ROWS: PreviewedRows = {
  examined: 0,
  changed: 0,
  cost_before: 0n,
  cost_after: 0n,
  unpriced_before: 0,
  unpriced_after: 0,
  last: undefined,
}

/** The preview of several lists, in their order. */
export function addPreviews(pages: readonly PreviewedRows[]): PreviewedRows {
  return pages.reduce(
    (sum, page) => ({
      examined: sum.examined + page.examined,
      changed: sum.changed + page.changed,
      cost_before: sum.cost_before + page.cost_before,
      cost_after: sum.cost_after + page.cost_after,
      unpriced_before: sum.unpriced_before + page.unpriced_before,
      unpriced_after: sum.unpriced_after + page.unpriced_after,
      last: page.last ?? sum.last,
    }),
    NO_ROWS,
  )
}

/** Compares the stored costs of rows with costs computed from the prices; sent costs stay unchanged. */
export function previewPrices(stored: Uint8Array, prices: PriceSource): PreviewedRows {
  const found = { ...NO_ROWS }
  for (const row of TRACE_RUN_ROWS.readAll(stored)) {
    found.examined++
    found.last = { sort_time: row.sort_time, run_id: row.run_id }
    const after = repricedRow(row, prices)
    if (after === undefined || after.total_cost === row.total_cost) continue
    found.changed++
    found.cost_before += row.total_cost ?? 0n
    found.cost_after += after.total_cost ?? 0n
    found.unpriced_before += Number(row.total_cost === null)
    found.unpriced_after += Number(after.total_cost === null)
  }
  return found
}
