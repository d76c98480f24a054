import type { Issue } from '../../../src/schema/issue.ts'
import { isObject, type JsonObject, type JsonValue, text } from '../../../src/schema/json.ts'
import type { ContentBlock } from '../../../src/schema/types.gen.ts'
import {
  addIssue,
  type Draft,
  mediaBlock,
  message,
  put,
  reasoningBlock,
  resolveRole,
  type MessageRole,
  shown,
  toolCallBlock,
} from '../../../src/trace/messages/messages.ts'
import { joinTexts } from '../langchain-parts.ts'
import { refusalBlock } from './parts.ts'
import { putMessage } from '../read-parts.ts'

/**
 * Appends one message in the shape of OpenAI's chat API: role, content as a string or parts, tool_calls, and additions
 * of compatible servers (reasoning beside the content).
 */
export function putOpenaiMessage(draft: Draft, path: string, value: JsonValue, absent: MessageRole): void {
  const { issues } = draft
  if (!isObject(value)) {
    addIssue(issues, {
      code: 'message_not_object',
      severity: 'error',
      path,
      message: `The message is ${shown(value)}.`,
      fix: 'Send an object with role and content.',
    })
    put(draft, path, message(absent, typeof value === 'string' ? [{ type: 'text', text: value }] : []))
    return
  }
  const role = resolveRole(value.role, absent, path, issues)
  const before = reasoningBeside(value)
  const after = blocksBeside(value, path, issues)
  if (value.content === undefined && before.length === 0 && after.length === 0) {
    addIssue(issues, {
      code: 'content_missing',
      severity: 'error',
      path: `${path}.content`,
      message: 'The message has neither content nor tool calls.',
      fix: 'Send content: a string, a list of parts, or null beside tool calls.',
    })
  }
  const { content, tool_call_id, name, usage_metadata } = value
  putMessage(draft, path, { role, content, tool_call_id, name, usage_metadata, before, after })
}

/** Reasoning that compatible servers send beside the content, under several names. */
function reasoningBeside(value: JsonObject): ContentBlock[] {
  const said = text(value.reasoning_content) ?? text(value.reasoning)
  if (said !== undefined) return [reasoningBlock(said)]
  if (isObject(value.reasoning)) return [reasoningBlock(joinTexts(value.reasoning))]
  return []
}

function blocksBeside(value: JsonObject, path: string, issues: Issue[]): ContentBlock[] {
  const blocks: ContentBlock[] = []
  const refusal = text(value.refusal)
  if (refusal !== undefined) blocks.push(refusalBlock(refusal) as ContentBlock)
  if (isObject(value.audio)) {
    const audio = mediaBlock('audio', { base64: value.audio.data, id: value.audio.id })
    if (audio !== undefined) {
      const transcript = text(value.audio.transcript)
      if (transcript !== undefined) audio.transcript = transcript
      blocks.push(audio)
    }
  }
  addToolCalls(blocks, value.tool_calls, `${path}.tool_calls`, issues)
  if (isObject(value.function_call)) {
    const { name, arguments: args } = value.function_call
    blocks.push(toolCallBlock(undefined, name, args, `${path}.function_call.arguments`, issues))
  }
  return blocks
}

/** Adds calls in the form `{id, function: {name, arguments}}`, `{id, custom: {name, input}}` or `{id, name, args}`. */
export function addToolCalls(
  blocks: ContentBlock[],
  calls: JsonValue | undefined,
  path: string,
  issues: Issue[],
): void {
  if (!Array.isArray(calls)) return
  for (let i = 0; i < calls.length; i++) {
    const call = calls[i]
    if (!isObject(call)) continue
    if (isObject(call.custom)) {
      const args = { input: call.custom.input ?? null }
      blocks.push(toolCallBlock(call.id, call.custom.name, args, path, issues))
    } else if (isObject(call.function)) {
      const at = `${path}[${i}].function.arguments`
      blocks.push(toolCallBlock(call.id, call.function.name, call.function.arguments, at, issues))
    } else {
      const id = call.id ?? call.toolCallId
      const name = call.name ?? call.toolName
      const args = call.args ?? call.input ?? call.arguments
      blocks.push(toolCallBlock(id, name, args, `${path}[${i}].args`, issues))
    }
  }
}
