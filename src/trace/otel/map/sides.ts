import { type JsonObject, type JsonValue, isObject, text } from '../../../schema/json.ts'
import { haystackSide } from './frameworks/haystack.ts'
import { mlflowValue } from './frameworks/mlflow.ts'
import { genkitSide } from './frameworks/genkit.ts'
import { eventAttributes, readListedEvents, readSpokenEvents } from './events.ts'
import {
  adkOutput,
  embedded,
  logfireOutput,
  mastra,
  rerankerInputs,
  retrieved,
  vercelInputs,
  vercelOutputs,
} from './framework-sides.ts'
import {
  type Found,
  filled,
  type MappedSide,
  messages,
  type SideContext,
  type Source,
} from './side-source.ts'
import { type SpanView, listOf, nested, objectsOf, readJson } from '../span/view.ts'

/** Attributes with a value of unknown format, in order of precedence; read after the attributes with messages. */
const INPUT_KEYS = [
  'input.value',
  'traceloop.entity.input',
  'gen_ai.prompt',
  'gen_ai.tool.call.arguments',
  'gcp.vertex.agent.tool_call_args',
  'spring.ai.tool.call.arguments',
  'tool_arguments',
  'prompt',
] as const
const LATE_INPUT_KEYS = [
  'gen_ai.retrieval.query.text',
  'gen_ai.agent.invocation_input',
  'gen_ai.workflow.input',
  'gen_ai.task.input',
  'langfuse.observation.input',
] as const
const OUTPUT_KEYS = [
  'output.value',
  'traceloop.entity.output',
  'gen_ai.completion',
  'gen_ai.tool.call.result',
  'gcp.vertex.agent.tool_response',
  'spring.ai.tool.call.result',
  'tool_response',
  'final_result',
] as const
const LATE_OUTPUT_KEYS = [
  'gen_ai.agent.invocation_output',
  'gen_ai.workflow.output',
  'gen_ai.task.output',
  'langfuse.observation.output',
] as const

const DETAILS_EVENT = 'gen_ai.client.inference.operation.details'

const INPUTS: readonly Source[] = [
  ({ events }) => messages(events.inputs),
  semconvInputs,
  ({ view }) => indexed(view, 'gen_ai.prompt'),
  openinferenceInputs,
  ({ view }) => indexed(view, 'llm.prompts'),
  vercelInputs,
  ({ view }) => filled(view.json('gcp.vertex.agent.llm_request')),
  ({ view }) => filled(mlflowValue(view, 'mlflow.spanInputs')),
  ({ view }) => firstOf(view, INPUT_KEYS),
  ({ view }) => filled(objectOnly(view.json('request_data'))),
  ({ view }) => messages(readListedEvents(view.json('events', 'all_messages_events')).inputs),
  ({ view }) => genkitSide(view.json('genkit:input')),
  embedded,
  rerankerInputs,
  ({ view }) => firstOf(view, LATE_INPUT_KEYS),
  ({ view }) => mastra(view, 'input'),
  ({ view }) => haystackSide(view, 'input'),
]

const OUTPUTS: readonly Source[] = [
  retrieved,
  ({ events }) => messages(events.outputs),
  semconvOutputs,
  ({ view }) => indexed(view, 'gen_ai.completion'),
  openinferenceOutputs,
  ({ view }) => indexed(view, 'llm.completions'),
  vercelOutputs,
  adkOutput,
  ({ view }) => filled(mlflowValue(view, 'mlflow.spanOutputs')),
  ({ view }) => firstOf(view, OUTPUT_KEYS),
  logfireOutput,
  ({ view }) => messages(readListedEvents(view.json('events', 'all_messages_events')).outputs),
  ({ view }) => genkitSide(view.json('genkit:output')),
  ({ view }) => firstOf(view, LATE_OUTPUT_KEYS),
  ({ view }) => mastra(view, 'output'),
  ({ view }) => haystackSide(view, 'output'),
]

/** Both sides of a span's TraceRun, each from the first source that has it; absent if no source has it. */
export function mapSides(
  view: SpanView,
  runType: string,
): { inputs: MappedSide | undefined; outputs: MappedSide | undefined } {
  const context: SideContext = { view, runType, events: readSpokenEvents(view) }
  return {
    inputs: firstSide(INPUTS, context, 'input'),
    outputs: firstSide(OUTPUTS, context, 'output'),
  }
}

function firstSide(
  sources: readonly Source[],
  context: SideContext,
  key: 'input' | 'output',
): MappedSide | undefined {
  for (const source of sources) {
    const found = source(context)
    if (found === undefined) continue
    return 'side' in found ? found.side : { value: wrap(found.value, key, context) }
  }
  return undefined
}

/**
 * Converts a value to a side. Objects are unchanged, and lists of messages are put under `messages`. The text of a
 * model call becomes a completion or a message, depending on the operation. Any other value is put under `input` or
 * `output`.
 */
