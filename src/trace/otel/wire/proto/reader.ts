import { AppError } from '../../../../base/errors.ts'

/** Wire types of Protocol Buffers. */
export const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const
const WIRE_NAMES = ['varint', 'fixed64', 'bytes', 'start of a group', 'end of a group', 'fixed32', '6', '7']

/**
 * Reads the wire format of Protocol Buffers (https://protobuf.dev/programming-guides/encoding) in place. Reads never go
 * beyond the open message; bytes that do not fit throw AppError invalid_otlp. Groups are not supported.
 */
export class ProtoReader {
  readonly buffer: Buffer
  /** Position of the next byte. */
  at = 0
  /** Position of the end of the open message. */
  end: number

  constructor(buffer: Buffer) {
    this.buffer = buffer
    this.end = buffer.length
  }

  /** The next field's number and wire type as `number << 3 | type`; 0 at the end of the open message. */
  tag(): number {
    if (this.at >= this.end) return 0
    const first = this.buffer[this.at]!
    if (first > 7 && first < 128) {
      this.at++
      return first
    }
    const tag = this.size()
    if (tag < 8 || tag > 0xffff_ffff) throw this.fault('no field has this number')
    return tag
  }

  /** Opens the next message and returns the argument for `close`. */
  open(): number {
    const end = this.take(this.size())
    const outer = this.end
    this.end = end
    return outer
  }

  /** Leaves the open message; unread fields are skipped. */
  close(outer: number): void {
    this.at = this.end
    this.end = outer
  }

  /**
   * Skips a field that is not needed; `known` has a bit for each field number that is only valid with another wire
   * type.
   */
  skip(tag: number, known: number): void {
    const field = Math.floor(tag / 8)
    const type = tag & 7
    if (field < 32 && (known >>> field) & 1)
      throw this.fault(`field ${field} cannot have the type ${WIRE_NAMES[type]}`)
    if (type === WIRE.varint) this.int64()
    else if (type === WIRE.fixed64) this.at = this.take(8)
    else if (type === WIRE.bytes) this.at = this.take(this.size())
    else if (type === WIRE.fixed32) this.at = this.take(4)
    else throw this.fault(`field ${field} has the type ${WIRE_NAMES[type]}`)
  }

  /** Skips a length-delimited field. Returns the position of its first byte; its end is the reader's new position. */
  skipBytes(): number {
    const end = this.take(this.size())
    const from = this.at
    this.at = end
    return from
  }

  /** Reads text; bytes that are not UTF-8 become U+FFFD. */
  string(): string {
    const from = this.skipBytes()
    return this.buffer.toString('utf8', from, this.at)
  }

  /** Reads bytes as lower-case hex digits. */
  hex(): string {
    return this.encoded('hex')
  }

  base64(): string {
    return this.encoded('base64')
  }

  private encoded(encoding: 'hex' | 'base64'): string {
    const from = this.skipBytes()
    return this.buffer.toString(encoding, from, this.at)
  }

  /** Reads a signed 64-bit integer, as a number if that is exact, otherwise as digits. */
  int64(): number | string {
    const first = this.byte()
    if (first < 128) return first
    // Reads two halves of 28 bits, which numbers hold exactly. Most values fit into them.
    let low = first & 127
    let high = 0
    for (let shift = 7; shift < 56; shift += 7) {
      const byte = this.byte()
      if (shift < 28) low |= (byte & 127) << shift
      else high |= (byte & 127) << (shift - 28)
      if (byte < 128) return high < 2 ** 25 ? low + high * 2 ** 28 : exactInt(joined(0, high, low))
    }
    const ninth = this.byte()
    const tenth = ninth > 127 ? this.byte() : 0
    if (tenth > 127) throw this.fault('an integer does not end')
    return exactInt(BigInt.asIntN(64, joined((ninth & 127) | (tenth << 7), high, low)))
  }

  bool(): boolean {
    return this.int64() !== 0
  }

  double(): number {
    const end = this.take(8)
    this.at = end
    return this.buffer.readDoubleLE(end - 8)
  }

  /** Reads nanoseconds since 1970 (fixed64) as whole microseconds; 0 if not set. */
  micros(): number {
    const end = this.take(8)
    this.at = end
    const low = this.buffer.readUInt32LE(end - 8)
    const high = this.buffer.readUInt32LE(end - 4)
    // Nanoseconds exceed the exact range of numbers, so the high half is divided first.
    return Math.floor(high / 1000) * 2 ** 32 + Math.floor(((high % 1000) * 2 ** 32 + low) / 1000)
  }

  /** An unsigned integer: the length of the next bytes, or a tag. */
  private size(): number {
    const value = this.int64()
    if (typeof value !== 'number' || value < 0) throw this.fault('a length is too large')
    return value
  }

  /** Skips `size` bytes and returns the position after them. */
  private take(size: number): number {
    const end = this.at + size
    if (end > this.end) throw this.fault('it ends inside a field')
    return end
  }

  private byte(): number {
    if (this.at >= this.end) throw this.fault('it ends inside an integer')
    return this.buffer[this.at++]!
  }

  fault(why: string): AppError {
    return new AppError('invalid_otlp', {
      message: `The body is not a valid OTLP message: ${why} (byte ${this.at}).`,
    })
  }
}

function joined(top: number, high: number, low: number): bigint {
  return (BigInt(top) << 56n) | (BigInt(high) << 28n) | BigInt(low)
}

function exactInt(value: bigint): number | string {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value.toString()
}
