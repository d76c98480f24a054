import { open } from 'node:fs/promises'
import { join } from 'node:path'

/** The methods of an open file that the ingest log uses; node's FileHandle is one. Tests inject faults here. */
export interface LogFile {
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<{ bytesRead: number }>
  writev(buffers: Buffer[], position: number): Promise<{ bytesWritten: number }>
  datasync(): Promise<void>
  truncate(length: number): Promise<void>
  stat(): Promise<{ size: number }>
  close(): Promise<void>
}

/** Opens a file of the log: `r` to read, `r+` to repair, `wx` to create. */
export type OpenLogFile = (path: string, flags: 'r' | 'r+' | 'wx') => Promise<LogFile>

/** The real files of this machine. */
export const openLogFile: OpenLogFile = (path, flags) => open(path, flags)

/** The file of segment number `segment`; names sort in the order of the numbers. */
export function segmentPath(directory: string, segment: number): string {
  return join(directory, `${String(segment).padStart(12, '0')}.log`)
}

/** The number in a segment's file name, or null for any other name. */
export function segmentNumber(name: string): number | null {
  const match = /^(\d{12})\.log$/.exec(name)
  return match === null ? null : Number(match[1])
}

/** Returns a buffer of at least this size. */
export type TakeBuffer = (length: number) => Buffer

/** Reads `length` bytes from `position`, or fewer at the end of the file, into a new buffer or one from `take`. */
export async function readAt(
  file: LogFile,
  position: number,
  length: number,
  take: TakeBuffer = Buffer.allocUnsafeSlow,
): Promise<Buffer> {
  const bytes = take(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}

/** Maximum size of the buffer that is kept between reads. */
const KEPT_BYTES = 24 << 20

/**
 * Returns a function that returns the same buffer for successive reads, so that each read overwrites the result of the
 * previous one. The buffer is in shared memory: another thread can read it without a copy, and batches need no new
 * buffers.
 */
export function createReadBuffer(): TakeBuffer {
  let kept = Buffer.from(new SharedArrayBuffer(0))
  return (length) => {
    if (length <= kept.length) return kept.subarray(0, length)
    const buffer = Buffer.from(new SharedArrayBuffer(Math.max(length, Math.min(2 * kept.length, KEPT_BYTES))))
    if (buffer.length <= KEPT_BYTES) kept = buffer
    return buffer.subarray(0, length)
  }
}

/**
 * Writes all of the buffers at `position`. After a short write the rest is written; if the disk has a fault, that
 * second write reports it.
 */
export async function writeAt(file: LogFile, buffers: readonly Buffer[], position: number): Promise<void> {
  let rest = buffers.filter((buffer) => buffer.length > 0)
  let offset = position
  while (rest.length > 0) {
    const { bytesWritten } = await file.writev(rest, offset)
    if (bytesWritten === 0) throw new Error('The file takes no more bytes')
    offset += bytesWritten
    rest = dropBytes(rest, bytesWritten)
  }
}

function dropBytes(buffers: Buffer[], count: number): Buffer[] {
  let left = count
  return buffers.flatMap((buffer) => {
    const cut = Math.min(left, buffer.length)
    left -= cut
    return cut === buffer.length ? [] : [buffer.subarray(cut)]
  })
}
