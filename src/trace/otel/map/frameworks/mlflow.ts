import { type JsonValue, isObject, text } from '../../../../schema/json.ts'
import { parseJson } from '../../../json/json-text.ts'
import { readingOf, readUsage } from '../../../tokens/usage/read-usage.ts'
import { type FoundUsage, vendorUsage } from '../../../tokens/usage/places.ts'
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

export function isMlflow(view: SpanView): boolean {
  return view.get('mlflow.spanType') !== undefined
}

/**
 * The counts and costs of a span of MLflow. MLflow's own counts lack reasoning tokens and, for some vendors, cache
 * tokens. If the vendor's answer in the outputs has the same output count, the vendor's counts come first.
 */
export function mlflowUsage(view: SpanView): FoundUsage[] {
  if (!isMlflow(view)) return []
  const path = `extra.otel_span.attributes.${USAGE}`
  const sent = mlflowValue(view, USAGE)
  const costs = mlflowValue(view, 'mlflow.llm.cost')
  const provider = mlflowText(view, 'mlflow.llm.provider')
  const reading = isObject(sent) ? readUsage(sent, path, provider) : readingOf({})
  const answers = answerCounts(view, reading.value['output_tokens'], provider)
  if (isObject(costs))
    for (const key of ['input_cost', 'output_cost', 'total_cost'] as const)
      if (costs[key] !== undefined) reading.value[key] = costs[key]
  const own: FoundUsage = { reading, path, source: 'client' }
  return Object.keys(reading.value).length === 0 ? answers : [...answers, own]
}

function answerCounts(
  view: SpanView,
  output: JsonValue | undefined,
  provider: string | undefined,
): FoundUsage[] {
  const outputs = output === undefined ? undefined : mlflowValue(view, OUTPUTS)
  if (outputs === undefined) return []
  const same = vendorUsage(outputs, OUTPUTS, provider).find(
    ({ reading }) => asNumber(reading.value['output_tokens']) === asNumber(output),
  )
  return same === undefined ? [] : [{ ...same, source: 'client' }]
}
