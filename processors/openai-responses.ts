import { isObject, type JsonObject, type JsonValue } from '../src/schema/json.ts'
import { type Draft, finish, message, newDraft, put, textBlock } from '../src/trace/messages/messages.ts'
import type { Hints, Normalized, Processor, Side } from '../src/trace/messages/processor.ts'
import { putMessage } from './parts/read-parts.ts'
import { foldResponsesEvents } from './parts/responses-events.ts'
import { isResponsesItem, putItems } from './parts/responses-items.ts'
import { RESPONSES, surveyMessages } from './parts/survey.ts'

/**
 * OpenAI's Responses API: `instructions` and `input` (a string or a list of items); answers as `output[]`,
 * `output_text`, a plain list of items, or the list of streamed events.
 */
export const openaiResponses: Processor = { name: 'openai-responses', match, normalize }

function match(side: Side, value: JsonValue, hints: Hints): 0 | 1 | 2 {
  if (Array.isArray(value)) {
    if (side === 'outputs' && finalResponse(value) !== undefined) return 2
    return value.some(isResponsesItem) ? 2 : 0
  }
  if (!isObject(value)) return 0
  return side === 'inputs' ? matchRequest(value, hints) : matchAnswer(value)
}

function matchRequest(value: JsonObject, hints: Hints): 0 | 1 | 2 {
  const { input, instructions, model } = value
  const asked = isObject(hints.metadata.ls_invocation_params) ? hints.metadata.ls_invocation_params : {}
  const certain = typeof instructions === 'string' || asked.use_responses_api === true
  if (typeof input === 'string') return certain ? 2 : typeof model === 'string' ? 1 : 0
  if (!Array.isArray(input)) return 0
  if (input.some(isResponsesItem)) return 2
  const { messages, marks } = surveyMessages(input)
  if (!messages || (marks & ~RESPONSES) !== 0) return 0
  return certain || marks !== 0 ? 2 : typeof model === 'string' ? 1 : 0
}

function matchAnswer(value: JsonObject): 0 | 1 | 2 {
  if (value.object === 'response' || value.object === 'realtime.response') return 2
  if (isObject(value.response) && value.type === 'response.done') return 2
  if (Array.isArray(value.output)) {
    if (value.output.some(isResponsesItem)) return 2
    return typeof value.output_text === 'string' && value.output.length === 0 ? 1 : 0
  }
  return typeof value.output_text === 'string' && value.choices === undefined ? 1 : 0
}

/** The answer of a stream of events: that of its last event or, if the stream was aborted, what had arrived. */
function finalResponse(events: readonly JsonValue[]): JsonObject | undefined {
  let started: JsonObject | undefined
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i]
    if (!isObject(event) || typeof event.type !== 'string' || !event.type.startsWith('response.')) continue
    if (!isObject(event.response)) continue
    if (!STARTS.has(event.type)) return event.response
    started = event.response
  }
  return started === undefined ? undefined : foldResponsesEvents(started, events)
}

/** Events at the begin of a stream, whose answer is empty. */
const STARTS: ReadonlySet<string> = new Set(['response.created', 'response.queued', 'response.in_progress'])

function normalize(side: Side, value: JsonValue): Normalized {
  const draft = newDraft()
  if (Array.isArray(value)) {
    const final = side === 'outputs' ? finalResponse(value) : undefined
    if (final !== undefined) return putAnswer(draft, final)
    putItems(draft, '', value, side === 'inputs' ? 'user' : 'assistant')
    return finish(draft)
  }
  if (!isObject(value)) return finish(draft)
  const { model, tools } = value
  // The Realtime API ends each answer with an event.
  const { response } = value
  if (side === 'outputs')
    return putAnswer(draft, isObject(response) && value.output === undefined ? response : value)
  const { input, instructions } = value
  if (typeof instructions === 'string') {
    putMessage(draft, 'instructions', { role: 'system', content: instructions })
  } else if (Array.isArray(instructions)) putItems(draft, 'instructions', instructions, 'system')
  if (typeof input === 'string') put(draft, 'input', message('user', [textBlock(input)]))
  else if (Array.isArray(input)) putItems(draft, 'input', input, 'user')
  return finish(draft, { model, tools })
}

function putAnswer(draft: Draft, value: JsonObject): Normalized {
  const { output, output_text: said, model } = value
  if (Array.isArray(output) && output.length > 0) putItems(draft, 'output', output, 'assistant')
  else if (typeof said === 'string') put(draft, 'output_text', message('assistant', [textBlock(said)]))
  return finish(draft, { model })
}
