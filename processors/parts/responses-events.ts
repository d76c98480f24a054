import { isObject, type JsonObject, type JsonValue } from '../../src/schema/json.ts'

/** An item of the answer as far as it has arrived. */
interface ItemFold {
  item: JsonObject
  pieces: string[]
}

/** Events that carry a piece of an item, and the key of the item under which the pieces belong. */
const PIECES: ReadonlyMap<unknown, 'text' | 'refusal' | 'summary' | 'arguments' | 'input'> = new Map([
  ['response.output_text.delta', 'text'],
  ['response.refusal.delta', 'refusal'],
  ['response.reasoning_summary_text.delta', 'summary'],
  ['response.reasoning_text.delta', 'summary'],
  ['response.function_call_arguments.delta', 'arguments'],
  ['response.custom_tool_call_input.delta', 'input'],
])

/** The answer of a stream that was cut before its last event: the items that are complete, and the pieces of the others. */
export function foldResponsesEvents(started: JsonObject, events: readonly JsonValue[]): JsonObject {
  const items = new Map<number, ItemFold>()
  for (const event of events) {
    if (!isObject(event) || typeof event.output_index !== 'number') continue
    const known = items.get(event.output_index)
    if (isObject(event.item)) {
      const pieces = event.type === 'response.output_item.done' ? [] : (known?.pieces ?? [])
      items.set(event.output_index, { item: event.item, pieces })
    } else if (PIECES.has(event.type) && typeof event.delta === 'string') {
      const fold = known ?? { item: startOf(event), pieces: [] }
      fold.pieces.push(event.delta)
      items.set(event.output_index, fold)
    }
  }
  const output = [...items].sort((a, b) => a[0] - b[0]).map(([, fold]) => withPieces(fold))
  return { ...started, output }
}

/** The item of a piece whose first event is missing. */
function startOf(event: JsonObject): JsonObject {
  const key = PIECES.get(event.type)
  if (key === 'summary') return { type: 'reasoning', summary: [] }
  if (key === 'arguments') return { type: 'function_call', call_id: event.item_id ?? '', name: '' }
  if (key === 'input') return { type: 'custom_tool_call', call_id: event.item_id ?? '', name: '' }
  return { type: 'message', role: 'assistant', content: [] }
}

function withPieces({ item, pieces }: ItemFold): JsonObject {
  if (pieces.length === 0) return item
  const said = pieces.join('')
  if (item.type === 'function_call') return { ...item, arguments: said }
  if (item.type === 'custom_tool_call') return { ...item, input: said }
  if (item.type === 'reasoning') return { ...item, summary: [{ type: 'summary_text', text: said }] }
  return { ...item, content: [{ type: 'output_text', text: said }] }
}
