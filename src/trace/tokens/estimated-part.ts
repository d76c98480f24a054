import { SENT } from '../price/complete-costs.ts'
import type { TraceRunRow } from '../rows/trace-run-row.ts'

/** The part of tokens and costs that is estimated; 0 without estimates. */
export interface EstimatedPart {
  estimated_prompt_tokens: number
  estimated_completion_tokens: number
  /** Cost in 10^-18 dollars; null if no cost is known. */
  estimated_cost: bigint | null
}

/** The fields of a TraceRun that determine its estimated part. */
export type EstimatedRow = Pick<
  TraceRunRow,
  | 'input_tokens'
  | 'output_tokens'
  | 'input_source'
  | 'output_source'
  | 'input_cost'
  | 'output_cost'
  | 'total_cost'
  | 'sent_costs'
>

/**
 * The estimated part of one TraceRun's own tokens and costs. A cost that a client sent is never an estimate, even if
 * tokens are. storage/clickhouse/usage/sums-sql.ts computes the same in SQL.
 */
export function estimatedPart(row: EstimatedRow): EstimatedPart {
  const [ofInput, ofOutput] = [row.input_source === 'estimate', row.output_source === 'estimate']
  return {
    estimated_prompt_tokens: ofInput ? (row.input_tokens ?? 0) : 0,
    estimated_completion_tokens: ofOutput ? (row.output_tokens ?? 0) : 0,
    estimated_cost: estimatedCost(row, ofInput, ofOutput),
  }
}

function estimatedCost(row: EstimatedRow, ofInput: boolean, ofOutput: boolean): bigint | null {
  const { sent_costs, input_cost, output_cost, total_cost } = row
  const isComputed = (cost: keyof typeof SENT): boolean => (sent_costs & SENT[cost]) === 0
  if (total_cost === null) return null
  if (!isComputed('total_cost')) return 0n
  const input = ofInput && isComputed('input_cost') ? (input_cost ?? 0n) : 0n
  const output = ofOutput && isComputed('output_cost') ? (output_cost ?? 0n) : 0n
  return input + output
}
