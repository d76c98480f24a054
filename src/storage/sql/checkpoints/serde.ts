import { DeltaSnapshot, type SerializerProtocol } from '@langchain/langgraph-checkpoint'
import * as messages from '@langchain/core/messages'
import { AppError } from '../../../base/errors.ts'
import { isObject } from '../../../schema/json.ts'
import type { ValueType } from './rows.ts'

export interface StoredValue {
  type: ValueType
  value: string
}

type JsonRecord = Record<string, unknown>
type MessageClass = new (fields: JsonRecord) => object

/** Thrown inside `revive` for values that only LangChain's own loader can read. */
class UnusualValue extends Error {}

function constructorRecord(name: string, args: unknown[], method: string | null = null): JsonRecord {
  return { lc: 2, type: 'constructor', id: [name], method, args, kwargs: {} }
}

/** What LangChain's serializer makes of a value that it cannot serialize. */
const FAILED = '"[unable to serialize, circular reference is too complex to analyze]"'

/** Replaces values that JSON does not have, in the same way as LangChain's serializer. */
function replaceValue(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) {
    return value === undefined ? { lc: 2, type: 'undefined' } : value
  }
  if (value instanceof DeltaSnapshot) return { lc: 2, type: 'delta_snapshot', value: value.value }
  if (value instanceof Set || value instanceof Map) {
    return constructorRecord(value.constructor.name, [Array.from(value)])
  }
  if (value instanceof RegExp) return constructorRecord('RegExp', [value.source, value.flags])
  if (value instanceof Error) return constructorRecord('Error', [value.message])
  if (value instanceof Uint8Array) return constructorRecord('Uint8Array', [Array.from(value)], 'from')
  if ((value as { lg_name?: unknown }).lg_name === 'Send') {
    const { node, args, timeout } = value as { node?: unknown; args?: unknown; timeout?: unknown }
    return timeout === undefined ? { node, args } : { node, args, timeout }
  }
  return value
}

/**
 * Encodes a value in the format of LangChain's `JsonPlusSerializer`. `serde` is used for values that `JSON.stringify`
 * refuses, such as cycles.
 * @throws TypeError for values that have no stored form, such as a bigint
 */
export async function encodeValue(serde: SerializerProtocol, value: unknown): Promise<StoredValue> {
  return encodePlain(value) ?? (await encodeWith(serde, value))
}

/** As `encodeValue`, synchronously; undefined for the values that need `encodeWith`. */
export function encodePlain(value: unknown): StoredValue | undefined {
  if (value instanceof Uint8Array) return { type: 'bytes', value: Buffer.from(value).toString('base64') }
  try {
    const text: string | undefined = JSON.stringify(value, replaceValue)
    return text === undefined ? undefined : { type: 'json', value: text }
  } catch {
    return undefined
  }
}

async function encodeWith(serde: SerializerProtocol, value: unknown): Promise<StoredValue> {
  const [, bytes] = await serde.dumpsTyped(value)
  const text = new TextDecoder().decode(bytes)
  if (text === FAILED) throw new TypeError('LangGraph has no form for a part of it, such as a bigint.')
  // A function has no JSON text, and is stored like `undefined`.
  return { type: 'json', value: text === '' ? '{"lc":2,"type":"undefined"}' : text }
}

/** For each class: the names of constructor arguments by their names in stored records, as in LangChain's loader. */
const ALIASES = new WeakMap<MessageClass, Map<string, string>>()

function argumentName(builder: MessageClass, key: string): string {
  let names = ALIASES.get(builder)
  if (names === undefined) {
    names = new Map()
    const chain: object[] = []
    for (let at: object | null = builder.prototype; at !== null; at = Object.getPrototypeOf(at))
      chain.push(at)
    for (const prototype of chain) {
      const aliases: unknown = Reflect.get(prototype, 'lc_aliases')
      if (isObject(aliases))
        for (const [name, alias] of Object.entries(aliases)) names.set(String(alias), name)
    }
    ALIASES.set(builder, names)
  }
  let name = names.get(key)
  if (name === undefined) {
    name = camelCase(key)
    names.set(key, name)
  }
  return name
}

