import { AppError } from '../../base/errors.ts'

/** The first chunk of the framing format (https://github.com/google/snappy/blob/main/framing_format.txt). */
const STREAM_BEGIN = Buffer.from([0xff, 6, 0, 0, ...Buffer.from('sNaPpY')])
const COMPRESSED = 0
const PLAIN = 1
/** Lowest type of the chunks that a reader may skip; it must support all lower types. */
const SKIPPABLE = 0x80
const CHUNK_HEAD_BYTES = 4
const CRC_BYTES = 4
/** Maximum bytes of output per byte of input: a copy of 3 bytes makes at most 64 bytes. */
const MOST_PER_BYTE = 64 / 3

/**
 * Decodes a body with `Content-Encoding: snappy`: a block, or blocks in the framing format, since clients send both
 * under that name. Checksums are not checked, because TCP has checksums. At most `maxLength` bytes. Throws AppError
 * invalid_encoding, body_too_large.
 */
export function unsnappy(body: Uint8Array, maxLength = Number.MAX_SAFE_INTEGER): Buffer {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const isFramed = bytes.subarray(0, STREAM_BEGIN.length).equals(STREAM_BEGIN)
  return isFramed ? readFrames(bytes, maxLength) : readBlock(bytes, maxLength)
}

function readFrames(bytes: Buffer, maxLength: number): Buffer {
  const outputs: Buffer[] = []
  let length = 0
  let at = 0
  while (at < bytes.length) {
    if (at + CHUNK_HEAD_BYTES > bytes.length) throw damaged()
    const type = bytes[at]!
    const start = at + CHUNK_HEAD_BYTES
    const end = start + bytes.readUIntLE(at + 1, 3)
    if (end > bytes.length) throw damaged()
    if (type === COMPRESSED || type === PLAIN) {
      if (end - start < CRC_BYTES) throw damaged()
      const data = bytes.subarray(start + CRC_BYTES, end)
      const output = type === PLAIN ? data : readBlock(data, maxLength - length)
      length += output.length
      if (length > maxLength) throw tooLarge(maxLength)
      outputs.push(output)
    } else if (type < SKIPPABLE) throw damaged()
    at = end
  }
  return Buffer.concat(outputs)
}

/**
 * One block (https://github.com/google/snappy/blob/main/format_description.txt): its length, then literals and
 * copies.
 */
function readBlock(bytes: Buffer, maxLength: number): Buffer {
  const reader = { bytes, at: 0 }
  const length = readLength(reader)
  if (length > maxLength) throw tooLarge(maxLength)
  // Checked before the output is allocated: three bytes of input make at most 64 bytes of output.
  if (length > bytes.length * MOST_PER_BYTE) throw damaged()
  const output = Buffer.allocUnsafe(length)
  let filled = 0
  while (reader.at < bytes.length) {
    const tag = bytes[reader.at++]!
    const kind = tag & 3
    filled = kind === 0 ? addLiteral(reader, tag >> 2, output, filled) : addCopy(reader, tag, output, filled)
  }
  if (filled !== length) throw damaged()
  return output
}

interface Reader {
  bytes: Buffer
  at: number
}

function readLength(reader: Reader): number {
  let length = 0
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = reader.bytes[reader.at++]
    if (byte === undefined) break
    length += (byte & 127) * 2 ** shift
    if (byte < 128) return length
  }
  throw damaged()
}

/** Reads `size` little-endian bytes as a number. */
function take(reader: Reader, size: number): number {
  const { bytes, at } = reader
  if (at + size > bytes.length) throw damaged()
  reader.at += size
  return bytes.readUIntLE(at, size)
}

/**
 * Copies a literal to the output. `size` is its length minus one; from 60 on, it encodes the number of bytes of the
 * length.
 */
function addLiteral(reader: Reader, size: number, output: Buffer, filled: number): number {
  const length = (size < 60 ? size : take(reader, size - 59)) + 1
  const end = reader.at + length
  if (end > reader.bytes.length || filled + length > output.length) throw damaged()
  reader.bytes.copy(output, filled, reader.at, end)
  reader.at = end
  return filled + length
}

/** Repeats the bytes `offset` before the end of the output; the copy may overlap with them. */
function addCopy(reader: Reader, tag: number, output: Buffer, filled: number): number {
  const kind = tag & 3
  const length = kind === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1
  const offset = kind === 1 ? ((tag >> 5) << 8) + take(reader, 1) : take(reader, kind === 2 ? 2 : 4)
  if (offset === 0 || offset > filled || filled + length > output.length) throw damaged()
  for (let i = 0; i < length; i++) output[filled + i] = output[filled + i - offset]!
  return filled + length
}

function damaged(): AppError {
  return new AppError('invalid_encoding')
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('body_too_large', { message: `The body is larger than ${maxBytes} bytes.` })
}
