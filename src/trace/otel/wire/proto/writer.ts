/** Number of bytes of a message's length, always the same because they are reserved before the length is known. */
const LENGTH_BYTES = 5

/** Writes the wire format of Protocol Buffers. One writer can be reset and used again without new allocations. */
export class ProtoWriter {
  private buffer: Buffer
  /** Bytes written; set to 0 to start again. */
  length = 0

  constructor(capacity = 1 << 16) {
    this.buffer = Buffer.allocUnsafeSlow(capacity)
  }

  private reserve(bytes: number): void {
    if (this.length + bytes <= this.buffer.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, this.length + bytes))
    this.buffer.copy(grown, 0, 0, this.length)
    this.buffer = grown
  }

  /** The bytes written so far, without a copy; valid until the next write. */
  view(): Buffer {
    return this.buffer.subarray(0, this.length)
  }

  byte(value: number): void {
    this.reserve(1)
    this.buffer[this.length++] = value
  }

  /** Writes bytes unchanged. */
  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.buffer.set(bytes, this.length)
    this.length += bytes.length
  }

  /** Opens the message of a field (`tag` is number << 3 | 2); returns the argument for `end`. */
  begin(tag: number): number {
    this.reserve(LENGTH_BYTES + 1)
    this.buffer[this.length] = tag
    this.length += LENGTH_BYTES + 1
    return this.length
  }

  /** Closes a message. Its length is padded with empty groups of seven bits, which readers must accept. */
  end(start: number): void {
    let rest = this.length - start
    for (let i = start - LENGTH_BYTES; i < start; i++) {
      this.buffer[i] = (rest & 127) | (i < start - 1 ? 128 : 0)
      rest >>>= 7
    }
  }

  string(tag: number, text: string): void {
    const start = this.begin(tag)
    this.reserve(text.length * 3)
    this.length += this.buffer.write(text, this.length)
    this.end(start)
  }

  /** Writes a bytes field from hex digits. */
  hex(tag: number, digits: string): void {
    const start = this.begin(tag)
    this.raw(Buffer.from(digits, 'hex'))
    this.end(start)
  }

  /** Writes a varint field with an integer up to 2^53, or a negative one. */
  int(tag: number, value: number): void {
    this.byte(tag)
    let rest = value
    if (value < 0) {
      let bits = BigInt.asUintN(64, BigInt(value))
      for (; bits > 127n; bits >>= 7n) this.byte(Number(bits & 127n) | 128)
      rest = Number(bits)
    }
    for (; rest > 127; rest = Math.floor(rest / 128)) this.byte((rest % 128) | 128)
    this.byte(rest)
  }

  double(tag: number, value: number): void {
    this.byte(tag)
    this.reserve(8)
    this.length = this.buffer.writeDoubleLE(value, this.length)
  }

  /** Writes microseconds since 1970 as nanoseconds in a fixed64 field. */
  micros(tag: number, value: number): void {
    this.byte(tag)
    this.reserve(8)
    this.length = this.buffer.writeBigUInt64LE(BigInt(value) * 1000n, this.length)
  }
}
