import { syncDirectory } from '../../base/files/sync-directory.ts'
import { readdir, rename, rm } from 'node:fs/promises'
import type { Logger } from '../../base/log.ts'
import { type OpenLogFile, readAt, segmentNumber, segmentPath } from './files.ts'
import { decodeSegmentHeader, type FrameHeader, SEGMENT_HEADER_BYTES } from './frame.ts'
import { comparePositions, type LogPosition, segmentStart } from './position.ts'
import { findFrame, readFrames, type Segment } from './segment.ts'

const SCAN_BYTES = 4 * 1024 * 1024

/** The bytes that were cut off when the log was opened: those after the last complete frame of the last segment. */
export interface RecoveryReport {
  segment: number
  offset: number
  bytes_dropped: number
}

/** The log as found on disk; `frames` and `items` continue the counts of the last frame. */
export interface RecoveredLog {
  segments: Segment[]
  /** The highest segment number ever used here, 0 when there is none. */
  lastNumber: number
  frames: number
  items: number
  report: RecoveryReport | undefined
  damaged_bytes: number
}

interface RecoveryOptions {
  directory: string
  position: LogPosition
  openFile: OpenLogFile
  fsync: boolean
  logger: Logger
}

/**
 * Finds the segments at and after the position, and checks every frame of the last one: an incomplete end is cut off.
 * Earlier segments were complete when the next segment began; later damage is found when they are read.
 * @throws AppError `log_unusable` for a segment of a later format version
 */
export async function recoverSegments(options: RecoveryOptions): Promise<RecoveredLog> {
  const { directory, position } = options
  const names = await readdir(directory)
  const numbers = names.map((name) => segmentNumber(name)).filter((number) => number !== null)
  const setAsideToo = names.map((name) => segmentNumber(name.replace(/\.damaged$/, '')) ?? 0)
  const lastNumber = Math.max(0, ...setAsideToo)
  const log: RecoveredLog = {
    segments: [],
    lastNumber,
    frames: 0,
    items: 0,
    report: undefined,
    damaged_bytes: 0,
  }
  for (const number of numbers.sort((a, b) => a - b)) {
    // a crash happened between saving the position and deleting the segments before it
    if (number < position.segment) await rm(segmentPath(directory, number))
    else await openSegment(options, number, number === numbers.at(-1), log)
  }
  for (const segment of log.segments.toReversed()) {
    const last = await scanSegment(options, segment, segment === log.segments.at(-1), log)
    if (segment.end <= SEGMENT_HEADER_BYTES) {
      await rm(segment.path)
      log.segments.splice(log.segments.indexOf(segment), 1)
    }
    if (last === null) continue
    log.frames = last.frames + 1
    log.items = last.items + last.count
    break
  }
  return log
}

async function openSegment(
  options: RecoveryOptions,
  number: number,
  isLast: boolean,
  log: RecoveredLog,
): Promise<void> {
  const path = segmentPath(options.directory, number)
  const file = await options.openFile(path, 'r')
  try {
    const { size } = await file.stat()
    const salt = decodeSegmentHeader(await readAt(file, 0, SEGMENT_HEADER_BYTES), number)
    if (salt !== null) {
      log.segments.push({ number, path, salt, end: size, damage: [] })
    } else if (isLast && size <= SEGMENT_HEADER_BYTES) {
      report(options, log, { segment: number, offset: 0, bytes_dropped: size })
      await rm(path)
    } else {
      log.damaged_bytes += size
      await setAside(path, options)
    }
  } finally {
    await file.close()
  }
}

/** Walks the frames of a segment that may be waiting and returns the header of the last one. */
async function scanSegment(
  options: RecoveryOptions,
  segment: Segment,
  isLast: boolean,
  log: RecoveredLog,
): Promise<FrameHeader | null> {
  const start = segmentStart(segment.number)
  let { offset } = comparePositions(options.position, start) > 0 ? options.position : start
  let last: FrameHeader | null = null
  const file = await options.openFile(segment.path, 'r')
  try {
    while (offset < segment.end) {
      const frame = (await readFrames(file, segment, offset, SCAN_BYTES)).at(-1)
      if (frame !== undefined) {
        last = frame.header
        offset = frame.end
        continue
      }
      const next = await findFrame(file, segment, offset + 1)
      if (next === null && isLast) await cutTail(options, segment, offset, log)
      // reading will find the same damage again, and report it
      offset = next ?? segment.end
    }
  } finally {
    await file.close()
  }
  return last
}

async function cutTail(
  options: RecoveryOptions,
  segment: Segment,
  offset: number,
  log: RecoveredLog,
): Promise<void> {
  const file = await options.openFile(segment.path, 'r+')
  try {
    await file.truncate(offset)
    if (options.fsync) await file.datasync()
  } finally {
    await file.close()
  }
  report(options, log, { segment: segment.number, offset, bytes_dropped: segment.end - offset })
  segment.end = offset
}

function report(options: RecoveryOptions, log: RecoveredLog, found: RecoveryReport): void {
  log.report = found
  options.logger.warn(
    found,
    'ingest log: removed incomplete data after the last complete record. If a process was killed during a write, the data was never acknowledged; if the disk lost or changed it, acknowledged runs are missing',
  )
}

/** Renames a damaged segment, so that the log ignores it and people can inspect it. */
export async function setAside(
  path: string,
  options: { directory: string; fsync: boolean; logger: Logger },
): Promise<void> {
  const kept = `${path}.damaged`
  await rename(path, kept)
  if (options.fsync) await syncDirectory(options.directory)
  options.logger.error({ file: kept }, 'ingest log: moved a damaged segment aside')
}