function camelCase(key: string): string {
  const trimmed = key.trim()
  if (!/[-_\s]/.test(trimmed)) return trimmed
  const words = trimmed.replace(/[-_\s]+/g, '_').toLowerCase()
  return words.replace(/_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

function messageClass(id: readonly unknown[]): MessageClass | undefined {
  if (id.length !== 3 || id[0] !== 'langchain_core' || id[1] !== 'messages') return undefined
  const name = id[2]
  if (typeof name !== 'string' || !/Message(Chunk)?$/.test(name) || !Object.hasOwn(messages, name))
    return undefined
  return (messages as unknown as Record<string, MessageClass>)[name]
}

/** Converts a record to a message. @throws UnusualValue if the record is not a plain message */
function reviveMessage(record: JsonRecord): object {
  const builder = messageClass(record['id'] as unknown[])
  const kwargs = record['kwargs']
  if (builder === undefined || !isObject(kwargs)) throw new UnusualValue()
  const fields: JsonRecord = {}
  for (const key in kwargs) {
    const value = reviveArgument(kwargs[key])
    if (value !== undefined) fields[argumentName(builder, key)] = value
  }
  return new builder(fields)
}

/** Removes `undefined` from an argument, as LangChain's loader does by converting it to JSON once more. */
function reviveArgument(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = reviveArgument(value[i]) ?? null
    return value
  }
  const record = value as JsonRecord
  if ('lc' in record) {
    if (record['lc'] === 2 && record['type'] === 'undefined') return undefined
    if (record['lc'] === 1 && record['type'] === 'constructor' && Array.isArray(record['id'])) {
      return reviveMessage(record)
    }
    throw new UnusualValue()
  }
  for (const key in record) {
    const before = record[key]
    const after = reviveArgument(before)
    if (after === undefined) delete record[key]
    else if (after !== before) record[key] = after
  }
  return record
}

function isByteArray(list: readonly unknown[]): list is number[] {
  return list.every((item) => typeof item === 'number' && Number.isInteger(item) && item >= 0 && item <= 255)
}

/**
 * The value of a `constructor` record of a class that Weir writes. For other classes returns undefined; the record then
 * stays unchanged.
 */
function reviveConstructor(record: JsonRecord): unknown {
  const { id, args } = record
  const method = record['method'] ?? null
  if (!Array.isArray(id) || id.length !== 1 || !Array.isArray(args)) return undefined
  const [first, second] = args as unknown[]
  if (id[0] === 'Uint8Array') {
    const isBytes = args.length === 1 && Array.isArray(first) && isByteArray(first)
    return isBytes && (method === null || method === 'from') ? new Uint8Array(first) : undefined
  }
  if (method !== null) return undefined
  if (id[0] === 'RegExp') {
    if (args.length !== 2 || typeof first !== 'string' || typeof second !== 'string') return undefined
    try {
      return new RegExp(first, second)
    } catch {
      return undefined
    }
  }
  if (args.length !== 1) return undefined
  if (id[0] === 'Error') return typeof first === 'string' ? new Error(first) : undefined
  if (!Array.isArray(first)) return undefined
  if (id[0] === 'Set') return new Set(first)
  const isEntries = first.every(
    (entry): entry is [unknown, unknown] => Array.isArray(entry) && entry.length === 2,
  )
  return id[0] === 'Map' && isEntries ? new Map(first) : undefined
}

/**
 * Replaces records within `value` by the values that they describe, in place, the innermost first. @throws UnusualValue
 */
function revive(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = revive(value[i])
    return value
  }
  const record = value as JsonRecord
  if (record['lc'] === 1 && record['type'] === 'constructor' && Array.isArray(record['id'])) {
    return reviveMessage(record)
  }
  for (const key in record) {
    const before = record[key]
    const after = revive(before)
    if (after !== before) record[key] = after
  }
  if (record['lc'] !== 2) return record
  if (record['type'] === 'undefined') return undefined
  if (record['type'] === 'delta_snapshot' && Object.hasOwn(record, 'value')) {
    return new DeltaSnapshot(record['value'])
  }
  return record['type'] === 'constructor' ? (reviveConstructor(record) ?? record) : record
}

/**
 * Decodes a stored value synchronously, with the same result as LangChain's serializer, which is slower because it
 * makes a promise for every inner value. Returns undefined if only `serde` can decode the value: see `decodeValue`.
 */
function decodePlain({ type, value }: StoredValue): { value: unknown } | undefined {
  if (type !== 'json' && type !== 'bytes') throw new AppError('thread_of_other_language')
  if (type === 'bytes') return { value: new Uint8Array(Buffer.from(value, 'base64')) }
  // A text without this key has no records. The key can be searched as text, because Weir writes JSON without spaces.
  if (!value.includes('"lc":')) return { value: JSON.parse(value) }
  if (value.includes('"__lc_escaped__":')) return undefined
  try {
    return { value: revive(JSON.parse(value)) }
  } catch (error) {
    if (error instanceof UnusualValue) return undefined
    throw error
  }
}

/**
 * Decodes a stored value. `serde` decodes objects that are neither messages nor built into JavaScript.
 * @throws AppError thread_of_other_language for a value that a Python graph has written (P-28)
 */
export function decodeValue(serde: SerializerProtocol, stored: StoredValue): unknown | Promise<unknown> {
  const plain = decodePlain(stored)
  return plain === undefined ? serde.loadsTyped('json', stored.value) : plain.value
}
