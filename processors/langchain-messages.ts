import type { Issue } from '../src/schema/issue.ts'
import { isObject, type JsonObject, type JsonValue, text } from '../src/schema/json.ts'
import type { ContentBlock } from '../src/schema/types.gen.ts'
import {
  addIssue,
  type Draft,
  finish,
  message,
  newDraft,
  put,
  readRole,
  reasoningBlock,
  resolveRole,
  type MessageRole,
  textBlock,
} from '../src/trace/messages/messages.ts'
import { foldLangchainChunks } from '../src/trace/messages/langchain-chunks.ts'
import type { Normalized, Processor, Side } from '../src/trace/messages/processor.ts'
import { invalidToolCall, joinTexts } from './parts/langchain-parts.ts'
import { addToolCalls, putOpenaiMessage } from './parts/openai/message.ts'
import { putMessage } from './parts/read-parts.ts'
import { isLangchainMessage } from './parts/survey.ts'

/**
 * LangChain as its tracers send it: constructor messages (`lc: 1`) and `{type: 'human', …}` forms, once or
 * twice in lists; `prompts[]`; `generations[][]`; prompt values; a message alone; the chunks of a stream.
 */
export const langchainMessages: Processor = { name: 'langchain-messages', match, normalize }

/** Constructor classes whose kwargs contain messages. */
const PROMPT_VALUES: ReadonlySet<unknown> = new Set(['ChatPromptValue', 'StringPromptValue'])

function match(side: Side, value: JsonValue): 0 | 1 | 2 {
  if (isLangchainMessage(value)) return 2
  if (isPromptValue(value)) return 2
  if (Array.isArray(value)) return isMessageList(value) ? 2 : 0
  if (!isObject(value)) return 0
  if (side === 'outputs' && Array.isArray(value.generations)) return 2
  if (side === 'inputs' && Array.isArray(value.prompts) && typeof value.prompts[0] === 'string') return 2
  if (isLangchainMessage(value.message)) return 2
  return Array.isArray(value.messages) && isMessageList(value.messages) ? 2 : 0
}

/** Whether a list begins with LangChain messages, or with a batch, which is a list of messages of any kind. */
function isMessageList(list: readonly JsonValue[]): boolean {
  const first = list[0]
  if (!Array.isArray(first)) return list.slice(0, 40).some(isLangchainMessage)
  const said = first[0]
  return isLangchainMessage(said) || (isObject(said) && typeof said.role === 'string')
}

function isPromptValue(value: JsonValue): value is JsonObject {
  return isObject(value) && value.lc === 1 && PROMPT_VALUES.has(className(value)) && isObject(value.kwargs)
}

function className(value: JsonObject): string {
  const last = Array.isArray(value.id) ? value.id[value.id.length - 1] : undefined
  return typeof last === 'string' ? last : ''
}

function normalize(side: Side, value: JsonValue): Normalized {
  const draft = newDraft()
  if (isPromptValue(value)) {
    const kwargs = value.kwargs as JsonObject
    if (Array.isArray(kwargs.messages)) putList(draft, 'kwargs.messages', kwargs.messages)
    else if (typeof kwargs.value === 'string')
      put(draft, 'kwargs.value', message('user', [textBlock(kwargs.value)]))
  } else if (isLangchainMessage(value)) putLangchainMessage(draft, '', value)
  else if (Array.isArray(value)) putList(draft, '', side === 'outputs' ? foldLangchainChunks(value) : value)
  else if (isObject(value)) return normalizeObject(draft, side, value)
  return finish(draft)
}

function normalizeObject(draft: Draft, side: Side, value: JsonObject): Normalized {
  let model: JsonValue | undefined
  if (Array.isArray(value.generations) && side === 'outputs') model = putGenerations(draft, value.generations)
  else if (Array.isArray(value.messages)) putList(draft, 'messages', value.messages)
  else if (isLangchainMessage(value.message)) putLangchainMessage(draft, 'message', value.message)
  else if (Array.isArray(value.prompts)) {
    for (const [i, prompt] of value.prompts.entries()) {
      putMessage(draft, `prompts[${i}]`, { role: 'user', content: prompt, content_path: `prompts[${i}]` })
    }
  }
  const told = isObject(value.llm_output) ? value.llm_output : value.llmOutput
  const named = isObject(told) ? (told.model_name ?? told.model) : undefined
  return finish(draft, { model: model ?? named ?? value.model, tools: value.tools })
}

/** Adds messages, or batches of messages one level below. */
function putList(draft: Draft, path: string, list: readonly JsonValue[]): void {
  for (const [i, item] of list.entries()) {
    const at = `${path}[${i}]`
    if (!Array.isArray(item)) putAny(draft, at, item)
    else for (const [j, said] of item.entries()) putAny(draft, `${at}[${j}]`, said)
  }
}

function putAny(draft: Draft, path: string, item: JsonValue): void {
  if (isLangchainMessage(item)) putLangchainMessage(draft, path, item)
  else putOpenaiMessage(draft, path, item, 'user')
}

