import { isObject, type JsonValue } from '../../../../schema/json.ts'
import { readingOf, readUsage } from '../../../tokens/usage/read-usage.ts'
import { type Decimal, formatDecimal, parseDecimal } from '../../../price/decimal.ts'
import type { FoundUsage } from '../../../tokens/usage/places.ts'
import type { SpanView } from '../../span/view.ts'

const USAGE = 'langfuse.observation.usage_details'
const COST = 'langfuse.observation.cost_details'

/**
 * Counts, under Langfuse's own names or the vendor's, and costs that Langfuse's SDK reports; undefined if there are
 * none.
 */
export function langfuseUsage(view: SpanView): FoundUsage | undefined {
  if (view.get(USAGE) === undefined && view.get(COST) === undefined) return undefined
  const sent = view.json(USAGE)
  const costs = view.json(COST)
  const path = `extra.otel_span.attributes.${isObject(sent) ? USAGE : COST}`
  const reading = isObject(sent) ? readUsage(sent, path) : readingOf({})
  if (isObject(costs)) {
    for (const side of ['input', 'output'] as const) {
      const parts = Object.keys(costs).filter((key) => key === side || key.startsWith(`${side}_`))
      const cost = parts.length === 1 ? costs[parts[0]!] : sumOf(parts.map((key) => costs[key] ?? null))
      if (cost !== undefined && parts.length > 0) reading.value[`${side}_cost`] = cost
    }
    if (costs['total'] !== undefined) reading.value['total_cost'] = costs['total']
  }
  const isEmpty = Object.keys(reading.value).length === 0 && reading.unread.length === 0
  return isEmpty ? undefined : { reading, path, source: 'client' }
}

/** The sum of costs that exclude each other, as the parts of a side do. */
function sumOf(parts: readonly JsonValue[]): string {
  return formatDecimal(parts.reduce<Decimal>((sum, part) => sum + (parseDecimal(part) ?? 0n), 0n))
}
