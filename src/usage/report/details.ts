import { baseModel } from '../../trace/price/model-name.ts'
import type { UsageDetails } from '../../schema/types.gen.ts'
import { type UsageNames, dimensionsOf, orderOf } from './dimensions.ts'
import { type UsageRequest, inOrder, rangeOf } from './granular-usage.ts'
import type { DetailGrouping, UsageDetail, UsageDetailsSource } from './details-source.ts'
import { formatUsageTime } from './time.ts'

type Line = UsageDetails['usage'][number]

function dimensionsOfDetail(
  group_by: DetailGrouping,
  detail: UsageDetail,
  names: UsageNames,
): Line['dimensions'] {
  if (group_by !== 'model') return dimensionsOf(group_by, detail, names)
  const { provider, model } = detail
  return { provider: provider || null, model: model || null, base_model: baseModel(model) || null }
}

function orderOfDetail(group_by: DetailGrouping, detail: UsageDetail, names: UsageNames): string {
  return group_by === 'model'
    ? [detail.provider, baseModel(detail.model), detail.model].join('\0')
    : orderOf(group_by, detail, names)
}

/**
 * Reports tokens and costs in the shape and by the rules of the usage report.
 * @throws AppError invalid_request unless `end` is after `start`
 */
export async function reportUsageDetails(
  source: UsageDetailsSource,
  { workspace_ids, start, end, group_by }: UsageRequest<DetailGrouping>,
  loadNames: () => Promise<UsageNames>,
): Promise<UsageDetails> {
  const range = rangeOf(start, end)
  const { stride } = range
  if (workspace_ids.length === 0) return { stride, usage: [] }
  const details = await source.details({ workspace_ids, ...range, group_by })
  if (details.length === 0) return { stride, usage: [] }
  const names = await loadNames()
  const usage = inOrder(details, (detail) => orderOfDetail(group_by, detail, names)).map(
    (detail): Line => ({
      time_bucket: formatUsageTime(detail.bucket),
      dimensions: dimensionsOfDetail(group_by, detail, names),
      llm_runs: detail.llm_runs,
      prompt_tokens: detail.prompt_tokens,
      completion_tokens: detail.completion_tokens,
      total_tokens: detail.prompt_tokens + detail.completion_tokens,
      prompt_cost: detail.prompt_cost,
      completion_cost: detail.completion_cost,
      total_cost: detail.total_cost,
      estimated_prompt_tokens: detail.estimated_prompt_tokens,
      estimated_completion_tokens: detail.estimated_completion_tokens,
      estimated_cost: detail.estimated_cost,
      unpriced_runs: detail.unpriced_runs,
      unpriced_tokens: detail.unpriced_tokens,
      units: detail.units,
    }),
  )
  return { stride, usage }
}
