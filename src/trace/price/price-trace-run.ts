import type { Issue } from '../../schema/issue.ts'
import { tierOfCounts } from './service-tier.ts'
import type { Usage } from '../tokens/usage.ts'
import type { PriceSource } from './price.ts'
import { providerOfPrice } from './provider-name.ts'
import { priceIssue } from './issues.ts'
import { completeCosts } from './complete-costs.ts'

/** The fields of a TraceRun on which its costs depend. */
interface Priced {
  /** Start as sent, because prices take effect on a date. */
  start_time: number
  usage: Usage
  llm: { model: string | undefined; provider: string | undefined } | undefined
  issues: Issue[]
}

/**
 * Computes costs that were not sent, from the workspace's prices at its start time. Unknown costs stay absent, with
 * an issue.
 */
export function priceTraceRun(traceRun: Priced, prices: PriceSource): void {
  const { usage, llm, start_time } = traceRun
  if (!llm || (usage.input_tokens === undefined && usage.output_tokens === undefined)) return
  const { model, provider } = llm
  const completed = completeCosts(usage, usage.sent_costs ?? 0, usage, () =>
    prices.find({ model, provider, at: start_time, input_tokens: usage.input_tokens }),
  )
  for (const field of ['input_cost', 'output_cost', 'total_cost'] as const) {
    const cost = completed[field]
    if (cost === undefined) delete usage[field]
    else usage[field] = cost
  }
  usage.input_cost_details = completed.input_cost_details ?? {}
  usage.output_cost_details = completed.output_cost_details ?? {}
  if (completed.price_model_id !== undefined) {
    usage.price_model_id = completed.price_model_id
    llm.provider ??= providerOfPrice(completed.price_model_id)
  }
  const tier = tierOfCounts(usage)
  for (const code of completed.issues) traceRun.issues.push(priceIssue(code, { model, provider, tier }))
}
