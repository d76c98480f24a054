import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file that only this process can read, and that is gone when the process ends. */
export interface TemporaryFile {
  /** Returns the position of the first byte. */
  append(bytes: Uint8Array): number
  read(position: number, length: number): Buffer
  /** The text that was appended, cut after lines, a quarter of a megabyte at a time, without the last line breaks. */
  texts(): Iterable<string>
  close(): void
}

const PIECE_BYTES = 256 * 1024
const NEW_LINE = 10

export function createTemporaryFile(): TemporaryFile {
  const path = join(tmpdir(), `weir-${randomUUID()}`)
  const file = openSync(path, 'wx+', 0o600)
  let isRemoved = true
  try {
    rmSync(path)
  } catch {
    // Windows does not remove open files.
    isRemoved = false
  }
  let size = 0
  const read = (position: number, length: number): Buffer => {
    const bytes = Buffer.allocUnsafe(length)
    let at = 0
    while (at < length) {
      const count = readSync(file, bytes, at, length - at, position + at)
      if (count === 0) break
      at += count
    }
    return bytes.subarray(0, at)
  }
  return {
    read,
    append(bytes) {
      const position = size
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, position + at)
      size += bytes.length
      return position
    },
    *texts() {
      let length = PIECE_BYTES
      for (let at = 0; at < size; ) {
        const bytes = read(at, Math.min(length, size - at))
        const end = bytes.lastIndexOf(NEW_LINE)
        if (end < 0 && at + bytes.length < size) {
          length *= 2
          continue
        }
        yield bytes.toString('utf8', 0, end < 0 ? bytes.length : end)
        at += end < 0 ? bytes.length : end + 1
        length = PIECE_BYTES
      }
    },
    close() {
      closeSync(file)
      if (!isRemoved) rmSync(path, { force: true })
    },
  }
}
