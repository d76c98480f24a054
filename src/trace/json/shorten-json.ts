import type { JsonObject, JsonValue } from '../../schema/json.ts'
import {
  atArray,
  atObject,
  elements,
  JsonScanError,
  type JsonCursor,
  objectMembers,
  startJson,
  takeValue,
} from './json-members.ts'
import { parseLooseJson } from './loose-json.ts'

/** Bytes of a payload that are scanned. What comes after them is not read. */
const MAX_SCANNED_BYTES = 512 * 1024
/** Elements of a long list that are kept: the first one, and the last ones. */
const LAST_KEPT = 6
const MOST_MEMBERS = 100
const MAX_DEPTH = 8
/** The first bytes of large JSON: an object, a list or a string. */
const JSON_START = new Set<number | undefined>([0x7b, 0x5b, 0x22])

/**
 * A short value in place of large JSON: strings are cut to `length` characters, lists keep their first and their last
 * elements, levels below the eighth are left out. Values are not parsed to find their end. Of JSON above 512 KiB, or with
 * a fault, the members before it are kept; text that is no JSON is cut.
 */
export function shortenJson(bytes: Uint8Array, length: number): JsonValue {
  const size = Math.min(bytes.byteLength, MAX_SCANNED_BYTES)
  const cursor = startJson(Buffer.from(bytes.buffer, bytes.byteOffset, size))
  const isJson = JSON_START.has(cursor.buffer[cursor.at])
  const value = isJson ? shortened(cursor, length, 0) : undefined
  return value ?? cursor.buffer.toString('utf8', 0, length * 4).slice(0, length)
}

function shortened(cursor: JsonCursor, length: number, depth: number): JsonValue | undefined {
  if (atObject(cursor)) return shortObject(cursor, length, depth)
  if (atArray(cursor)) return shortList(cursor, length, depth)
  const from = cursor.at
  try {
    const text = takeValue(cursor)
    if (text.length <= length * 4) return parseLooseJson(text).value
  } catch (error) {
    if (!(error instanceof JsonScanError)) throw error
  }
  return shortString(cursor.buffer.subarray(from, from + length * 4), length)
}

/** The beginning of a string whose end was not reached; undefined for other values. */
function shortString(start: Buffer, length: number): string | undefined {
  if (start[0] !== 0x22) return undefined
  const text = start
    .toString('utf8', 1)
    .replace(/\ufffd+$/, '')
    .replace(/(?:\\|\\u[0-9a-f]{0,3})$/i, '')
  const { value, ok } = parseLooseJson(Buffer.from(`"${text}"`))
  return ok && typeof value === 'string' ? value.slice(0, length) : text.slice(0, length)
}

function shortObject(cursor: JsonCursor, length: number, depth: number): JsonObject {
  const out: JsonObject = {}
  let count = 0
  try {
    for (const { key } of objectMembers(cursor)) {
      const value = memberValue(cursor, length, depth + 1)
      if (value !== undefined && ++count <= MOST_MEMBERS) out[key] = value
    }
  } catch (error) {
    if (!(error instanceof JsonScanError)) throw error
    cursor.at = cursor.buffer.length
  }
  return out
}

function shortList(cursor: JsonCursor, length: number, depth: number): JsonValue[] {
  const kept: Buffer[] = []
  try {
    for (const _ of elements(cursor)) {
      kept.push(takeValue(cursor))
      if (kept.length > LAST_KEPT + 1) kept.splice(1, 1)
    }
  } catch (error) {
    if (!(error instanceof JsonScanError)) throw error
    kept.push(cursor.buffer.subarray(cursor.at))
    cursor.at = cursor.buffer.length
  }
  return kept.map((text) => memberValue(startJson(text), length, depth + 1) ?? null)
}

function memberValue(cursor: JsonCursor, length: number, depth: number): JsonValue | undefined {
  const from = cursor.at
  if (depth > MAX_DEPTH) {
    takeValue(cursor)
    return undefined
  }
  const value = shortened(cursor, length, depth)
  if (cursor.at === from) cursor.at = cursor.buffer.length
  return value
}
