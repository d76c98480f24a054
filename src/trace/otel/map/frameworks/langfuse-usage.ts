import { type JsonObject, type JsonValue, isObject } from '../../../../schema/json.ts'
import type { FoundUsage } from '../../../tokens/usage-sources.ts'
import { fromVendor } from '../../../tokens/vendor-usage.ts'
import { type SpanView, asNumber } from '../../span/view.ts'

const USAGE = 'langfuse.observation.usage_details'
const COST = 'langfuse.observation.cost_details'

/**
 * Counts, under Langfuse's own names or the vendor's, and costs that Langfuse's SDK reports; undefined if there are
 * none.
 */
export function langfuseUsage(view: SpanView): FoundUsage | undefined {
  const sent = view.json(USAGE)
  const costs = view.json(COST)
  const value: JsonObject = isObject(sent) ? (fromVendor(sent) ?? ownCounts(sent)) : {}
  if (isObject(costs)) {
    for (const side of ['input', 'output', 'total'] as const)
      if (costs[side] !== undefined) value[`${side}_cost`] = costs[side]
  }
  if (Object.keys(value).length === 0) return undefined
  return { value, path: `extra.otel_span.attributes.${isObject(sent) ? USAGE : COST}`, source: 'client' }
}

/**
 * Langfuse's own names: `input`, `output`, `total`, and each detail as `input_<detail>` or `output_<detail>`. Langfuse
 * prices every entry separately, so its integrations subtract the details from their side; the total shows whether that
 * was done.
 */
function ownCounts(sent: JsonObject): JsonObject {
  const input = { ...detailsOf(sent, 'input_'), ...vendorCache(sent) }
  const output = detailsOf(sent, 'output_')
  const count = (value: JsonValue | undefined): number => asNumber(value) ?? 0
  const sum = (details: JsonObject): number =>
    Object.values(details).reduce<number>((a, b) => a + count(b), 0)
  const [inside, beside] = [count(sent['input']) + count(sent['output']), sum(input) + sum(output)]
  // Without a total, Langfuse sums up the counts.
  const total = asNumber(sent['total'])
  const isBeside = beside > 0 && (total === undefined ? hasVendorCache(sent) : total === inside + beside)
  const value: JsonObject = {}
  const put = (key: string, found: JsonValue | undefined, details: JsonObject): void => {
    if (found !== undefined) value[key] = isBeside ? count(found) + sum(details) : found
  }
  put('input_tokens', sent['input'], input)
  put('output_tokens', sent['output'], output)
  if (sent['total'] !== undefined) value['total_tokens'] = sent['total']
  if (Object.keys(input).length > 0) value['input_token_details'] = input
  if (Object.keys(output).length > 0) value['output_token_details'] = output
  return value
}

/** Anthropic's names of cache counts. */
const VENDOR_CACHE = [
  ['cache_read_input_tokens', 'cache_read'],
  ['cache_creation_input_tokens', 'cache_creation'],
  ['cache_read', 'cache_read'],
  ['cache_write', 'cache_creation'],
] as const

function vendorCache(sent: JsonObject): JsonObject {
  const found: JsonObject = {}
  for (const [name, detail] of VENDOR_CACHE)
    if (asNumber(sent[name]) !== undefined) found[detail] = sent[name]
  return found
}

function hasVendorCache(sent: JsonObject): boolean {
  return Object.keys(vendorCache(sent)).length > 0
}

function detailsOf(sent: JsonObject, prefix: 'input_' | 'output_'): JsonObject {
  const details: JsonObject = {}
  for (const [key, count] of Object.entries(sent).slice(0, 50)) {
    if (!key.startsWith(prefix)) continue
    const name = key.slice(prefix.length).replace(/(?:_input|_output)?_tokens$/, '')
    if (name !== '__proto__') details[name === 'cached' ? 'cache_read' : name] = count
  }
  return details
}
