import { type JsonObject, type JsonValue, isObject, text } from '../../../schema/json.ts'
import type { SpanEvent, SpanLog } from '../span/span.ts'
import { type Entry, type SpanView, readJson, unflatten } from '../span/view.ts'

/**
 * The messages to and from the model in events or log records of the span, in a loose form of the GenAI conventions.
 */
export interface SpokenEvents {
  inputs: JsonObject[]
  outputs: JsonObject[]
}

/** A content event, from a span event or a log record. */
interface ContentEvent {
  name: string
  fields: JsonObject
}

const INPUT_EVENT = /^gen_ai\.(system|user|assistant|tool)\.message$/
/** Order of events with the same time, because log records arrive in any order. */
const TURN = ['system', 'user', 'assistant', 'tool']

/** The conversation in the span's events and log records; empty if content was not captured. */
export function readSpokenEvents(view: SpanView): SpokenEvents {
  const { events, logs } = view.span
  const found: ContentEvent[] = []
  for (const event of events) if (isContentName(event.name)) found.push(readEvent(event))
  for (const log of [...logs].sort(byTime)) {
    const name = nameOf(log)
    if (isContentName(name)) found.push(readLog(log, name))
  }
  return messagesOf(found)
}

/** As `readSpokenEvents`, for lists of events inside an attribute: Logfire's `events`, `all_messages_events`. */
export function readListedEvents(value: JsonValue | undefined): SpokenEvents {
  if (!Array.isArray(value)) return { inputs: [], outputs: [] }
  const found = value.filter(isObject).map((event) => ({
    name: text(event['event.name']) ?? (event['message'] === undefined ? '' : 'gen_ai.choice'),
    fields: withoutTelemetry(event),
  }))
  return messagesOf(found)
}

/**
 * The attributes of all events and logs of this name on the span; the last value of each attribute counts. Strands
 * sends input and output as two events of the same name.
 */
export function eventAttributes(view: SpanView, name: string): JsonObject | undefined {
  let found: JsonObject | undefined
  for (const event of view.span.events) if (event.name === name) found = { ...found, ...event.attributes }
  for (const log of view.span.logs) {
    if (nameOf(log) !== name) continue
    found = { ...found, ...(isObject(log.body) ? log.body : {}), ...log.attributes }
  }
  return found
}

function nameOf(log: SpanLog): string {
  return log.name || (text(log.attributes['event.name']) ?? '')
}

function isContentName(name: string): boolean {
  return (
    INPUT_EVENT.test(name) ||
    name === 'gen_ai.choice' ||
    name === 'gen_ai.content.prompt' ||
    name === 'gen_ai.content.completion'
  )
}

function byTime(a: SpanLog, b: SpanLog): number {
  if (a.time !== b.time) return a.time < b.time ? -1 : 1
  return turnOf(a) - turnOf(b)
}

function turnOf(log: SpanLog): number {
  const turn = TURN.indexOf(INPUT_EVENT.exec(nameOf(log))?.[1] ?? '')
  return turn < 0 ? TURN.length : turn
}

function readEvent({ name, attributes }: SpanEvent): ContentEvent {
  const plain: Entry[] = []
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && !key.startsWith('gen_ai.') && key !== 'event.name')
      plain.push([key, value])
  }
  const flat = plain.length === 0 ? {} : unflatten(plain)
  const fields = isObject(flat) ? flat : {}
  const content = attributes['gen_ai.event.content']
  const whole = content === undefined || content === null ? undefined : readJson(content)
  if (isObject(whole)) return { name, fields: { ...fields, ...whole } }
  const shown = whole ?? attributes['gen_ai.prompt'] ?? attributes['gen_ai.completion']
  return { name, fields: shown === undefined || shown === null ? fields : { ...fields, content: shown } }
}

function readLog(log: SpanLog, name: string): ContentEvent {
  const { fields } = readEvent({ name, time: log.time, attributes: log.attributes })
  const body = typeof log.body === 'string' ? readJson(log.body) : log.body
  if (isObject(body)) return { name, fields: { ...fields, ...body } }
  return { name, fields: body === null ? fields : { ...fields, content: body } }
}

function withoutTelemetry(event: JsonObject): JsonObject {
  const fields: JsonObject = {}
  for (const [key, value] of Object.entries(event))
    if (key !== 'event.name' && !key.startsWith('gen_ai.') && key !== '__proto__') fields[key] = value
  return fields
}

function messagesOf(events: readonly ContentEvent[]): SpokenEvents {
  const spoken: SpokenEvents = { inputs: [], outputs: [] }
  for (const { name, fields } of events) {
    const role = INPUT_EVENT.exec(name)?.[1]
    if (role !== undefined) spoken.inputs.push(turn(fields, role))
    else if (name === 'gen_ai.content.prompt') spoken.inputs.push(...loose(fields['content'], 'user'))
    else if (name === 'gen_ai.content.completion')
      spoken.outputs.push(...loose(fields['content'], 'assistant'))
    else if (name === 'gen_ai.choice') spoken.outputs.push(choice(fields))
  }
  return {
    inputs: spoken.inputs.some(hasContent) ? spoken.inputs : [],
    outputs: spoken.outputs.some(hasContent) ? spoken.outputs : [],
  }
}

function hasContent(message: JsonObject): boolean {
  return (
    (message['content'] !== undefined && message['content'] !== null && message['content'] !== '') ||
    message['tool_calls'] !== undefined ||
    message['parts'] !== undefined
  )
}

/**
 * Converts the fields of a message event to a message. In a tool result `id` is the id of its call; Gemini's content
 * has parts.
 */
function turn(fields: JsonObject, role: string): JsonObject {
  const { id, tool_calls, ...rest } = fields
  const message: JsonObject = { ...rest, role: text(fields['role']) ?? role }
  if (isObject(rest['content']) && Array.isArray(rest['content']['parts']))
    message['content'] = rest['content']['parts']
  if (tool_calls !== undefined && tool_calls !== null) message['tool_calls'] = readJson(tool_calls)
  if (role === 'tool' && id !== undefined) message['tool_call_id'] = id
  return message
}

/** Converts a choice, whose message is in `message` (an object, its JSON, or plain text) or at the top level. */
function choice(fields: JsonObject): JsonObject {
  const { message, index: _index, ...rest } = fields
  const inner = message === undefined || message === null ? undefined : readJson(message)
  const merged: JsonObject = isObject(inner) ? { ...rest, ...inner } : { ...rest }
  if (inner !== undefined && !isObject(inner)) merged['content'] = inner
  return turn(merged, 'assistant')
}

/** Reads text, a message or a list of messages; Semantic Kernel puts each of them into the same attribute. */
function loose(value: JsonValue | undefined, role: string): JsonObject[] {
  const read = value === undefined ? null : readJson(value)
  const list = Array.isArray(read) ? read : [read]
  return list
    .filter((item) => item !== null)
    .map((item) => (isObject(item) ? turn(item, role) : { role, content: item }))
}
