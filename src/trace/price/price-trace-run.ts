import type { Issue } from '../../schema/issue.ts'
import type { Usage } from '../tokens/usage/record.ts'
import { completeCosts } from './complete-costs.ts'
import { namedUnit, priceIssue } from './issues.ts'
import type { PriceSource } from './price.ts'
import { priceCounts } from './call-costs.ts'
import { providerOfPrice } from './provider-name.ts'

/** The fields of a TraceRun on which its costs depend. */
interface Priced {
  /** Start as sent, because prices take effect on a date. */
  start_time: number
  usage: Usage
  llm:
    | { model: string | undefined; answered_model?: string | undefined; provider: string | undefined }
    | undefined
  issues: Issue[]
}

/**
 * Computes costs that were not stated, from the workspace's prices at its start time. Unknown costs stay absent, with
 * an issue.
 */
export function priceTraceRun(traceRun: Priced, prices: PriceSource): void {
  const { usage, llm, start_time } = traceRun
  if (!llm || !hasCounts(usage)) return
  const { model, answered_model, provider } = llm
  const priced = priceCounts({ model, answered_model, provider, at: start_time }, usage, prices)
  const completed = completeCosts(usage, usage.sent_costs ?? 0, usage, priced)
  for (const field of ['input_cost', 'output_cost', 'total_cost', 'computed_cost'] as const) {
    const cost = completed[field]
    if (cost === undefined) delete usage[field]
    else usage[field] = cost
  }
  usage.input_cost_details = completed.input_cost_details ?? {}
  usage.output_cost_details = completed.output_cost_details ?? {}
  usage.unit_costs = completed.unit_costs ?? {}
  if (usage.total_cost !== undefined) usage.cost_source ??= 'computed'
  if (completed.price_model_id !== undefined) {
    usage.price_model_id = completed.price_model_id
    llm.provider ??= providerOfPrice(completed.price_model_id)
  }
  const unpriced = { ...priced, units: priced.units.map((unit) => namedUnit(usage, unit)) }
  for (const code of completed.issues)
    traceRun.issues.push(priceIssue(code, { model, provider, ...unpriced }))
}

function hasCounts({ input_tokens, output_tokens, units }: Usage): boolean {
  return input_tokens !== undefined || output_tokens !== undefined || Object.keys(units).length > 0
}
