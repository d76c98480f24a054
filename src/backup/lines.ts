import { unusable } from './archive.ts'

const NEWLINE = 0x0a

/** The number of line ends in the bytes. */
export function countLines(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++
  return count
}

/**
 * Yields the bytes in pieces of whole lines. Each piece except the last has at least `size` bytes, and ends with the
 * last line that has arrived. The memory is at most `size`, the largest line and one piece of the source.
 * @throws AppError backup_unusable for a line of more than `max_line` bytes
 */
export async function* wholeLines(
  source: AsyncIterable<Uint8Array>,
  { size, max_line }: { size: number; max_line: number },
): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = []
  let bytes = 0
  for await (const piece of source) {
    const end = piece.lastIndexOf(NEWLINE) + 1
    if (end === 0 && bytes + piece.length > size + max_line)
      throw unusable(`The backup has a line of more than ${max_line} bytes.`)
    if (end === 0 || bytes + end < size) {
      held.push(piece)
      bytes += piece.length
      continue
    }
    yield Buffer.concat([...held, piece.subarray(0, end)])
    held = [piece.subarray(end)]
    bytes = piece.length - end
  }
  if (bytes > 0) yield Buffer.concat(held)
}

/** The lines of a piece of whole lines, as text without their ends. */
export function* linesOf(piece: Buffer): Generator<string> {
  for (let start = 0; start < piece.length; ) {
    const found = piece.indexOf(NEWLINE, start)
    const end = found === -1 ? piece.length : found
    yield piece.toString('utf8', start, end)
    start = end + 1
  }
}
