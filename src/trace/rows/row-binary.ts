/**
 * Writer and reader of ClickHouse's RowBinary format, for the column types that Weir stores. The encoding is the same
 * from decoding to disk: the ingest log, the INSERT and the read-back contain the same bytes. Format:
 * https://clickhouse.com/docs/interfaces/formats/RowBinary
 */

/** ClickHouse stores a UUID as two little-endian 64-bit halves: stored byte `i` is byte UUID_ORDER[i] of the text. */
const UUID_ORDER: readonly number[] = [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]

const NIBBLE = new Uint8Array(128).fill(255)
for (let digit = 0; digit < 16; digit++) {
  NIBBLE[digit.toString(16).charCodeAt(0)] = digit
  NIBBLE[digit.toString(16).toUpperCase().charCodeAt(0)] = digit
}

/** The two digits of each byte, as character codes. */
const DIGITS = Buffer.from(
  Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0')).join(''),
  'latin1',
)
const DASHES = '-'.repeat(36)

/** For each of the 16 bytes, its position in the text of a dashed uuid. */
const UUID_TEXT: readonly number[] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]

/** A growing buffer of RowBinary values. Columns are written in table order, row after row, with nothing between. */
export class RowWriter {
  private buffer: Buffer<ArrayBuffer>
  /** Bytes written so far. */
  length = 0

  constructor(capacity = 4096) {
    this.buffer = Buffer.allocUnsafeSlow(Math.max(capacity, 64))
  }

  private reserve(bytes: number): void {
    if (this.length + bytes <= this.buffer.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, this.length + bytes))
    this.buffer.copy(grown, 0, 0, this.length)
    this.buffer = grown
  }

  u8(value: number): void {
    this.reserve(1)
    this.buffer[this.length++] = value
  }

  u16(value: number): void {
    this.reserve(2)
    this.length = this.buffer.writeUInt16LE(value, this.length)
  }

  u32(value: number): void {
    this.reserve(4)
    this.length = this.buffer.writeUInt32LE(value, this.length)
  }

  /** Writes an unsigned 64-bit integer up to 2^53. */
  u64(value: number): void {
    this.reserve(8)
    this.buffer.writeUInt32LE(value % 2 ** 32, this.length)
    this.buffer.writeUInt32LE(Math.floor(value / 2 ** 32), this.length + 4)
    this.length += 8
  }

  /** Writes a signed 64-bit integer: DateTime64 ticks, Decimal64. */
  i64(value: bigint): void {
    this.reserve(8)
    this.length = this.buffer.writeBigInt64LE(value, this.length)
  }

  /** As `i64`, for a number; @throws RangeError if it is not whole */
  safeI64(value: number): void {
    if (!Number.isInteger(value)) throw new RangeError('RowBinary has no fractions in an Int64')
    this.reserve(8)
    const high = Math.floor(value / 2 ** 32)
    this.buffer.writeUInt32LE(value - high * 2 ** 32, this.length)
    this.buffer.writeInt32LE(high, this.length + 4)
    this.length += 8
  }

  /** Writes a signed 128-bit integer: Decimal128. */
  i128(value: bigint): void {
    this.i64(BigInt.asIntN(64, value))
    this.i64(value >> 64n)
  }

  f64(value: number): void {
    this.reserve(8)
    this.length = this.buffer.writeDoubleLE(value, this.length)
  }

  /** Writes a uuid in lower or upper case, with dashes. */
  uuid(text: string): void {
    this.reserve(16)
    const at = this.length
    for (let i = 0; i < 16; i++) {
      const from = UUID_TEXT[UUID_ORDER[i]!]!
      this.buffer[at + i] = (NIBBLE[text.charCodeAt(from)]! << 4) | NIBBLE[text.charCodeAt(from + 1)]!
    }
    this.length = at + 16
  }

  varint(value: number): void {
    this.reserve(8)
    let rest = value
    while (rest > 127) {
      this.buffer[this.length++] = (rest % 128) | 128
      rest = Math.floor(rest / 128)
    }
    this.buffer[this.length++] = rest
  }

  /** Writes a String column from bytes. */
  bytes(value: Uint8Array): void {
    this.varint(value.length)
    this.raw(value)
  }

  /** Writes a String column from text (UTF-8). Lone surrogates become U+FFFD. */
  string(value: string): void {
    const size = Buffer.byteLength(value, 'utf8')
    this.varint(size)
    this.reserve(size)
    this.buffer.write(value, this.length, 'utf8')
    this.length += size
  }

  strings(values: readonly string[]): void {
    this.varint(values.length)
    for (const value of values) this.string(value)
  }

  nullable<T>(value: T | null | undefined, write: (value: T) => void): void {
    if (value === null || value === undefined) return this.u8(1)
    this.u8(0)
    write(value)
  }

  /** Writes bytes unchanged: a FixedString, or rows that are encoded already. */
  raw(value: Uint8Array): void {
    this.reserve(value.length)
    this.buffer.set(value, this.length)
    this.length += value.length
  }

  /** Overwrites `size` earlier bytes with the first hex digits of `hex`, e.g. a hash of the bytes after them. */
  patchHex(at: number, hex: string, size: number): void {
    this.buffer.write(hex, at, size, 'hex')
  }

  /** A view of the bytes between two positions; valid until the next write. */
  view(from = 0, to = this.length): Buffer {
    return this.buffer.subarray(from, to)
  }

  /**
   * The written bytes, in a separate ArrayBuffer that can be transferred to another thread. The buffer may be larger
   * than the bytes if copying them would cost more.
   */
  finish(): Uint8Array<ArrayBuffer> {
    const whole = this.buffer.buffer
    if (this.length * 2 > whole.byteLength) return new Uint8Array(whole, 0, this.length)
    return new Uint8Array(this.view())
  }
}

