/**
 * Writer and reader of ClickHouse's RowBinary format, for the column types that Weir stores.
 * One encoding from decode to disk: the ingest log, the INSERT and the read-back hold the same bytes.
 * Format: https://clickhouse.com/docs/interfaces/formats/RowBinary
 */

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** ClickHouse keeps a UUID as two little-endian 64-bit halves: byte `i` of the wire is byte UUID_ORDER[i] of the text. */
const UUID_ORDER: readonly number[] = [7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8]

const NIBBLE = new Uint8Array(128).fill(255)
for (let digit = 0; digit < 16; digit++) {
  NIBBLE[digit.toString(16).charCodeAt(0)] = digit
  NIBBLE[digit.toString(16).toUpperCase().charCodeAt(0)] = digit
}

/** Where the 16 bytes of a dashed uuid's text start, by byte number. */
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

  /** An unsigned 64-bit integer up to 2^53. */
  u64(value: number): void {
    this.reserve(8)
    this.buffer.writeUInt32LE(value % 2 ** 32, this.length)
    this.buffer.writeUInt32LE(Math.floor(value / 2 ** 32), this.length + 4)
    this.length += 8
  }

  /** A signed 64-bit integer: DateTime64 ticks, Decimal64. */
  i64(value: bigint): void {
    this.reserve(8)
    this.length = this.buffer.writeBigInt64LE(value, this.length)
  }

  /** A signed 128-bit integer: Decimal128. */
  i128(value: bigint): void {
    this.i64(BigInt.asIntN(64, value))
    this.i64(value >> 64n)
  }

  f64(value: number): void {
    this.reserve(8)
    this.length = this.buffer.writeDoubleLE(value, this.length)
  }

  /** A uuid in lower or upper case, with dashes. */
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

  /** A String column from bytes. */
  bytes(value: Uint8Array): void {
    this.varint(value.length)
    this.raw(value)
  }

  /** A String column from text (UTF-8). Lone surrogates become U+FFFD. */
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

  /** Null, or the value written by `write`. */
  nullable<T>(value: T | null | undefined, write: (value: T) => void): void {
    if (value === null || value === undefined) return this.u8(1)
    this.u8(0)
    write(value)
  }

  /** Bytes as they are: a FixedString, or rows encoded elsewhere. */
  raw(value: Uint8Array): void {
    this.reserve(value.length)
    this.buffer.set(value, this.length)
    this.length += value.length
  }

  /** Overwrites `size` earlier bytes with the first hex digits of `hex`, e.g. a hash over what followed them. */
  patchHex(at: number, hex: string, size: number): void {
    this.buffer.write(hex, at, size, 'hex')
  }

  /** A view of what was written between two positions; valid until the next write. */
  view(from = 0, to = this.length): Buffer {
    return this.buffer.subarray(from, to)
  }

  /**
   * The bytes written, in an ArrayBuffer of their own that may be transferred to another thread; it may be larger
   * than they are where copying them would cost more.
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

/** Reads RowBinary values in table order. Throws RangeError when the bytes end inside a value. */
export class RowReader {
  readonly buffer: Buffer
  /** Position of the next value. */
  at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.at = at
  }

  get done(): boolean {
    return this.at >= this.buffer.length
  }

  u8(): number {
    return this.buffer.readUInt8(this.at++)
  }

  u16(): number {
    this.at += 2
    return this.buffer.readUInt16LE(this.at - 2)
  }

  u32(): number {
    this.at += 4
    return this.buffer.readUInt32LE(this.at - 4)
  }

  u64(): number {
    this.at += 8
    return this.buffer.readUInt32LE(this.at - 8) + this.buffer.readUInt32LE(this.at - 4) * 2 ** 32
  }

  i64(): bigint {
    this.at += 8
    return this.buffer.readBigInt64LE(this.at - 8)
  }

  i128(): bigint {
    const low = BigInt.asUintN(64, this.i64())
    return (this.i64() << 64n) + low
  }

  f64(): number {
    this.at += 8
    return this.buffer.readDoubleLE(this.at - 8)
  }

  uuid(): string {
    const at = this.at
    if (at + 16 > this.buffer.length) throw new RangeError('RowBinary ends inside a UUID')
    let out = ''
    for (let i = 0; i < 16; i++) {
      out += HEX[this.buffer[at + UUID_ORDER[i]!]!]
      if (i === 3 || i === 5 || i === 7 || i === 9) out += '-'
    }
    this.at = at + 16
    return out
  }

  /** The next `size` bytes as a latin1 string: a cheap key for maps. */
  key(size: number): string {
    this.at += size
    return this.buffer.toString('latin1', this.at - size, this.at)
  }

  varint(): number {
    let value = 0
    let scale = 1
    for (;;) {
      const byte = this.buffer.readUInt8(this.at++)
      value += (byte & 127) * scale
      if (byte < 128) return value
      scale *= 128
    }
  }

  /** A String column as a view of the buffer (no copy). */
  bytes(): Buffer {
    const size = this.varint()
    if (this.at + size > this.buffer.length) throw new RangeError('RowBinary ends inside a String')
    this.at += size
    return this.buffer.subarray(this.at - size, this.at)
  }

  string(): string {
    return this.bytes().toString('utf8')
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
