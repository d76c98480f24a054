import type { Decimal } from '../../price/decimal.ts'
import type { CostDetails } from '../../price/cost-details.ts'

/** The source of a side's count. */
export type UsageSource = 'client' | 'vendor' | 'estimate'

/** Tokens and costs of one TraceRun after normalisation; an unknown value is absent, never 0. */
export interface Usage {
  input_tokens?: number
  output_tokens?: number
  input_token_details: Record<string, number>
  output_token_details: Record<string, number>
  /** Numbers that are no tokens: searches, seconds, characters, pages. */
  units: Record<string, number>
  /** The path of each unit, for issues. */
  unit_paths?: Record<string, string>
  /** Words and flags on which the price depends. */
  conditions: Record<string, string>
  /** The parts of a call that other models than its own may have served; empty for most calls. */
  models: ModelPart[]
  input_cost?: Decimal
  output_cost?: Decimal
  total_cost?: Decimal
  /** Bits of SENT for costs that were stated; the others are computed from these or from prices. */
  sent_costs?: number
  /** Who says the total cost. */
  cost_source?: 'vendor' | 'client' | 'computed'
  /** What the prices say, if another cost was stated. */
  computed_cost?: Decimal
  /** The price of the computed costs. */
  price_model_id?: string
  input_cost_details: CostDetails
  output_cost_details: CostDetails
  /** What a computed total has for units and the fee of the call. */
  unit_costs: CostDetails
  source: { input: UsageSource | null; output: UsageSource | null }
}

/** The counts of one model in a call, with all details inside. */
export interface ModelPart {
  model: string | undefined
  input_tokens: number
  output_tokens: number
  input_token_details: Record<string, number>
  output_token_details: Record<string, number>
}

export function emptyUsage(): Usage {
  return {
    input_token_details: {},
    output_token_details: {},
    units: {},
    conditions: {},
    models: [],
    input_cost_details: {},
    output_cost_details: {},
    unit_costs: {},
    source: { input: null, output: null },
  }
}
