import { isObject, type JsonObject, type JsonValue, text } from '../../schema/json.ts'
import { mimeOf, type PlacedMessage, sentMessages, joinedText, unsupportedBlock } from './message-parts.ts'
import {
  sentFields,
  type Delta,
  type ModelCall,
  NEW_CALL,
  type Provider,
  type ReadEvent,
  type ToolChoice,
  withExtra,
} from './provider.ts'

/** Gemini's API. */
export const google: Provider = {
  name: 'google',
  secret: 'GOOGLE_API_KEY',
  base_url: 'https://generativelanguage.googleapis.com/v1beta',
  toRequest(call, secret) {
    const model = encodeURIComponent(call.model.replace(/^models\//, ''))
    return {
      path: `/models/${model}:streamGenerateContent?alt=sse`,
      headers: { 'x-goog-api-key': secret },
      body: toBody(call),
    }
  },
  readEvent,
}

const CHOICES = { auto: 'AUTO', none: 'NONE', required: 'ANY' }

function toBody({ messages, tools, tool_choice, output_schema, parameters }: ModelCall): JsonObject {
  const { temperature, top_p, max_tokens, stop, seed, extra } = parameters
  const { generationConfig, ...others } = extra
  const sent = sentMessages(messages)
  const system = sent.flatMap(({ message }) =>
    message.role === 'system' ? [{ text: joinedText(message) }] : [],
  )
  return withExtra(others, {
    contents: joinTurns(sent.filter(({ message }) => message.role !== 'system')),
    systemInstruction: system.length === 0 ? undefined : { parts: system },
    tools: tools.length === 0 ? undefined : [{ functionDeclarations: tools.map(toTool) }],
    toolConfig: tools.length === 0 ? undefined : { functionCallingConfig: toChoice(tool_choice) },
    generationConfig: withExtra(isObject(generationConfig) ? generationConfig : {}, {
      temperature,
      topP: top_p,
      maxOutputTokens: max_tokens,
      stopSequences: stop && [...stop],
      seed,
      responseMimeType: output_schema && 'application/json',
      responseJsonSchema: output_schema,
    }),
  })
}

function toChoice(choice: ToolChoice): JsonObject {
  if (typeof choice === 'string') return { mode: CHOICES[choice] }
  return { mode: 'ANY', allowedFunctionNames: [choice.name] }
}

function toTool({ name, description, parameters }: ModelCall['tools'][number]): JsonObject {
  return sentFields({ name, description, parametersJsonSchema: parameters })
}

/** Joins messages, because turns of the user and the model must alternate. */
function joinTurns(sent: readonly PlacedMessage[]): JsonObject[] {
  const names = calledNames(sent)
  const turns: { role: string; parts: JsonObject[] }[] = []
  for (const placed of sent) {
    const { role } = placed.message
    const said = role === 'assistant' ? 'model' : 'user'
    const parts = role === 'tool' ? [toResult(placed, names)] : toParts(placed)
    const last = turns.at(-1)
    if (last?.role === said) last.parts.push(...parts)
    else if (parts.length > 0) turns.push({ role: said, parts })
  }
  return turns.map((turn) => ({ ...turn }))
}

/** The name of each called tool by the id of the call, since results are sent by name. */
function calledNames(sent: readonly PlacedMessage[]): ReadonlyMap<string, string> {
  const calls = sent.flatMap(({ message }) => message.content.filter((block) => block.type === 'tool_call'))
  return new Map(
    calls.flatMap(({ id, name }) => (id === undefined || name === undefined ? [] : [[id, name]])),
  )
}

function toResult({ message }: PlacedMessage, names: ReadonlyMap<string, string>): JsonObject {
  const name = names.get(message.tool_call_id ?? '') ?? text(message.name) ?? ''
  return { functionResponse: { name, response: toResponse(joinedText(message)) } }
}

/** Converts a result to an object, since the API accepts only objects. */
function toResponse(result: string): JsonObject {
  try {
    const value = JSON.parse(result) as JsonValue
    if (isObject(value)) return value
  } catch {
    // Text that is not JSON is sent as text.
  }
  return { result }
}

function toParts({ message, index }: PlacedMessage): JsonObject[] {
  return message.content.flatMap((block, at): JsonObject[] => {
    if (block.type === 'text') return [{ text: block.text }]
    if (block.type === 'reasoning') return []
    if (block.type === 'tool_call')
      return [{ functionCall: { name: block.name ?? '', args: block.args as JsonObject } }]
    if (block.type === 'server_tool_call' || block.type === 'server_tool_result')
      throw unsupportedBlock('Gemini', block, [index, at])
    if (block.base64 !== undefined) return [{ inlineData: { mimeType: mimeOf(block), data: block.base64 } }]
    if (block.url !== undefined) return [{ fileData: { mimeType: mimeOf(block), fileUri: block.url } }]
    throw unsupportedBlock('Gemini', block, [index, at])
  })
}

function readEvent(data: JsonObject): ReadEvent {
  if (isObject(data['error']))
    return { error: text(data['error']['message']) ?? 'the provider sent an error' }
  const [candidate] = Array.isArray(data['candidates']) ? data['candidates'] : []
  const content = isObject(candidate) && isObject(candidate['content']) ? candidate['content'] : {}
  const parts = Array.isArray(content['parts']) ? content['parts'].filter(isObject) : []
  const feedback = isObject(data['promptFeedback']) ? text(data['promptFeedback']['blockReason']) : undefined
  const finish = isObject(candidate) ? text(candidate['finishReason']) : undefined
  const [usage, model, id] = [data['usageMetadata'], text(data['modelVersion']), text(data['responseId'])]
  return {
    deltas: parts.flatMap(readPart),
    ...(isObject(usage) && { usage }),
    ...(finish !== undefined && { finish_reason: finish }),
    ...(model !== undefined && { model }),
    ...(id !== undefined && { id }),
    ...(feedback !== undefined && { error: `the prompt was blocked: ${feedback}` }),
  }
}

/** Reads a part of an answer. Gemini sends each tool call in a single part. */
function readPart(part: JsonObject): Delta[] {
  const said = text(part['text'])
  if (said !== undefined) return [{ type: part['thought'] === true ? 'reasoning' : 'text', text: said }]
  const call = part['functionCall']
  if (!isObject(call)) return []
  const [id, name] = [text(call['id']), text(call['name'])]
  return [
    {
      type: 'tool_call',
      index: NEW_CALL,
      ...(id !== undefined && { id }),
      ...(name !== undefined && { name }),
      args: JSON.stringify(call['args'] ?? {}),
    },
  ]
}
