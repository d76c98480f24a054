import { type JsonObject, type JsonValue, isObject, text } from '../../../../schema/json.ts'
import { parseJson } from '../../../json/json-text.ts'
import { type FoundUsage, vendorUsage } from '../../../tokens/usage-sources.ts'
import { fromVendor } from '../../../tokens/vendor-usage.ts'
import { type SpanView, asNumber } from '../../span/view.ts'

const USAGE = 'mlflow.chat.tokenUsage'
const OUTPUTS = 'mlflow.spanOutputs'

/** The value of an attribute of MLflow, which writes each as JSON text; undefined for null. */
export function mlflowValue(view: SpanView, key: string): JsonValue | undefined {
  const sent = view.get(key)
  const value = typeof sent === 'string' ? (parseJson(sent)?.value ?? undefined) : sent
  return value ?? undefined
}

/** As mlflowValue, for text; text that is not JSON is returned unchanged. */
export function mlflowText(view: SpanView, key: string): string | undefined {
  const sent = view.get(key)
  if (typeof sent !== 'string') return text(sent)
  const parsed = parseJson(sent)
  return text(parsed === undefined ? sent : (parsed.value ?? undefined))
}

/** True for spans of MLflow. */
export function isMlflow(view: SpanView): boolean {
  return view.get('mlflow.spanType') !== undefined
}

/**
 * The counts and costs of a span of MLflow. MLflow's own counts lack reasoning tokens and, for some vendors, cache
 * tokens. If the vendor's answer in the outputs has the same output count, the vendor's counts are used.
 */
export function mlflowUsage(view: SpanView): FoundUsage | undefined {
  if (!isMlflow(view)) return undefined
  const sent = mlflowValue(view, USAGE)
  const costs = mlflowValue(view, 'mlflow.llm.cost')
  const counts = isObject(sent) ? (fromVendor(sent) ?? {}) : {}
  const value: JsonObject = { ...counts, ...(isObject(sent) ? answerCounts(view, sent) : {}) }
  if (isObject(costs))
    for (const key of ['input_cost', 'output_cost', 'total_cost'] as const)
      if (costs[key] !== undefined) value[key] = costs[key]
  if (Object.keys(value).length === 0) return undefined
  return { value, path: `extra.otel_span.attributes.${USAGE}`, source: 'client' }
}

function answerCounts(view: SpanView, sent: JsonObject): JsonObject | undefined {
  const outputs = mlflowValue(view, OUTPUTS)
  if (outputs === undefined) return undefined
  for (const { value } of vendorUsage(outputs, OUTPUTS))
    if (asNumber(value['output_tokens']) === asNumber(sent['output_tokens'])) return value
  return undefined
}
