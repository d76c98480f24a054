import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { SEGMENT_HEADER_BYTES } from './frame.ts'

/** A place in the log between two frames: segment number (the first is 1) and byte offset in its file. */
export interface LogPosition {
  segment: number
  offset: number
}

const FILE_NAME = 'position'

/** The position of the first frame of segment number `segment`. */
export function segmentStart(segment: number): LogPosition {
  return { segment, offset: SEGMENT_HEADER_BYTES }
}

/** Negative, zero or positive if `a` is before, at or after `b`. */
export function comparePositions(a: LogPosition, b: LogPosition): number {
  return a.segment - b.segment || a.offset - b.offset
}

/**
 * The position saved in the directory: `missing` if there is none, `damaged` if the file is invalid. In both cases
 * everything in the log counts as waiting; storing it again changes nothing.
 */
export async function loadPosition(directory: string): Promise<LogPosition | 'missing' | 'damaged'> {
  let text: string
  try {
    text = await readFile(join(directory, FILE_NAME), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing'
    throw error
  }
  const [, body = '', segment, offset, crc] = /^((\d{1,12}) (\d{1,15})) ([0-9a-f]{1,8})\n$/.exec(text) ?? []
  if (crc === undefined || Number.parseInt(crc, 16) !== crc32(body)) return 'damaged'
  return { segment: Number(segment), offset: Number(offset) }
}

/**
 * Replaces the saved position atomically; with `durable`, the new bytes are on disk before the old ones are replaced.
 */
export async function savePosition(
  directory: string,
  position: LogPosition,
  durable: boolean,
): Promise<void> {
  const path = join(directory, FILE_NAME)
  const body = `${position.segment} ${position.offset}`
  const handle = await open(`${path}.new`, 'w')
  try {
    await handle.writeFile(`${body} ${crc32(body).toString(16)}\n`)
    if (durable) await handle.datasync()
  } finally {
    await handle.close()
  }
  await rename(`${path}.new`, path)
}
