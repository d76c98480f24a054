import { SENT } from '../../../trace/price/complete-costs.ts'

const ofInput = "input_source = 'estimate'"
const ofOutput = "output_source = 'estimate'"
const isSent = (cost: keyof typeof SENT): string => `bitAnd(sent_costs, ${SENT[cost]}) != 0`

/**
 * SQL of a cost, or of a map of costs, as it is added up: as Decimal256, because the sum of costs that clients sent may
 * exceed Decimal(38, 18).
 */
export const wide = (cost: string): string => `toDecimal256(${cost}, 18)`
export const wideMap = (costs: string): string => `mapApply((k, v) -> (k, ${wide('v')}), ${costs})`
const known = (column: string): string => `ifNull(${wide(column)}, ${wide('0')})`

/**
 * The columns that USAGE_SUMS needs in addition to the columns of table `runs`: the estimated part of a row, as in
 * trace/tokens/estimated-part.ts.
 */
export const ESTIMATED_COLUMNS = `
  if(${ofInput}, input_tokens, 0) AS estimated_input,
  if(${ofOutput}, output_tokens, 0) AS estimated_output,
  multiIf(isNull(total_cost), NULL, ${isSent('total_cost')}, ${wide('0')},
    if(${ofInput} AND NOT ${isSent('input_cost')}, ${known('input_cost')}, ${wide('0')})
    + if(${ofOutput} AND NOT ${isSent('output_cost')}, ${known('output_cost')}, ${wide('0')})) AS estimated_part`

/**
 * The sum of a column of tokens. It is computed as a Float64: a sum beyond 2^53 is then inexact, but does not overflow.
 */
function tokens(column: string): string {
  return `sumIf(toFloat64(ifNull(${column}, 0)), counted)`
}

function cost(column: string): string {
  return `toString(sumIf(${wide(column)}, counted))`
}

/** The columns of UsageSums, over the rows whose column `counted` is true. They need ESTIMATED_COLUMNS. */
export const USAGE_SUMS = `
  ${tokens('input_tokens')} AS prompt_tokens,
  ${tokens('output_tokens')} AS completion_tokens,
  ${cost('input_cost')} AS prompt_cost,
  ${cost('output_cost')} AS completion_cost,
  ${cost('total_cost')} AS total_cost,
  ${tokens('estimated_input')} AS estimated_prompt_tokens,
  ${tokens('estimated_output')} AS estimated_completion_tokens,
  ${cost('estimated_part')} AS estimated_cost`
