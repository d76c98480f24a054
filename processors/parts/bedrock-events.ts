import { isObject, type JsonObject, type JsonValue, text } from '../../src/schema/json.ts'
import { parseJson } from '../../src/trace/json/json-text.ts'

/** What has arrived of one block of a streamed message. */
interface Block {
  text: string
  reasoning: string
  /** The start of a tool call; undefined for a block without one. */
  call: JsonObject | undefined
  input: string
}

const EVENTS = ['messageStart', 'contentBlockStart', 'contentBlockDelta'] as const

/** Whether the value is an event of a streamed answer of the Converse API. */
export function isBedrockEvent(value: JsonValue | undefined): boolean {
  return isObject(value) && EVENTS.some((name) => isObject(value[name]))
}

/** Builds a message from its streamed events. */
export function foldBedrockEvents(events: readonly JsonValue[]): JsonObject {
  const blocks = new Map<number, Block>()
  for (const event of events) {
    if (!isObject(event)) continue
    const piece = event.contentBlockStart ?? event.contentBlockDelta
    if (isObject(piece)) addPiece(blocks, piece)
  }
  const ordered = [...blocks].sort(([a], [b]) => a - b)
  return { role: 'assistant', content: ordered.flatMap(([, block]) => toParts(block)) }
}

function addPiece(blocks: Map<number, Block>, { contentBlockIndex, start, delta }: JsonObject): void {
  const index = typeof contentBlockIndex === 'number' ? contentBlockIndex : 0
  const block = blocks.get(index) ?? { text: '', reasoning: '', call: undefined, input: '' }
  blocks.set(index, block)
  if (isObject(start) && isObject(start.toolUse)) block.call = start.toolUse
  if (!isObject(delta)) return
  block.text += text(delta.text) ?? ''
  if (isObject(delta.reasoningContent)) block.reasoning += text(delta.reasoningContent.text) ?? ''
  if (isObject(delta.toolUse)) block.input += text(delta.toolUse.input) ?? ''
}

function toParts({ text: said, reasoning, call, input }: Block): JsonValue[] {
  const parts: JsonValue[] = []
  if (reasoning !== '') parts.push({ reasoningContent: { reasoningText: { text: reasoning } } })
  if (said !== '') parts.push({ text: said })
  if (call !== undefined) parts.push({ toolUse: { ...call, input: parseJson(input)?.value ?? input } })
  return parts
}
