import { type JsonObject, type JsonValue, isObject, text } from '../../../../schema/json.ts'
import { type FoundUsage, vendorUsage } from '../../../tokens/usage/places.ts'
import { type Found, filled, messages } from '../side-source.ts'
import type { SpanView } from '../../span/view.ts'

const TYPE = 'haystack.component.type'
const OUTPUT = 'haystack.component.output'

/** Run types by the end of a component's class name: OpenAIChatGenerator, OllamaTextEmbedder. */
const TYPES = [
  [/Generator$/, 'llm'],
  [/Embedder$/, 'embedding'],
  [/Retriever$/, 'retriever'],
] as const

/** The run type of a span of Haystack's own tracer; undefined for other spans and components. */
export function haystackType(view: SpanView): string | undefined {
  const component = view.text(TYPE) ?? ''
  return TYPES.find(([pattern]) => pattern.test(component))?.[1]
}

/** The vendor in the module of a component: `haystack.components.generators.chat.openai.OpenAIChatGenerator`. */
export function haystackProvider(view: SpanView): string | undefined {
  const module = view.text('haystack.component.fully_qualified_type') ?? ''
  return /\.(?:generators|embedders)\.(?:chat\.)?([a-z]+)\w*\./.exec(module)?.[1]
}

/** The model that answered. Haystack's spans do not contain the requested model. */
export function haystackModel(view: SpanView): string | undefined {
  return text(answerOf(view)?.['model'])
}

/** A side of a span: prompts and answers of generators as messages, everything else as sent. */
export function haystackSide(view: SpanView, side: 'input' | 'output'): Found {
  const value = view.json(`haystack.component.${side}`) ?? view.json(`haystack.pipeline.${side}_data`)
  const list = isObject(value) ? (side === 'input' ? value['messages'] : value['replies']) : undefined
  if (haystackType(view) !== 'llm' || !Array.isArray(list) || !list.every(isObject)) return filled(value)
  return messages(list.map(messageOf))
}

/** The vendor's counts, which Haystack stores with the first reply. */
export function haystackUsage(view: SpanView): FoundUsage | undefined {
  const answer = answerOf(view)
  if (answer === undefined) return undefined
  const [found] = vendorUsage(answer, `extra.otel_span.attributes.${OUTPUT}.replies.0.meta`)
  return found
}

/** The metadata that a generator records about its answer; undefined if the content was not recorded. */
function answerOf(view: SpanView): JsonObject | undefined {
  if (view.get(OUTPUT) === undefined || haystackType(view) !== 'llm') return undefined
  const output = view.json(OUTPUT)
  if (!isObject(output)) return undefined
  const meta = Array.isArray(output['meta']) ? output['meta'][0] : undefined
  const reply = Array.isArray(output['replies']) ? output['replies'][0] : undefined
  // Generators of plain text store the metadata beside the replies.
  const found = isObject(reply) ? reply['meta'] : meta
  return isObject(found) ? found : undefined
}

/** A ChatMessage in the form of the GenAI conventions. */
function messageOf({ role, content }: JsonObject): JsonObject {
  return { role: role ?? 'user', parts: Array.isArray(content) ? content.map(partOf) : [] }
}

function partOf(part: JsonValue): JsonValue {
  if (!isObject(part)) return part
  const { text: content, tool_call: call, tool_call_result: result, reasoning } = part
  if (content !== undefined) return { type: 'text', content }
  if (isObject(call)) {
    const { id = null, tool_name: name = null, arguments: args = null } = call
    return { type: 'tool_call', id, name, arguments: args }
  }
  if (isObject(result)) {
    const id = (isObject(result['origin']) ? result['origin']['id'] : undefined) ?? null
    return { type: 'tool_call_response', id, response: result['result'] ?? null }
  }
  if (isObject(reasoning)) return { type: 'reasoning', content: reasoning['reasoning_text'] ?? '' }
  return part
}
