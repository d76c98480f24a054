import { isObject, type JsonObject, type JsonValue } from '../src/schema/json.ts'
import { finish, newDraft } from '../src/trace/messages/messages.ts'
import type { Hints, Normalized, Processor, Side } from '../src/trace/messages/processor.ts'
import { foldBedrockEvents, isBedrockEvent } from './parts/bedrock-events.ts'
import { putOpenaiMessage } from './parts/openai/message.ts'
import { putMessage } from './parts/read-parts.ts'
import { BEDROCK, surveyMessages, UNTYPED } from './parts/survey.ts'

/**
 * Amazon Bedrock's Converse API: `system[]` and `messages[]` of parts without a type; `output.message`, or the list of
 * streamed events.
 */
export const bedrockConverse: Processor = { name: 'bedrock-converse', match, normalize }

function match(side: Side, value: JsonValue, hints: Hints): 0 | 1 | 2 {
  if (side === 'outputs' && Array.isArray(value)) return value.slice(0, 3).some(isBedrockEvent) ? 2 : 0
  if (!isObject(value)) return 0
  const said = side === 'outputs' ? answerOf(value) : undefined
  const list = said === undefined ? value.messages : [said]
  if (!Array.isArray(list) || list.length === 0) return 0
  const { messages, marks } = surveyMessages(list)
  if (!messages || marks === 0 || (marks & ~(BEDROCK | UNTYPED)) !== 0) return 0
  if ((marks & BEDROCK) !== 0 || said !== undefined) return 2
  return isRequest(value) || isHinted(hints) ? 2 : 0
}

function isRequest(value: JsonObject): boolean {
  if (value.modelId !== undefined || value.inferenceConfig !== undefined || value.toolConfig !== undefined)
    return true
  const first = Array.isArray(value.system) ? value.system[0] : undefined
  return isObject(first) && first.text !== undefined && first.type === undefined
}

function isHinted(hints: Hints): boolean {
  if (hints.inputs_format === 'bedrock-converse') return true
  if (hints.provider !== undefined && /bedrock|amazon|aws/i.test(hints.provider)) return true
  return /^(?:[a-z]{2,6}\.)?(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek)\./i.test(hints.model ?? '')
}

function answerOf(value: JsonObject): JsonObject | undefined {
  return isObject(value.output) && isObject(value.output.message) ? value.output.message : undefined
}

function normalize(side: Side, value: JsonValue): Normalized {
  const draft = newDraft()
  if (side === 'outputs' && Array.isArray(value)) {
    putOpenaiMessage(draft, '', foldBedrockEvents(value), 'assistant')
    return finish(draft)
  }
  if (!isObject(value)) return finish(draft)
  const said = side === 'outputs' ? answerOf(value) : undefined
  if (said !== undefined) {
    putOpenaiMessage(draft, 'output.message', said, 'assistant')
    return finish(draft)
  }
  if (Array.isArray(value.system)) {
    putMessage(draft, 'system', { role: 'system', content: value.system, content_path: 'system' })
  }
  const list = Array.isArray(value.messages) ? value.messages : []
  for (const [i, message] of list.entries()) putOpenaiMessage(draft, `messages[${i}]`, message, 'user')
  const tools = isObject(value.toolConfig) ? value.toolConfig.tools : undefined
  return finish(draft, { model: value.modelId, tools })
}
