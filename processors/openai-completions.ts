import { isObject, type JsonValue } from '../src/schema/json.ts'
import { finish, message, newDraft, put, textBlock } from '../src/trace/messages/messages.ts'
import type { Hints, Normalized, Processor, Side } from '../src/trace/messages/processor.ts'
import { foldChatChunks } from './parts/openai/chunks.ts'

/** OpenAI's legacy text completions: `prompt` as a string or list of strings, `choices[].text`. */
export const openaiCompletions: Processor = { name: 'openai-completions', match, normalize }

function match(side: Side, value: JsonValue, hints: Hints): 0 | 1 | 2 {
  if (side === 'inputs') {
    const prompts = isObject(value) ? promptsOf(value.prompt) : undefined
    if (prompts === undefined) return 0
    return isObject(value) && (typeof value.model === 'string' || hints.model !== undefined) ? 2 : 1
  }
  if (Array.isArray(value)) return isTextAnswer(value[0]) ? 2 : 0
  return isTextAnswer(value) ? 2 : 0
}

function promptsOf(prompt: JsonValue | undefined): readonly string[] | undefined {
  if (typeof prompt === 'string') return [prompt]
  if (!Array.isArray(prompt) || prompt.length === 0) return undefined
  return prompt.every((text) => typeof text === 'string') ? prompt : undefined
}

function isTextAnswer(value: JsonValue | undefined): boolean {
  if (!isObject(value) || !Array.isArray(value.choices)) return false
  const first = value.choices[0]
  if (first === undefined) return value.object === 'text_completion'
  return (
    isObject(first) &&
    typeof first.text === 'string' &&
    first.message === undefined &&
    first.delta === undefined
  )
}

function normalize(side: Side, value: JsonValue): Normalized {
  const draft = newDraft()
  if (side === 'inputs') {
    const prompt = isObject(value) ? value.prompt : undefined
    for (const [i, text] of (promptsOf(prompt) ?? []).entries()) {
      put(draft, Array.isArray(prompt) ? `prompt[${i}]` : 'prompt', message('user', [textBlock(text)]))
    }
    return finish(draft, isObject(value) ? { model: value.model } : {})
  }
  const answer = Array.isArray(value) ? foldChatChunks(value) : value
  if (!isObject(answer) || !Array.isArray(answer.choices)) return finish(draft)
  for (const [i, choice] of answer.choices.entries()) {
    if (!isObject(choice) || typeof choice.text !== 'string') continue
    put(draft, `choices[${i}].text`, message('assistant', [textBlock(choice.text)]))
  }
  return finish(draft, { model: answer.model })
}
