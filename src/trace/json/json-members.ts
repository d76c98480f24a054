/** Bytes of JSON punctuation. */
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d

/**
 * A position in JSON text that is read once, from front to back, without parsing values: only their brackets and
 * quotes are read. So values keep every digit and escape, a fault inside a value affects only that value (contract
 * fact 3: bare NaN), and deep nesting takes no extra time. Functions here throw JsonScanError if the text is not
 * JSON.
 */
export interface JsonCursor {
  readonly buffer: Buffer
  /** Position of the next byte. */
  at: number
}

/** Thrown when brackets or quotes show that a text is not JSON. */
export class JsonScanError extends Error {
  /** Position of the byte at which reading failed. */
  readonly at: number

  constructor(at: number) {
    super(`Not JSON at byte ${at}`)
    this.name = 'JsonScanError'
    this.at = at
  }
}

/** A cursor at the start of JSON text, after a byte order mark and white space. */
export function startJson(buffer: Buffer): JsonCursor {
  const hasMark = buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf
  const cursor = { buffer, at: hasMark ? 3 : 0 }
  skipSpace(cursor)
  return cursor
}

/** Throws if anything except white space is left. */
export function endJson(cursor: JsonCursor): void {
  skipSpace(cursor)
  if (cursor.at < cursor.buffer.length) throw new JsonScanError(cursor.at)
}

/** Whether the next value is an object. */
export function atObject(cursor: JsonCursor): boolean {
  return cursor.buffer[cursor.at] === OPEN_OBJECT
}

/** Whether the next value is an array. */
export function atArray(cursor: JsonCursor): boolean {
  return cursor.buffer[cursor.at] === OPEN_ARRAY
}

/**
 * Reads an object: yields each member with the cursor at its value, which the caller must read before it takes the next
 * member. `start` is the position of the member's key.
 */
export function* objectMembers(cursor: JsonCursor): Generator<{ key: string; start: number }> {
  expect(cursor, OPEN_OBJECT)
  skipSpace(cursor)
  if (takeIf(cursor, CLOSE_OBJECT)) return
  for (;;) {
    const start = cursor.at
    expect(cursor, QUOTE)
    cursor.at = endOfString(cursor.buffer, start)
    const key = parseKey(cursor.buffer, start, cursor.at)
    skipSpace(cursor)
    expect(cursor, COLON)
    skipSpace(cursor)
    yield { key, start }
    skipSpace(cursor)
    if (takeIf(cursor, CLOSE_OBJECT)) return
    expect(cursor, COMMA)
    skipSpace(cursor)
  }
}

/** Reads an array: yields at each element, which the caller must read before it takes the next element. */
export function* elements(cursor: JsonCursor): Generator<void> {
  expect(cursor, OPEN_ARRAY)
  skipSpace(cursor)
  if (takeIf(cursor, CLOSE_ARRAY)) return
  for (;;) {
    yield
    skipSpace(cursor)
    if (takeIf(cursor, CLOSE_ARRAY)) return
    expect(cursor, COMMA)
    skipSpace(cursor)
  }
}

/** Reads the next value and returns its bytes (a view). */
export function takeValue(cursor: JsonCursor): Buffer {
  const from = cursor.at
  cursor.at = endOfValue(cursor.buffer, from)
  return cursor.buffer.subarray(from, cursor.at)
}

function skipSpace(cursor: JsonCursor): void {
  const { buffer } = cursor
  let at = cursor.at
  for (
    let byte = buffer[at];
    byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
    byte = buffer[at]
  )
    at++
  cursor.at = at
}

function takeIf(cursor: JsonCursor, byte: number): boolean {
  if (cursor.buffer[cursor.at] !== byte) return false
  cursor.at++
  return true
}

function expect(cursor: JsonCursor, byte: number): void {
  if (!takeIf(cursor, byte)) throw new JsonScanError(cursor.at)
}

function parseKey(buffer: Buffer, from: number, to: number): string {
  const text = buffer.toString('utf8', from + 1, to - 1)
  if (!text.includes('\\')) return text
  try {
    return String(JSON.parse(`"${text}"`))
  } catch {
    throw new JsonScanError(from)
  }
}

/** Position after the string that opens at `from`. */
function endOfString(buffer: Buffer, from: number): number {
  const size = buffer.length
  for (let at = from + 1; at < size; at++) {
    const byte = buffer[at]
    if (byte === QUOTE) return at + 1
    if (byte === BACKSLASH) at++
  }
  throw new JsonScanError(size)
}

/** Position after the value that begins at `from`. */
function endOfValue(buffer: Buffer, from: number): number {
  const size = buffer.length
  let depth = 0
  for (let at = from; at < size; at++) {
    const byte = buffer[at]!
    if (byte === QUOTE) {
      at = endOfString(buffer, at) - 1
      if (depth === 0) return at + 1
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      depth++
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth--
      if (depth === 0) return at + 1
      if (depth < 0) throw new JsonScanError(at)
    } else if (depth === 0) {
      return endOfScalar(buffer, at)
    }
  }
  throw new JsonScanError(size)
}

/** Position after a number, a word or an invalid token: that of the next punctuation or space. */
function endOfScalar(buffer: Buffer, from: number): number {
  let at = from
  for (let byte = buffer[at]; byte !== undefined && isScalarByte(byte); byte = buffer[at]) at++
  if (at === from) throw new JsonScanError(at)
  return at
}

function isScalarByte(byte: number): boolean {
  return byte > 0x20 && byte !== COMMA && byte !== COLON && byte !== CLOSE_OBJECT && byte !== CLOSE_ARRAY
}