/** Adds `generations[batch][candidate]`; returns the model that the first message names. */
function putGenerations(draft: Draft, batches: readonly JsonValue[]): JsonValue | undefined {
  let model: JsonValue | undefined
  for (const [i, batch] of batches.entries()) {
    const list = Array.isArray(batch) ? batch : [batch]
    for (const [j, generation] of list.entries()) {
      if (!isObject(generation)) continue
      const at = Array.isArray(batch) ? `generations[${i}][${j}]` : `generations[${i}]`
      const said = generation.message
      if (isLangchainMessage(said)) {
        putLangchainMessage(draft, `${at}.message`, said)
        model ??= modelOf(fieldsOf(said))
      } else if (isObject(said)) putOpenaiMessage(draft, `${at}.message`, said, 'assistant')
      else if (typeof generation.text === 'string') {
        put(draft, `${at}.text`, message('assistant', [textBlock(generation.text)]))
      }
    }
  }
  return model
}

function modelOf(fields: JsonObject): JsonValue | undefined {
  const told = fields.response_metadata
  return isObject(told) ? (text(told.model_name) ?? text(told.model)) : undefined
}

/** The object with the fields of a message: its kwargs, its data, or the message itself. */
function fieldsOf(value: JsonObject): JsonObject {
  if (value.lc === 1) return isObject(value.kwargs) ? value.kwargs : {}
  return isObject(value.data) ? value.data : value
}

function putLangchainMessage(draft: Draft, path: string, value: JsonObject): void {
  const { issues } = draft
  const type = value.lc === 1 ? className(value) : String(value.type)
  if (type.startsWith('RemoveMessage') || type === 'remove') return
  const fields = fieldsOf(value)
  const at = value.lc === 1 ? `${path}.kwargs` : isObject(value.data) ? `${path}.data` : path
  if (value.lc === 1 && fields.content === undefined) warnUnserialised(value, path, issues)
  const content = fields.content ?? (value.lc === 1 ? value.repr : undefined)
  const { tool_call_id, name, usage_metadata } = fields
  putMessage(draft, path, {
    role: roleOf(type, fields, at, issues),
    content,
    content_path: `${at}.content`,
    tool_call_id,
    name,
    usage_metadata,
    before: reasoningBeside(fields),
    after: callsBeside(fields, at, issues),
  })
  const said = draft.messages[draft.messages.length - 1]
  if (said?.role === 'tool' && fields.status === 'error') said.status = 'error'
}

function warnUnserialised(value: JsonObject, path: string, issues: Issue[]): void {
  const only = value.type === 'not_implemented' ? 'its description' : 'its class'
  addIssue(issues, {
    code: 'content_missing',
    severity: 'warning',
    path,
    message: `The message came without its fields; only ${only} is known.`,
    fix: 'Send messages of classes that LangChain can serialise.',
  })
}

/** The role of a message by its type: `HumanMessageChunk` and `human` are equal; a ChatMessage names its role. */
function roleOf(type: string, fields: JsonObject, path: string, issues: Issue[]): MessageRole {
  const short = type.replace(/(?:Message)?(?:Chunk)?$/, '')
  const role = /^(?:chat|generic)$/i.test(short) ? undefined : readRole(short)
  return role ?? resolveRole(fields.role ?? type, 'user', path, issues)
}

/** Reasoning that an integration stores outside of the content. */
function reasoningBeside(fields: JsonObject): ContentBlock[] {
  const more = fields.additional_kwargs
  if (!isObject(more)) return []
  const said = text(more.reasoning_content)
  if (said !== undefined) return [reasoningBlock(said)]
  if (!isObject(more.reasoning) || hasReasoning(fields.content)) return []
  const joined = joinTexts(more.reasoning)
  return joined === '' ? [] : [reasoningBlock(joined)]
}

function hasReasoning(content: JsonValue | undefined): boolean {
  return Array.isArray(content) && content.some((part) => isObject(part) && part.type === 'reasoning')
}

/** The parsed calls; if there are none, the vendor's calls in additional_kwargs. */
function callsBeside(fields: JsonObject, path: string, issues: Issue[]): ContentBlock[] {
  const blocks: ContentBlock[] = []
  addToolCalls(blocks, fields.tool_calls, `${path}.tool_calls`, issues)
  if (Array.isArray(fields.invalid_tool_calls)) {
    for (const [i, call] of fields.invalid_tool_calls.entries()) {
      if (isObject(call)) blocks.push(invalidToolCall(call, `${path}.invalid_tool_calls[${i}]`, issues))
    }
  }
  const more = fields.additional_kwargs
  if (blocks.length > 0 || !isObject(more)) return blocks
  addToolCalls(blocks, more.tool_calls, `${path}.additional_kwargs.tool_calls`, issues)
  if (isObject(more.function_call)) {
    addToolCalls(
      blocks,
      [{ function: more.function_call }],
      `${path}.additional_kwargs.function_call`,
      issues,
    )
  }
  return blocks
}
