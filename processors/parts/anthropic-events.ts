import { isObject, type JsonObject, type JsonValue } from '../../src/schema/json.ts'

interface BlockFold {
  block: JsonObject
  text: string[]
  json: string[]
}

const EVENT_TYPES: ReadonlySet<unknown> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'message_delta',
])

/** Whether the value is a server-sent event of a streamed answer of the Messages API. */
export function isAnthropicEvent(value: JsonValue): boolean {
  return isObject(value) && EVENT_TYPES.has(value.type)
}

/** Builds a message from its streamed events. */
export function foldAnthropicEvents(events: readonly JsonValue[]): JsonObject {
  const answer: JsonObject = { role: 'assistant' }
  const folds = new Map<number, BlockFold>()
  for (const event of events) {
    if (!isObject(event)) continue
    if (event.type === 'message_start' && isObject(event.message)) answer.model = event.message.model
    else if (typeof event.index === 'number') foldBlock(folds, event.index, event)
  }
  answer.content = [...folds].sort((a, b) => a[0] - b[0]).map(([, fold]) => toBlock(fold))
  return answer
}

function foldBlock(folds: Map<number, BlockFold>, index: number, event: JsonObject): void {
  if (event.type === 'content_block_start' && isObject(event.content_block)) {
    folds.set(index, { block: event.content_block, text: [], json: [] })
    return
  }
  const { delta } = event
  if (event.type !== 'content_block_delta' || !isObject(delta)) return
  let fold = folds.get(index)
  if (fold === undefined) {
    fold = { block: startOf(delta), text: [], json: [] }
    folds.set(index, fold)
  }
  if (typeof delta.text === 'string') fold.text.push(delta.text)
  if (typeof delta.thinking === 'string') fold.text.push(delta.thinking)
  if (typeof delta.partial_json === 'string') fold.json.push(delta.partial_json)
  if (typeof delta.signature === 'string') fold.block = { ...fold.block, signature: delta.signature }
}

/** The block of a delta whose start is missing. */
function startOf(delta: JsonObject): JsonObject {
  if (typeof delta.partial_json === 'string') return { type: 'tool_use' }
  return { type: typeof delta.thinking === 'string' ? 'thinking' : 'text' }
}

function toBlock({ block, text, json }: BlockFold): JsonObject {
  const said = text.join('')
  if (block.type === 'thinking') return { ...block, thinking: startText(block.thinking) + said }
  if (json.length > 0) return { ...block, input: json.join('') }
  if (block.type === 'text') return { ...block, text: startText(block.text) + said }
  return block
}

function startText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