function wrap(value: JsonValue, key: 'input' | 'output', { view, runType }: SideContext): JsonObject {
  if (isObject(value)) return value
  if (runType !== 'llm') return { [key]: value }
  if (typeof value === 'string') {
    const kind = view.text('gen_ai.operation.name', 'llm.request.type') ?? ''
    if (/^(?:text_)?completion$/.test(kind))
      return key === 'input' ? { prompt: value } : { choices: [{ text: value }] }
    return { messages: [{ role: key === 'input' ? 'user' : 'assistant', content: value }] }
  }
  return Array.isArray(value) && value.length > 0 && value.every(isMessage)
    ? { messages: value }
    : { [key]: value }
}

function isMessage(value: JsonValue): boolean {
  return isObject(value) && typeof value['role'] === 'string'
}

function firstOf(view: SpanView, keys: readonly string[]): Found {
  for (const key of keys) {
    const found = filled(view.json(key))
    if (found !== undefined) return found
  }
  return undefined
}

function objectOnly(value: JsonValue | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

/** An attribute of the current conventions, on the span or on its details event. */
function semconv({ view }: SideContext, key: string): JsonValue | undefined {
  const here = view.json(key)
  if (here !== undefined) return here
  const there = eventAttributes(view, DETAILS_EVENT)?.[key]
  return there === undefined || there === null ? undefined : readJson(there)
}

function semconvInputs(context: SideContext): Found {
  const sent = semconv(context, 'gen_ai.input.messages') ?? context.view.json('pydantic_ai.all_messages')
  const system = semconv(context, 'gen_ai.system_instructions')
  const list = asMessages(sent, 'user')
  if (list.length === 0 && (system === undefined || context.runType !== 'llm')) return undefined
  const value: JsonObject = { messages: list }
  if (system !== undefined) value['system_instructions'] = system
  return { side: { value, dialect: 'otel-genai' } }
}

function semconvOutputs(context: SideContext): Found {
  const sent = asMessages(semconv(context, 'gen_ai.output.messages'), 'assistant')
  return messages(
    sent.length === 1 && isEmpty(sent[0]!) ? [{ ...sent[0], parts: indexedCalls(context.view) }] : sent,
  )
}

function isEmpty({ parts, content }: JsonObject): boolean {
  return Array.isArray(parts) && parts.length === 0 && !content
}

/** Tool calls that litellm writes to `gen_ai.completion.{n}.function_call` beside a message without parts. */
function indexedCalls(view: SpanView): JsonObject[] {
  return listOf(view, 'gen_ai.completion').flatMap((entry) => {
    const call = isObject(entry) ? entry['function_call'] : undefined
    if (!isObject(call) || text(call['name']) === undefined) return []
    const sent = call['arguments'] ?? {}
    return [{ type: 'tool_call', name: call['name'], arguments: readJson(sent) }]
  })
}

function asMessages(value: JsonValue | undefined, role: string): JsonObject[] {
  // Microsoft's agents wrap the list in an object with a version.
  if (isObject(value) && Array.isArray(value['messages'])) return objectsOf(value['messages'])
  if (typeof value === 'string') return value === '' ? [] : [{ role, content: value }]
  return objectsOf(Array.isArray(value) ? value.map(readJson) : value)
}

/** `gen_ai.prompt.{n}.role|content|tool_calls.{k}.*`, also with `.message.` between. */
function indexed(
  view: SpanView,
  family: 'gen_ai.prompt' | 'gen_ai.completion' | 'llm.prompts' | 'llm.completions',
): Found {
  const role = family === 'gen_ai.prompt' || family === 'llm.prompts' ? 'user' : 'assistant'
  const list = listOf(view, family).map((entry): JsonObject => {
    if (!isObject(entry)) return { role, content: entry }
    const { message, ...rest } = entry
    return isObject(message) ? { ...rest, ...message } : entry
  })
  return messages(list, 'openllmetry')
}

function openinferenceInputs({ view }: SideContext): Found {
  const plain = view.json('llm.prompts')
  const prompts = Array.isArray(plain)
    ? plain.filter((entry) => typeof entry === 'string')
    : listOf(view, 'llm.prompts').flatMap((entry) => textUnder(entry, 'prompt'))
  return (
    openinference(view, 'llm.input_messages') ??
    (prompts.length > 0 ? { value: { prompt: prompts } } : undefined)
  )
}

function openinferenceOutputs({ view }: SideContext): Found {
  const texts = listOf(view, 'llm.choices').flatMap((entry) => textUnder(entry, 'completion'))
  return (
    openinference(view, 'llm.output_messages') ??
    (texts.length > 0 ? { value: { choices: texts.map((sent) => ({ text: sent })) } } : undefined)
  )
}

function openinference(view: SpanView, family: 'llm.input_messages' | 'llm.output_messages'): Found {
  const whole = view.json(family)
  const list = objectsOf(whole === undefined ? listOf(view, family) : nested(whole))
  // Some senders leave out the `message` object around each message.
  const framed = list.map((item): JsonObject => (isObject(item['message']) ? item : { message: item }))
  return messages(framed, 'openinference')
}

function textUnder(entry: JsonValue, key: string): string[] {
  const inner = isObject(entry) ? entry[key] : undefined
  const found = isObject(inner) ? text(inner['text']) : undefined
  return found === undefined ? [] : [found]
}
