import type { JsonObject, JsonValue } from '../schema/json.ts'
import { isObject } from '../schema/json.ts'
import type { ContentBlock, Message } from '../schema/types.gen.ts'
import { wholeUsage } from '../trace/tokens/usage/usage.ts'
import { type Delta, NEW_CALL, type ReadEvent } from './providers/provider.ts'

interface PartialCall {
  id: string | undefined
  name: string
  args: string
}

/** Collects the events of one answer. */
export class ModelAnswer {
  finish_reason: string | undefined
  model: string | undefined
  id: string | undefined
  /** Whether a part of the answer has arrived. */
  hasBegun = false
  #text = ''
  #reasoning = ''
  readonly #calls = new Map<number, PartialCall>()
  #usage: JsonObject = {}

  add({ deltas = [], usage, finish_reason, model, id }: ReadEvent): void {
    for (const delta of deltas) this.#addDelta(delta)
    if (usage !== undefined) this.#usage = { ...this.#usage, ...withoutNulls(usage) }
    this.finish_reason = finish_reason ?? this.finish_reason
    this.model = model ?? this.model
    this.id = id ?? this.id
  }

  /** Counts in the shape of usage_metadata; undefined until the vendor sends some. */
  get usage_metadata(): JsonObject | undefined {
    return wholeUsage(this.#usage)
  }

  /** The answer up to now as one message. */
  get message(): Message {
    const content: ContentBlock[] = []
    if (this.#reasoning !== '') content.push({ type: 'reasoning', text: this.#reasoning })
    if (this.#text !== '') content.push({ type: 'text', text: this.#text })
    for (const call of this.#calls.values()) content.push(toBlock(call))
    return { role: 'assistant', content }
  }

  #addDelta(delta: Delta): void {
    this.hasBegun = true
    if (delta.type === 'text') this.#text += delta.text
    else if (delta.type === 'reasoning') this.#reasoning += delta.text
    else this.#addToCall(delta)
  }

  #addToCall({ index, id, name, args }: Extract<Delta, { type: 'tool_call' }>): void {
    const at = index === NEW_CALL ? this.#calls.size : index
    const known = this.#calls.get(at) ?? { id: undefined, name: '', args: '' }
    this.#calls.set(at, {
      id: id ?? known.id,
      name: known.name === '' ? (name ?? '') : known.name,
      args: known.args + (args ?? ''),
    })
  }
}

/** Converts a call to a block. Arguments that are not a JSON object are kept as text in `extras`. */
function toBlock({ id, name, args }: PartialCall): ContentBlock {
  const parsed = parseArgs(args)
  return {
    type: 'tool_call',
    ...(id !== undefined && { id }),
    name,
    args: parsed ?? {},
    ...(parsed === undefined && { extras: { args } }),
  }
}

function parseArgs(args: string): JsonObject | undefined {
  if (args === '') return {}
  try {
    const value = JSON.parse(args) as JsonValue
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}
