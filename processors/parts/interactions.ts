import { isObject, type JsonObject, type JsonValue, text } from '../../src/schema/json.ts'
import type { ContentBlock } from '../../src/schema/types.gen.ts'
import { type Draft, message, put, reasoningBlock, toolCallBlock } from '../../src/trace/messages/messages.ts'
import { putMessage } from './read-parts.ts'

/** Appends the steps of an interaction: the model's steps are one message, in their order. Older answers have `outputs`. */
export function putInteraction(draft: Draft, value: JsonObject): void {
  const key = Array.isArray(value.steps) ? 'steps' : 'outputs'
  const steps = value[key]
  if (!Array.isArray(steps)) return
  const answer = message('assistant', [])
  for (const [i, step] of steps.entries())
    if (isObject(step)) answer.content.push(...blocksOf(draft, step, `${key}[${i}]`))
  if (answer.content.length > 0) put(draft, key, answer)
}

function blocksOf(draft: Draft, step: JsonObject, path: string): ContentBlock[] {
  const type = String(step.type)
  if (type === 'thought') {
    const extras = text(step.signature) === undefined ? {} : { signature: step.signature! }
    return [reasoningBlock(summaryOf(step.summary), extras)]
  }
  if (type === 'function_call')
    return [toolCallBlock(step.id, step.name, step.arguments, `${path}.arguments`, draft.issues)]
  const server = /^(.+)_(call|result)$/.exec(type)
  if (server !== null && type !== 'function_result') return [serverBlock(step, server[1]!, server[2]!, path)]
  return contentOf(draft, step, path)
}

/** The blocks of a step with content, as the parts of a message of their own would be read. */
function contentOf(draft: Draft, step: JsonObject, path: string): ContentBlock[] {
  const part: Draft = { ...draft, messages: [], paths: [] }
  const content = step.content ?? [step]
  putMessage(part, path, { role: 'assistant', content, content_path: `${path}.content` })
  return part.messages.flatMap((said) => said.content)
}

function serverBlock(step: JsonObject, name: string, kind: string, path: string): ContentBlock {
  const id = text(step.id) ?? text(step.call_id) ?? path
  if (kind === 'call')
    return { type: 'server_tool_call', id, name, args: isObject(step.arguments) ? step.arguments : {} }
  const status = step.is_error === true ? 'error' : 'success'
  return { type: 'server_tool_result', tool_call_id: id, status, output: step.result ?? null }
}

function summaryOf(summary: JsonValue | undefined): string {
  if (typeof summary === 'string') return summary
  if (!Array.isArray(summary)) return ''
  return summary.map((part) => (isObject(part) ? (text(part.text) ?? '') : '')).join('')
}
