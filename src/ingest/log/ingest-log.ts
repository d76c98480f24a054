import { mkdir, rm } from 'node:fs/promises'
import { AppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { createReadBuffer, type LogFile, type OpenLogFile, openLogFile } from './files.ts'
import { FRAME_HEADER_BYTES, type FrameHeader, SEGMENT_HEADER_BYTES } from './frame.ts'
import { type DirectoryLock, lockDirectory } from './lock.ts'
import { comparePositions, type LogPosition, loadPosition, savePosition, segmentStart } from './position.ts'
import { type RecoveredLog, type RecoveryReport, recoverSegments, setAside } from './recovery.ts'
import {
  type DamagedRange,
  DEFAULT_SEGMENT_BYTES,
  findFrame,
  peekFrame,
  readFrames,
  type Segment,
  skipDamage,
} from './segment.ts'
import { type LogRecord, LogWriter } from './writer.ts'

export type { LogPosition, LogRecord, RecoveryReport }

/** A record with its positions: `start` before it, `end` after it. Committing `end` removes the record. */
export interface LogFrame extends LogRecord {
  start: LogPosition
  end: LogPosition
}

/** The content of a log; "waiting" means durable and not committed. */
export interface IngestLogStats {
  /** Waiting bytes, with frame headers; these count against `max_bytes`. */
  bytes: number
  max_bytes: number
  /** Bytes of all segment files; up to one segment more than `bytes`. */
  disk_bytes: number
  segments: number
  /** Number of durable frames that were ever appended. */
  frames: number
  frames_waiting: number
  /** Sum of `count` over the waiting frames. */
  items_waiting: number
  /** `received_at` of the first waiting frame. */
  oldest_waiting_at: number | null
  /** Bytes found damaged since opening; the segments with them are kept as `*.damaged`. */
  damaged_bytes: number
  /** The bytes that were cut off when the log was opened, if any. */
  recovered?: RecoveryReport
}

/**
 * An append-only log on local disk, for one process and one consumer. Records are appended at the end, read by
 * position, and removed once a position after them is committed.
 */
export interface IngestLog {
  /**
   * Resolves when the record is durable, with the position after it. The payload must not change until then. After a
   * rejection the record is not acknowledged, but may still be in the log if the process crashes at that moment.
   * @throws AppError `log_full` (nothing was written), `log_unavailable`, `disk_full`, `disk_unwritable`,
   * `shutting_down`, `body_too_large`
   */
  append(record: LogRecord): Promise<LogPosition>
  /**
   * The durable frames after `from`, in order, all of one segment: as many as fit into `maxBytes` of payload, and at
   * least one. Empty at the end of the log. The payloads are in shared memory, and valid until the second next read that
   * returns frames. Damaged bytes are skipped and logged.
   */
  read(from: LogPosition, maxBytes: number): Promise<LogFrame[]>
  /** Resolves when there may be something to read after `position`, the signal aborts, or the log closes. */
  waitForData(position: LogPosition, signal: AbortSignal): Promise<void>
  /**
   * Must be called when everything before the position is stored elsewhere. Deletes the segments that end before it.
   */
  commit(position: LogPosition): Promise<void>
  /** The position at which reading starts after a restart. */
  readonly committed: LogPosition
  stats(): IngestLogStats
  /** Finishes running appends and unlocks the directory. */
  close(): Promise<void>
}

/** `maxBytes` limits the waiting bytes. `fsync: false` is faster but not durable (tests). */
export interface IngestLogOptions {
  dir: string
  maxBytes: number
  segmentBytes?: number
  fsync?: boolean
  logger: Logger
  /** How files are opened; tests inject faults here. */
  openFile?: OpenLogFile
}

/**
 * Opens the log in a directory, which it creates and locks.
 * @throws AppError `log_unusable` when another process uses the directory or its format is a later one
 */
export async function openIngestLog(options: IngestLogOptions): Promise<IngestLog> {
  const { dir: directory, logger, fsync = true, openFile = openLogFile } = options
  await mkdir(directory, { recursive: true })
  const lock = await lockDirectory(directory)
  try {
    const saved = await loadPosition(directory)
    if (saved === 'damaged')
      logger.error('ingest log: the stored position is damaged; all segments are read again')
    const position = typeof saved === 'string' ? segmentStart(0) : saved
    const recovered = await recoverSegments({ directory, position, openFile, fsync, logger })
    const log = new SegmentedLog({ ...options, fsync, openFile }, lock, position, recovered)
    await log.findOldest()
    return log
  } catch (error) {
    await lock.release()
    throw error
  }
}

interface Waiter {
  position: LogPosition
  wake(): void
}

class SegmentedLog implements IngestLog {
  readonly #options: IngestLogOptions & { fsync: boolean; openFile: OpenLogFile }
  readonly #lock: DirectoryLock
  readonly #segments: Segment[]
  readonly #writer: LogWriter
  readonly #report: RecoveryReport | undefined
  readonly #waiters = new Set<Waiter>()
  /** The buffer of the next read, and that of the last one. */
  #readBuffers = [createReadBuffer(), createReadBuffer()] as const
  #committed: LogPosition
  #commits: Promise<void> = Promise.resolve()
  /** The fields of the first waiting frame that the statistics need. */
  #oldest: Pick<FrameHeader, 'frames' | 'items' | 'received_at'> | null = null
  #damagedBytes: number
  #closed = false

  constructor(
    options: IngestLogOptions & { fsync: boolean; openFile: OpenLogFile },
    lock: DirectoryLock,
    position: LogPosition,
    recovered: RecoveredLog,
  ) {
    const { dir: directory, segmentBytes = DEFAULT_SEGMENT_BYTES, fsync, openFile, logger } = options
    const { segments, frames, items } = recovered
    this.#options = options
    this.#lock = lock
    this.#segments = segments
    this.#report = recovered.report
    this.#damagedBytes = recovered.damaged_bytes
    // The number was never used before. Otherwise old positions in that segment would point into the new file.
    const nextNumber = Math.max(position.segment, recovered.lastNumber) + 1
    const onDurable = (first: FrameHeader): void => this.#grown(first)
    const writer = { directory, segments, nextNumber, frames, items, segmentBytes, fsync, openFile, logger }
    this.#writer = new LogWriter({ ...writer, onDurable })
    this.#committed = this.#skipSealedEnd(position)
  }

  get committed(): LogPosition {
    return { ...this.#committed }
  }

  append(record: LogRecord): Promise<LogPosition> {
    if (this.#closed) return Promise.reject(new AppError('shutting_down'))
    const bytes = this.#waitingBytes() + this.#writer.queuedBytes
    const { maxBytes: max_bytes } = this.#options
    if (bytes + FRAME_HEADER_BYTES + record.payload.byteLength > max_bytes) {
      return Promise.reject(new AppError('log_full', { details: { bytes, max_bytes } }))
    }
    return this.#writer.append(record)
  }

  async read(from: LogPosition, maxBytes: number): Promise<LogFrame[]> {
    let position = from
    for (;;) {
      const at = position
      const segment = this.#segments.find((candidate) => this.#firstOffset(candidate, at) < candidate.end)
      if (segment === undefined) return []
      const offset = this.#firstOffset(segment, position)
      const frames = await this.#readSegment(segment, offset, maxBytes)
      if (frames.length > 0) return frames
      position = { segment: segment.number, offset } // the damage of this segment is recorded now
    }
  }

  waitForData(position: LogPosition, signal: AbortSignal): Promise<void> {
    if (this.#closed || signal.aborted || this.#hasDataAfter(position)) return Promise.resolve()
    return new Promise((resolve) => {
      const waiter: Waiter = {
        position,
        wake: () => {
          this.#waiters.delete(waiter)
          signal.removeEventListener('abort', waiter.wake)
          resolve()
        },
      }
      this.#waiters.add(waiter)
      signal.addEventListener('abort', waiter.wake)
    })
  }

  commit(position: LogPosition): Promise<void> {
    if (this.#closed) return Promise.reject(new AppError('shutting_down'))
    const done = this.#commits.then(() => this.#commitNow(position))
    this.#commits = done.catch(() => {}) // the caller receives the error; the next commit must not fail because of it
    return done
  }

  stats(): IngestLogStats {
    const { frames, items } = this.#writer.totals
    const oldest = this.#oldest
    return {
      bytes: this.#waitingBytes(),
      max_bytes: this.#options.maxBytes,
      disk_bytes: this.#segments.reduce((sum, segment) => sum + segment.end, 0),
      segments: this.#segments.length,
      frames,
      frames_waiting: oldest === null ? 0 : frames - oldest.frames,
      items_waiting: oldest === null ? 0 : items - oldest.items,
      oldest_waiting_at: oldest?.received_at ?? null,
      damaged_bytes: this.#damagedBytes,
      ...(this.#report !== undefined && { recovered: this.#report }),
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#writer.close()
    await this.#commits
    for (const waiter of this.#waiters) waiter.wake()
    await this.#lock.release()
  }

  /** Finds the first waiting frame; if its header is damaged, the last known one is kept. */
  async findOldest(): Promise<void> {
    const from = this.#committed
    const segment = this.#segments.find((candidate) => this.#firstOffset(candidate, from) < candidate.end)
    if (segment === undefined) {
      this.#oldest = null
      return
    }
    const offset = this.#firstOffset(segment, from)
    const header = await this.#withFile(segment, (file) => peekFrame(file, segment, offset))
    if (header !== null) this.#oldest = header
  }

  /** Offset of the first frame of a segment after the position; the segment's end when there is none. */
  #firstOffset(segment: Segment, position: LogPosition): number {
    if (segment.number < position.segment) return segment.end
    const offset = segment.number === position.segment ? position.offset : SEGMENT_HEADER_BYTES
    return Math.min(skipDamage(segment, offset), segment.end)
  }

  #hasDataAfter(position: LogPosition): boolean {
    return this.#segments.some((segment) => this.#firstOffset(segment, position) < segment.end)
  }

  #waitingBytes(): number {
    return this.#segments.reduce(
      (sum, segment) => sum + segment.end - this.#firstOffset(segment, this.#committed),
      0,
    )
  }

  /** Returns the position; if it is the end of a segment that no longer grows, the start of the next segment. */
  #skipSealedEnd(position: LogPosition): LogPosition {
    const segment = this.#segments.find(({ number }) => number === position.segment)
    const sealed = segment !== undefined && segment.number !== this.#writer.activeNumber
    const passed = sealed && this.#firstOffset(segment, position) >= segment.end
    return passed ? segmentStart(segment.number + 1) : { ...position }
  }

  #grown(first: FrameHeader): void {
    this.#oldest ??= first
    for (const waiter of this.#waiters) if (this.#hasDataAfter(waiter.position)) waiter.wake()
  }

  async #withFile<T>(segment: Segment, use: (file: LogFile) => Promise<T>): Promise<T> {
    try {
      const file = await this.#options.openFile(segment.path, 'r')
      try {
        return await use(file)
      } finally {
        await file.close()
      }
    } catch (cause) {
      throw new AppError('log_unavailable', { message: 'The ingest log cannot be read.', cause })
    }
  }

  async #readSegment(segment: Segment, from: number, maxBytes: number): Promise<LogFrame[]> {
    const { number: id, end } = segment
    const frames = await this.#withFile(segment, async (file) => {
      const [buffer, last] = this.#readBuffers
      const found = await readFrames(file, segment, from, maxBytes, buffer)
      if (found.length > 0) {
        this.#readBuffers = [last, buffer]
        return found
      }
      this.#markDamaged(segment, { from, to: (await findFrame(file, segment, from + 1)) ?? end })
      return []
    })
    return frames.map(({ header: { kind, count, received_at }, payload, start, end: after }) => {
      const place = { start: { segment: id, offset: start }, end: { segment: id, offset: after } }
      return { kind, count, received_at, payload, ...place }
    })
  }

  #markDamaged(segment: Segment, range: DamagedRange): void {
    if (skipDamage(segment, range.from) !== range.from) return // another read found it first
    segment.damage.push(range)
    this.#damagedBytes += range.to - range.from
    const found = { segment: segment.number, offset: range.from, bytes: range.to - range.from }
    this.#options.logger.error(found, 'ingest log: skipped damaged bytes; the records in them are lost')
  }

  async #commitNow(position: LogPosition): Promise<void> {
    const next = this.#skipSealedEnd(position)
    if (comparePositions(next, this.#committed) <= 0) return
    const last = this.#segments.at(-1)
    const tail =
      last === undefined ? this.#committed : this.#skipSealedEnd({ segment: last.number, offset: last.end })
    if (comparePositions(next, tail) > 0) {
      throw new AppError('internal', { message: 'A commit lies beyond the end of the ingest log.' })
    }
    try {
      await savePosition(this.#options.dir, next, this.#options.fsync)
    } catch (cause) {
      throw new AppError('log_unavailable', { cause })
    }
    this.#committed = next
    await this.#removeBefore(next.segment)
    await this.findOldest()
  }

  async #removeBefore(number: number): Promise<void> {
    const kept = this.#segments.findIndex((segment) => segment.number >= number)
    const gone = this.#segments.splice(0, kept === -1 ? this.#segments.length : kept)
    const { dir: directory, fsync, logger } = this.#options
    for (const { path, damage } of gone) {
      try {
        if (damage.length > 0) await setAside(path, { directory, fsync, logger })
        else await rm(path)
      } catch (error) {
        logger.warn({ err: error }, 'ingest log: a stored segment could not be removed; the next start will')
      }
    }
  }
}
