import { isObject } from '../../../../schema/json.ts'
import { readingOf, readUsage } from '../../../tokens/usage/read-usage.ts'
import type { FoundUsage } from '../../../tokens/usage/places.ts'
import type { SpanView } from '../../span/view.ts'

const USAGE = 'langfuse.observation.usage_details'
const COST = 'langfuse.observation.cost_details'

/**
 * Counts, under Langfuse's own names or the vendor's, and costs that Langfuse's SDK reports; undefined if there are
 * none.
 */
export function langfuseUsage(view: SpanView): FoundUsage | undefined {
  const sent = view.json(USAGE)
  const costs = view.json(COST)
  const path = `extra.otel_span.attributes.${isObject(sent) ? USAGE : COST}`
  const reading = isObject(sent) ? readUsage(sent, path) : readingOf({})
  if (isObject(costs)) {
    for (const side of ['input', 'output', 'total'] as const)
      if (costs[side] !== undefined) reading.value[`${side}_cost`] = costs[side]
  }
  const isEmpty = Object.keys(reading.value).length === 0 && reading.unread.length === 0
  return isEmpty ? undefined : { reading, path, source: 'client' }
}