/** Writes `text` (a uuid) over 16 bytes of RowBinary at `at`. */
export function patchUuid(rows: Uint8Array, at: number, text: string): void {
  for (let i = 0; i < 16; i++) {
    const from = UUID_TEXT[UUID_ORDER[i]!]!
    rows[at + i] = (NIBBLE[text.charCodeAt(from)]! << 4) | NIBBLE[text.charCodeAt(from + 1)]!
  }
}

/** Size up to which a string is looked up among earlier ones, since names and types repeat from row to row. */
const SHORT = 32
/** Number of short strings that a reader keeps; a power of two. */
const KEPT = 256

const EMPTY = Buffer.alloc(0)

/** Reads RowBinary values in table order. Throws RangeError when the bytes end inside a value. */
export class RowReader {
  readonly buffer: Buffer
  private readonly view: DataView
  /** Position of the next value. */
  at: number
  /** Buffer in which the text of a uuid is composed: five times as fast as joining the parts of the text. */
  private uuidText: Buffer | undefined = undefined
  /** Short strings by hash, and the positions of their bytes; made for the first one, since many readers read none. */
  private readonly kept: string[] = []
  private keptAt: Int32Array | undefined = undefined

  constructor(bytes: Uint8Array, at = 0) {
    this.buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.at = at
  }

  get done(): boolean {
    return this.at >= this.buffer.length
  }

  u8(): number {
    return this.view.getUint8(this.at++)
  }

  u16(): number {
    this.at += 2
    return this.view.getUint16(this.at - 2, true)
  }

  u32(): number {
    this.at += 4
    return this.view.getUint32(this.at - 4, true)
  }

  u64(): number {
    this.at += 8
    return this.view.getUint32(this.at - 8, true) + this.view.getUint32(this.at - 4, true) * 2 ** 32
  }

  i64(): bigint {
    this.at += 8
    return this.view.getBigInt64(this.at - 8, true)
  }

  /** Reads a signed 64-bit integer between -2^53 and 2^53. */
  safeI64(): number {
    this.at += 8
    return this.view.getUint32(this.at - 8, true) + this.view.getInt32(this.at - 4, true) * 2 ** 32
  }

  i128(): bigint {
    this.at += 16
    const low = this.view.getBigUint64(this.at - 16, true)
    const high = this.view.getBigInt64(this.at - 8, true)
    return high === 0n ? low : (high << 64n) + low
  }

  f64(): number {
    this.at += 8
    return this.view.getFloat64(this.at - 8, true)
  }

  uuid(): string {
    const { at, buffer } = this
    const uuidText = (this.uuidText ??= Buffer.from(DASHES, 'latin1'))
    if (at + 16 > buffer.length) throw new RangeError('RowBinary ends inside a UUID')
    for (let i = 0; i < 16; i++) {
      const byte = buffer[at + UUID_ORDER[i]!]! * 2
      const to = UUID_TEXT[i]!
      uuidText[to] = DIGITS[byte]!
      uuidText[to + 1] = DIGITS[byte + 1]!
    }
    this.at = at + 16
    return uuidText.toString('latin1')
  }

  /** Reads `size` bytes as a latin1 string, which is a cheap key for maps. */
  key(size: number): string {
    this.at += size
    return this.buffer.toString('latin1', this.at - size, this.at)
  }

  varint(): number {
    let value = 0
    let scale = 1
    for (;;) {
      const byte = this.view.getUint8(this.at++)
      value += (byte & 127) * scale
      if (byte < 128) return value
      scale *= 128
    }
  }

  /** Reads a String column as a view of the buffer, without a copy. */
  bytes(): Buffer {
    const size = this.varint()
    // Most columns of most fragments are empty, and a view of each would cost more than reading all others.
    if (size === 0) return EMPTY
    if (this.at + size > this.buffer.length) throw new RangeError('RowBinary ends inside a String')
    this.at += size
    return this.buffer.subarray(this.at - size, this.at)
  }

  string(): string {
    const size = this.varint()
    const start = this.at
    if (start + size > this.buffer.length) throw new RangeError('RowBinary ends inside a String')
    this.at = start + size
    if (size === 0) return ''
    return size <= SHORT ? this.short(start, size) : this.buffer.toString('utf8', start, this.at)
  }

  /** The string of these bytes; the same object if the string was read before. */
  private short(start: number, size: number): string {
    const { buffer, kept } = this
    const keptAt = (this.keptAt ??= new Int32Array(KEPT).fill(-1))
    let hash = size
    for (let i = start; i < start + size; i++) hash = (Math.imul(hash, 31) + buffer[i]!) | 0
    const place = (hash ^ (hash >>> 8)) & (KEPT - 1)
    // The comparison begins at the size, which is stored before the string, so equal bytes mean an equal string.
    const known = keptAt[place]!
    if (known >= 0 && sameBytes(buffer, known, start - 1, size + 1)) return kept[place]!
    keptAt[place] = start - 1
    return (kept[place] = buffer.toString('utf8', start, start + size))
  }

  strings(): string[] {
    return Array.from({ length: this.varint() }, () => this.string())
  }

  nullable<T>(read: () => T): T | null {
    return this.u8() === 1 ? null : read()
  }

  skip(size: number): void {
    this.at += size
  }
}

function sameBytes(buffer: Uint8Array, a: number, b: number, size: number): boolean {
  for (let i = 0; i < size; i++) if (buffer[a + i] !== buffer[b + i]) return false
  return true
}
