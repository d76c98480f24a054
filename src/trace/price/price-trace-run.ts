import type { Issue } from '../../schema/issue.ts'
import { tierOfCounts } from '../service-tier.ts'
import type { Usage } from '../usage.ts'
import type { PriceSource } from './price.ts'
import { priceIssue } from './price-issues.ts'
import { settleCosts } from './settle-costs.ts'

/** What of a TraceRun its costs follow from. */
interface Priced {
  /** As sent; prices have a first day. */
  start_time: number
  usage: Usage
  llm: { model: string | undefined; provider: string | undefined } | undefined
  issues: Issue[]
}

/** Fills in the costs that nobody sent, from the prices of its workspace at its start; unknown stays absent, with an issue. */
export function priceTraceRun(traceRun: Priced, prices: PriceSource): void {
  const { usage, llm, start_time } = traceRun
  if (!llm || (usage.input_tokens === undefined && usage.output_tokens === undefined)) return
  const { model, provider } = llm
  const settled = settleCosts(usage, usage.sent_costs ?? 0, usage, () =>
    prices.find({ model, provider, at: start_time, input_tokens: usage.input_tokens }),
  )
  for (const field of ['input_cost', 'output_cost', 'total_cost'] as const) {
    const cost = settled[field]
    if (cost === undefined) delete usage[field]
    else usage[field] = cost
  }
  usage.input_cost_details = settled.input_cost_details ?? {}
  usage.output_cost_details = settled.output_cost_details ?? {}
  if (settled.price_model_id !== undefined) usage.price_model_id = settled.price_model_id
  const tier = tierOfCounts(usage)
  for (const code of settled.issues) traceRun.issues.push(priceIssue(code, { model, provider, tier }))
}
