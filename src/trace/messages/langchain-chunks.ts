import { isObject, type JsonObject, type JsonValue, text } from '../../schema/json.ts'
import { parseJson } from '../json/json-text.ts'

/** The list with each run of chunks of one streamed message as a single message; other items are unchanged. */
export function foldLangchainChunks(list: readonly JsonValue[]): readonly JsonValue[] {
  const folded: JsonValue[] = []
  let streamed: JsonObject[] = []
  const close = (): void => {
    if (streamed.length > 0) folded.push(streamed.length === 1 ? streamed[0]! : joined(streamed))
    streamed = []
  }
  for (const item of list) {
    if (!isChunk(item)) {
      close()
      folded.push(item)
      continue
    }
    const last = streamed.at(-1)
    if (last !== undefined && !isSameMessage(last, item)) close()
    streamed.push(item)
  }
  close()
  return folded
}

/**
 * The usage_metadata of the chunks of one streamed message, added up: each chunk counts what it adds. Undefined if the
 * list is no stream of LangChain, or has no usage.
 */
export function chunkUsage(list: readonly JsonValue[]): JsonObject | undefined {
  if (list.length < 2 || !list.every(isChunk)) return undefined
  const [folded, ...others] = foldLangchainChunks(list)
  const usage = isObject(folded) && others.length === 0 ? folded.usage_metadata : undefined
  return isObject(usage) ? usage : undefined
}

function addUsage(sum: JsonObject, more: JsonObject): JsonObject {
  const added = { ...sum }
  for (const [name, value] of Object.entries(more)) {
    const known = added[name]
    if (name === '__proto__' || value === null) continue
    if (typeof known === 'number' && typeof value === 'number') added[name] = known + value
    else if (isObject(known) && isObject(value)) added[name] = addUsage(known, value)
    else added[name] = value
  }
  return added
}

function isChunk(item: JsonValue): item is JsonObject {
  if (!isObject(item)) return false
  const name = item.lc === 1 && Array.isArray(item.id) ? item.id.at(-1) : item.type
  return name === 'AIMessageChunk'
}

function fieldsOf(chunk: JsonObject): JsonObject {
  if (chunk.lc !== 1) return isObject(chunk.data) ? chunk.data : chunk
  return isObject(chunk.kwargs) ? chunk.kwargs : {}
}

/** Whether two chunks may be of one message: all chunks of a message have its id, or none. */
function isSameMessage(a: JsonObject, b: JsonObject): boolean {
  const [one, other] = [text(fieldsOf(a).id), text(fieldsOf(b).id)]
  return one === undefined || other === undefined || one === other
}

function joined(chunks: readonly JsonObject[]): JsonObject {
  const content: JsonValue[] = []
  const calls = new Map<JsonValue, JsonObject>()
  const merged: JsonObject = {}
  let usage: JsonObject = {}
  let reasoning = ''
  for (const chunk of chunks) {
    const fields = fieldsOf(chunk)
    takeFields(merged, fields)
    reasoning += reasoningOf(fields)
    if (isObject(fields.usage_metadata)) usage = addUsage(usage, fields.usage_metadata)
    for (const part of partsOf(fields.content)) addPart(content, part)
    if (Array.isArray(fields.tool_call_chunks))
      for (const piece of fields.tool_call_chunks) if (isObject(piece)) addPiece(calls, piece)
  }
  const wholeCalls = [...calls.values()].map(({ id, name, args }) => ({
    id: id ?? null,
    name: name ?? null,
    args: parseJson(String(args))?.value ?? args ?? null,
  }))
  return {
    ...merged,
    type: 'ai',
    content: wholeCalls.length > 0 ? content.filter((part) => !isOfCall(part)) : content,
    usage_metadata: Object.keys(usage).length > 0 ? usage : null,
    ...(reasoning !== '' && {
      additional_kwargs: { ...object(merged.additional_kwargs), reasoning_content: reasoning },
    }),
    ...(wholeCalls.length > 0 && { tool_calls: wholeCalls, invalid_tool_calls: [] }),
  }
}

/** Takes the fields of the next chunk; an empty one does not replace another. */
function takeFields(merged: JsonObject, fields: JsonObject): void {
  for (const [name, value] of Object.entries(fields)) {
    const isEmpty =
      value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
    if (name !== '__proto__' && (!isEmpty || merged[name] === undefined)) merged[name] = value
  }
}

/** A piece of the reasoning that some integrations send beside the content. */
function reasoningOf(fields: JsonObject): string {
  return text(object(fields.additional_kwargs).reasoning_content) ?? ''
}

function object(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {}
}

/** Whether a part of the content is a piece of a tool call, which the message lists whole. */
function isOfCall(part: JsonValue): boolean {
  return isObject(part) && CALL_PARTS.has(part.type)
}

const CALL_PARTS: ReadonlySet<unknown> = new Set([
  'tool_use',
  'input_json_delta',
  'tool_call',
  'tool_call_chunk',
])

function partsOf(content: JsonValue | undefined): readonly JsonValue[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return Array.isArray(content) ? content : []
}

/** Appends a part, to the last one if both are pieces of the same text. */
function addPart(content: JsonValue[], part: JsonValue): void {
  const last = content.at(-1)
  const piece: JsonValue = typeof part === 'string' ? { type: 'text', text: part } : part
  if (isObject(last) && isObject(piece) && last.type === piece.type && last.index === piece.index)
    for (const key of ['text', 'thinking', 'reasoning'] as const) {
      if (typeof last[key] !== 'string' || typeof piece[key] !== 'string') continue
      content[content.length - 1] = { ...last, [key]: last[key] + piece[key] }
      return
    }
  content.push(piece)
}

/** Adds a piece of a tool call to the call with its index; the first piece has the id and the name. */
function addPiece(calls: Map<JsonValue, JsonObject>, { index = null, id, name, args }: JsonObject): void {
  const known = calls.get(index)
  const more = typeof args === 'string' ? args : ''
  if (known === undefined) calls.set(index, { id: id ?? null, name: name ?? null, args: more })
  else
    calls.set(index, {
      id: known.id ?? id ?? null,
      name: known.name ?? name ?? null,
      args: `${String(known.args)}${more}`,
    })
}
