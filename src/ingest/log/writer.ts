import { syncDirectory } from '../../base/files/sync-directory.ts'
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { toDiskError } from '../../base/files/disk-errors.ts'
import { AppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { type LogFile, type OpenLogFile, segmentPath, writeAt } from './files.ts'
import {
  encodeFrameHeader,
  encodeSegmentHeader,
  FRAME_HEADER_BYTES,
  type FrameHeader,
  MAX_FRAME_PAYLOAD_BYTES,
  SEGMENT_HEADER_BYTES,
} from './frame.ts'
import type { LogPosition } from './position.ts'
import type { Segment } from './segment.ts'

/**
 * Maximum bytes of a group: large enough that one fdatasync serves many appends, small enough that the first append
 * waits only briefly.
 */
const GROUP_BYTES = 8 * 1024 * 1024

/** A record to append; only the caller interprets `kind` and `count`. */
export interface LogRecord {
  kind: number
  count: number
  /** Epoch milliseconds. */
  received_at: number
  payload: Uint8Array
}

/** `segments` is shared with the readers: a new segment is added once its first frames are durable. */
export interface LogWriterOptions {
  directory: string
  segments: Segment[]
  nextNumber: number
  frames: number
  items: number
  segmentBytes: number
  fsync: boolean
  openFile: OpenLogFile
  logger: Logger
  /** Called when a group is durable, with the header of its first frame. */
  onDurable(first: FrameHeader): void
}

interface PendingAppend {
  record: LogRecord
  payload: Buffer
  payloadCrc: number
  size: number
  resolve(end: LogPosition): void
  reject(error: unknown): void
}

interface ActiveSegment {
  segment: Segment
  file: LogFile
  /** Whether the segment is still empty, without a header. */
  fresh: boolean
}

/**
 * Appends in groups: appends that arrive during a write and its fdatasync are collected, and share the next write and
 * fdatasync. After a failed write the segment is abandoned and cut to its last durable frame, since the state of its
 * unsynced bytes is unknown; the next group starts a new one.
 */
export class LogWriter {
  readonly #options: LogWriterOptions
  #nextNumber: number
  #frames: number
  #items: number
  #queue: PendingAppend[] = []
  #queuedBytes = 0
  #active: ActiveSegment | null = null
  #writing = false
  #written: Promise<void> = Promise.resolve()

  constructor(options: LogWriterOptions) {
    this.#options = options
    this.#nextNumber = options.nextNumber
    this.#frames = options.frames
    this.#items = options.items
  }

  /** Frames and items that were ever appended. */
  get totals(): { frames: number; items: number } {
    return { frames: this.#frames, items: this.#items }
  }

  /** Bytes accepted but not yet durable. */
  get queuedBytes(): number {
    return this.#queuedBytes
  }

  /** The segment that still grows, null when the next append starts a new one. */
  get activeNumber(): number | null {
    return this.#active?.segment.number ?? null
  }

  /**
   * Resolves with the position after the record once it is durable.
   * @throws AppError `log_unavailable`, `disk_full`, `disk_unwritable`
   */
  append(record: LogRecord): Promise<LogPosition> {
    const { buffer, byteOffset, byteLength } = record.payload
    if (byteLength > MAX_FRAME_PAYLOAD_BYTES) return Promise.reject(new AppError('body_too_large'))
    if (!isUint32(record.kind) || !isUint32(record.count) || !Number.isFinite(record.received_at)) {
      return Promise.reject(new AppError('internal', { message: 'A log record has a number out of range.' }))
    }
    const payload = Buffer.from(buffer, byteOffset, byteLength)
    const size = FRAME_HEADER_BYTES + byteLength
    return new Promise((resolve, reject) => {
      this.#queue.push({ record, payload, payloadCrc: crc32(payload), size, resolve, reject })
      this.#queuedBytes += size
      if (this.#writing) return
      this.#writing = true
      this.#written = this.#writeAll()
    })
  }

  /** Waits for running appends, then closes the file. */
  async close(): Promise<void> {
    await this.#written
    await this.#leaveSegment()
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve() // lets the appends of this tick join the first group
    while (this.#queue.length > 0) await this.#writeGroup()
    this.#writing = false
  }

  async #writeGroup(): Promise<void> {
    if (this.#groupSize() === 0) await this.#leaveSegment()
    let active = this.#active
    try {
      active ??= await this.#createSegment()
    } catch (error) {
      return this.#reject(this.#queue.splice(0), error)
    }
    this.#active = active
    const group = this.#queue.splice(0, this.#groupSize())
    try {
      await this.#store(active, group)
    } catch (error) {
      await this.#abandonSegment(active)
      this.#reject(group, error)
    }
  }

  /** Number of the queued appends that the next write includes; 0 when the first needs a new segment. */
  #groupSize(): number {
    const used = this.#active?.segment.end ?? SEGMENT_HEADER_BYTES
    const room = this.#options.segmentBytes - used
    let bytes = 0
    let count = 0
    for (const { size } of this.#queue) {
      bytes += size
      // a frame larger than a segment gets a segment of its own
      const fits = bytes <= room || (count === 0 && used === SEGMENT_HEADER_BYTES)
      if (!fits || (count > 0 && bytes > GROUP_BYTES)) break
      count += 1
    }
    return count
  }

  async #createSegment(): Promise<ActiveSegment> {
    const number = this.#nextNumber++
    const path = segmentPath(this.#options.directory, number)
    const salt = randomBytes(4).readUInt32LE()
    const file = await this.#options.openFile(path, 'wx')
    return { segment: { number, path, salt, end: SEGMENT_HEADER_BYTES, damage: [] }, file, fresh: true }
  }

  async #store(active: ActiveSegment, group: readonly PendingAppend[]): Promise<void> {
    const { segment, file, fresh } = active
    const headers = this.#headersFor(group)
    const buffers = group.flatMap(({ payload }, index) => {
      const header = headers[index]
      return header === undefined ? [] : [encodeFrameHeader(header, segment.salt), payload]
    })
    if (fresh) buffers.unshift(encodeSegmentHeader(segment.number, segment.salt))
    await writeAt(file, buffers, fresh ? 0 : segment.end)
    if (this.#options.fsync) {
      await file.datasync()
      if (fresh) await syncDirectory(this.#options.directory)
    }
    this.#publish(active, group, headers)
  }

  #headersFor(group: readonly PendingAppend[]): FrameHeader[] {
    let items = this.#items
    return group.map(({ record, payload, payloadCrc }, index) => {
      const { kind, count, received_at } = record
      const before = { frames: this.#frames + index, items }
      items += count
      return { length: payload.length, payload_crc: payloadCrc, kind, count, received_at, ...before }
    })
  }

  #publish(active: ActiveSegment, group: readonly PendingAppend[], headers: readonly FrameHeader[]): void {
    const { segment } = active
    if (active.fresh) this.#options.segments.push(segment)
    active.fresh = false
    for (const { record, size, resolve } of group) {
      segment.end += size
      this.#queuedBytes -= size
      this.#frames += 1
      this.#items += record.count
      resolve({ segment: segment.number, offset: segment.end })
    }
    const [first] = headers
    if (first !== undefined) this.#options.onDurable(first)
  }

  #reject(group: readonly PendingAppend[], cause: unknown): void {
    this.#options.logger.error({ err: cause, appends: group.length }, 'ingest log: write failed')
    const details = { reason: (cause as NodeJS.ErrnoException).code }
    for (const { size, reject } of group) {
      this.#queuedBytes -= size
      reject(toDiskError(cause, details) ?? new AppError('log_unavailable', { details, cause }))
    }
  }

  async #abandonSegment({ segment, file, fresh }: ActiveSegment): Promise<void> {
    try {
      if (fresh) await rm(segment.path, { force: true })
      else await file.truncate(segment.end)
    } catch (error) {
      this.#options.logger.warn(
        { err: error, segment: segment.number },
        'ingest log: an incomplete record at the end could not be removed',
      )
    }
    await this.#leaveSegment()
  }

  async #leaveSegment(): Promise<void> {
    const file = this.#active?.file
    this.#active = null
    try {
      await file?.close()
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'ingest log: closing a segment failed')
    }
  }
}

function isUint32(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < 2 ** 32
}
