import { isObject, type JsonObject, type JsonValue, text } from '../../../src/schema/json.ts'

/** A complete answer from streamed chunks, with `choices` as in an answer that was not streamed. */
export interface FoldedAnswer extends JsonObject {
  choices: JsonObject[]
}

interface CallFold {
  index: number
  id: string | undefined
  name: string
  args: string[]
}
interface ChoiceFold {
  role: string | undefined
  content: string[]
  text: string[]
  refusal: string[]
  reasoning: string[]
  /** Complete and open calls in the order of their first pieces. */
  calls: CallFold[]
  /** The open call of each index. */
  open: Map<number, CallFold>
}

/** Whether the value is a chunk of a streamed chat or text completion. */
export function isChatChunk(value: JsonValue | undefined): boolean {
  if (!isObject(value)) return false
  if (value.object === 'chat.completion.chunk') return true
  const first = Array.isArray(value.choices) ? value.choices[0] : undefined
  return isObject(first) && isObject(first.delta)
}

/** Joins the chunks of a chat or text completion, choice by choice. */
export function foldChatChunks(chunks: readonly JsonValue[]): FoldedAnswer {
  const choices = new Map<number, ChoiceFold>()
  const answer: FoldedAnswer = { choices: [] }
  for (const chunk of chunks) {
    if (!isObject(chunk)) continue
    answer.model ??= chunk.model
    if (!Array.isArray(chunk.choices)) continue
    for (const choice of chunk.choices) if (isObject(choice)) foldChoice(choices, choice)
  }
  for (const index of [...choices.keys()].sort((a, b) => a - b)) {
    const fold = choices.get(index)
    if (fold !== undefined) answer.choices.push({ index, text: fold.text.join(''), message: toMessage(fold) })
  }
  return answer
}

function foldChoice(choices: Map<number, ChoiceFold>, choice: JsonObject): void {
  const index = typeof choice.index === 'number' ? choice.index : 0
  let fold = choices.get(index)
  if (fold === undefined) {
    fold = { role: undefined, content: [], text: [], refusal: [], reasoning: [], calls: [], open: new Map() }
    choices.set(index, fold)
  }
  if (typeof choice.text === 'string') fold.text.push(choice.text)
  const delta = choice.delta
  if (!isObject(delta)) return
  fold.role ??= text(delta.role)
  if (typeof delta.content === 'string') fold.content.push(delta.content)
  if (typeof delta.refusal === 'string') fold.refusal.push(delta.refusal)
  const thought = delta.reasoning_content ?? delta.reasoning
  if (typeof thought === 'string') fold.reasoning.push(thought)
  if (Array.isArray(delta.tool_calls)) for (const call of delta.tool_calls) foldCall(fold, call)
}

/** Adds a piece of a call. Gateways send several calls with one index, each with its id, and the name in every piece. */
function foldCall({ calls, open }: ChoiceFold, call: JsonValue): void {
  if (!isObject(call)) return
  const index = typeof call.index === 'number' ? call.index : calls.length
  const id = text(call.id)
  let fold = open.get(index)
  if (fold === undefined || (id !== undefined && fold.id !== undefined && id !== fold.id)) {
    fold = { index, id: undefined, name: '', args: [] }
    calls.push(fold)
    open.set(index, fold)
  }
  fold.id ??= id
  const of = isObject(call.function) ? call.function : {}
  if (typeof of.name === 'string' && of.name !== fold.name) fold.name += of.name
  if (typeof of.arguments === 'string') fold.args.push(of.arguments)
}

function toMessage(fold: ChoiceFold): JsonObject {
  const message: JsonObject = { role: fold.role ?? 'assistant', content: fold.content.join('') }
  if (fold.refusal.length > 0) message.refusal = fold.refusal.join('')
  if (fold.reasoning.length > 0) message.reasoning_content = fold.reasoning.join('')
  if (fold.calls.length > 0) {
    message.tool_calls = fold.calls
      .toSorted((a, b) => a.index - b.index)
      .map((call) => ({
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: call.args.join('') },
      }))
  }
  return message
}
