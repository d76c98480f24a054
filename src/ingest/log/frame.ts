import { crc32 } from 'node:zlib'
import { AppError } from '../../base/errors.ts'

/*
 * A segment file is a header and then frames, one after the other; all numbers little-endian.
 *
 *   segment header  0 magic "WEIRLOG\n" · 8 u32 format version · 12 u32 segment · 16 u32 salt · 20 u32 crc
 *   frame header    0 magic "WFR1" · 4 u32 payload length · 8 u32 payload crc · 12 u32 kind · 16 u32 count
 *                   20 f64 received_at · 28 f64 frames before · 36 f64 items before · 44 u32 crc
 *
 * The crc of a frame header starts from the segment's random salt. So bytes in a payload that look like a frame are not
 * read as a frame when the reader searches for the next one after damage.
 */

/** The offset of the first frame of a segment. */
export const SEGMENT_HEADER_BYTES = 24
/** Bytes of a frame besides its payload. */
export const FRAME_HEADER_BYTES = 48
/** The first bytes of every frame. */
export const FRAME_MAGIC: Buffer = Buffer.from('WFR1', 'latin1')
/** A payload's length must fit one write call and one buffer. */
export const MAX_FRAME_PAYLOAD_BYTES: number = 2 ** 30

const SEGMENT_MAGIC = Buffer.from('WEIRLOG\n', 'latin1')
const FORMAT_VERSION = 1

/** The header of a frame; `frames` and `items` count everything before it. */
export interface FrameHeader {
  length: number
  payload_crc: number
  kind: number
  count: number
  received_at: number
  frames: number
  items: number
}

/** The bytes that open segment number `segment`. */
export function encodeSegmentHeader(segment: number, salt: number): Buffer {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES)
  SEGMENT_MAGIC.copy(bytes)
  bytes.writeUInt32LE(FORMAT_VERSION, 8)
  bytes.writeUInt32LE(segment, 12)
  bytes.writeUInt32LE(salt, 16)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 20)), 20)
  return bytes
}

/**
 * The salt of segment number `segment`, or null when the header is incomplete, damaged or of another segment. @throws
 * AppError `log_unusable` for a format of a later version
 */
export function decodeSegmentHeader(bytes: Buffer, segment: number): number | null {
  if (bytes.length < SEGMENT_HEADER_BYTES || !bytes.subarray(0, 8).equals(SEGMENT_MAGIC)) return null
  if (bytes.readUInt32LE(20) !== crc32(bytes.subarray(0, 20))) return null
  const version = bytes.readUInt32LE(8)
  if (version !== FORMAT_VERSION) {
    const message = `The ingest log has format version ${version}; this release reads version ${FORMAT_VERSION}.`
    throw new AppError('log_unusable', { message, details: { version } })
  }
  return bytes.readUInt32LE(12) === segment ? bytes.readUInt32LE(16) : null
}

/** The bytes that precede a payload. @throws RangeError when a number does not fit its field */
export function encodeFrameHeader(header: FrameHeader, salt: number): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEADER_BYTES)
  FRAME_MAGIC.copy(bytes)
  bytes.writeUInt32LE(header.length, 4)
  bytes.writeUInt32LE(header.payload_crc, 8)
  bytes.writeUInt32LE(header.kind, 12)
  bytes.writeUInt32LE(header.count, 16)
  bytes.writeDoubleLE(header.received_at, 20)
  bytes.writeDoubleLE(header.frames, 28)
  bytes.writeDoubleLE(header.items, 36)
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 44), salt), 44)
  return bytes
}

/** The frame header at `offset`, or null when there is no complete, undamaged one. */
export function decodeFrameHeader(bytes: Buffer, offset: number, salt: number): FrameHeader | null {
  if (offset + FRAME_HEADER_BYTES > bytes.length) return null
  const header = bytes.subarray(offset, offset + FRAME_HEADER_BYTES)
  if (!header.subarray(0, 4).equals(FRAME_MAGIC)) return null
  if (header.readUInt32LE(44) !== crc32(header.subarray(0, 44), salt)) return null
  return {
    length: header.readUInt32LE(4),
    payload_crc: header.readUInt32LE(8),
    kind: header.readUInt32LE(12),
    count: header.readUInt32LE(16),
    received_at: header.readDoubleLE(20),
    frames: header.readDoubleLE(28),
    items: header.readDoubleLE(36),
  }
}
