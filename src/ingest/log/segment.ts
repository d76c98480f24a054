import { crc32 } from 'node:zlib'
import { type LogFile, readAt, type TakeBuffer } from './files.ts'
import {
  decodeFrameHeader,
  FRAME_HEADER_BYTES,
  FRAME_MAGIC,
  type FrameHeader,
  SEGMENT_HEADER_BYTES,
} from './frame.ts'

/** Default size at which the log begins a new segment. */
export const DEFAULT_SEGMENT_BYTES = 64 * 1024 * 1024
const SEARCH_WINDOW_BYTES = 1024 * 1024

/** Bytes of a segment without a complete frame: `from` inclusive, `to` exclusive. */
export interface DamagedRange {
  from: number
  to: number
}

/** One file of the log. `end` is where its durable frames end; later bytes are ignored. */
export interface Segment {
  readonly number: number
  readonly path: string
  readonly salt: number
  end: number
  readonly damage: DamagedRange[]
}

/** A frame read from its segment; `payload` shares its buffer with the other frames of the read. */
export interface SegmentFrame {
  header: FrameHeader
  payload: Buffer
  start: number
  end: number
}

/**
 * Reads complete frames from offset `from`: at least one, and at most `maxBytes` of payload. Empty if there is no
 * complete frame at `from`. A damaged frame after complete ones ends the list.
 */
export async function readFrames(
  file: LogFile,
  segment: Segment,
  from: number,
  maxBytes: number,
  take?: TakeBuffer,
): Promise<SegmentFrame[]> {
  const available = segment.end - from
  let bytes = await readAt(file, from, Math.max(0, Math.min(available, FRAME_HEADER_BYTES + maxBytes)), take)
  const first = decodeFrameHeader(bytes, 0, segment.salt)
  if (first === null || FRAME_HEADER_BYTES + first.length > available) return []
  if (FRAME_HEADER_BYTES + first.length > bytes.length) {
    bytes = await readAt(file, from, FRAME_HEADER_BYTES + first.length, take)
  }
  return parseFrames(bytes, segment.salt, from)
}

function parseFrames(bytes: Buffer, salt: number, base: number): SegmentFrame[] {
  const frames: SegmentFrame[] = []
  for (let at = 0; ; ) {
    const header = decodeFrameHeader(bytes, at, salt)
    if (header === null) return frames
    const end = at + FRAME_HEADER_BYTES + header.length
    if (end > bytes.length) return frames
    const payload = bytes.subarray(at + FRAME_HEADER_BYTES, end)
    if (crc32(payload) !== header.payload_crc) return frames
    frames.push({ header, payload, start: base + at, end: base + end })
    at = end
  }
}

/** Reads only the header of the frame at `offset`; null if there is none or it is damaged. */
export async function peekFrame(
  file: LogFile,
  segment: Segment,
  offset: number,
): Promise<FrameHeader | null> {
  if (offset + FRAME_HEADER_BYTES > segment.end) return null
  return decodeFrameHeader(await readAt(file, offset, FRAME_HEADER_BYTES), 0, segment.salt)
}

/** The offset of the first complete frame at or after `from`, or null: used to skip damage. */
export async function findFrame(file: LogFile, segment: Segment, from: number): Promise<number | null> {
  const step = SEARCH_WINDOW_BYTES
  for (let base = from; base + FRAME_HEADER_BYTES <= segment.end; base += step) {
    const length = Math.min(step + FRAME_HEADER_BYTES - 1, segment.end - base)
    const bytes = await readAt(file, base, length)
    for (let at = bytes.indexOf(FRAME_MAGIC); at !== -1; at = bytes.indexOf(FRAME_MAGIC, at + 1)) {
      if (decodeFrameHeader(bytes, at, segment.salt) === null) continue
      if ((await readFrames(file, segment, base + at, 0)).length > 0) return base + at
    }
  }
  return null
}

/** The first offset at or after `offset` that is not known to be damaged. */
export function skipDamage(segment: Segment, offset: number): number {
  const range = segment.damage.find(({ from, to }) => offset >= from && offset < to)
  return range === undefined ? Math.max(offset, SEGMENT_HEADER_BYTES) : skipDamage(segment, range.to)
}
