import { hash } from 'node:crypto'

export interface CutPiece {
  /** 132 bits of the SHA-256 of its bytes, as 22 characters: the first of a text, the last of other bytes. */
  hash: string
  bytes: Uint8Array
}

/** Sizes of pieces in bytes; the average is 48 KiB. */
const MIN_BYTES = 16 << 10
const MAX_BYTES = 256 << 10
/** A piece may end after 32 bytes whose rolling hash has so many zero bits at its start. */
const END_BITS = 15
/** Number of bytes that the rolling hash covers. */
const WINDOW = 32
export const HASH_CHARS = 22

/** A pseudo-random number for each byte. Other numbers would cut stored texts anew, so they never change. */
function byteNumbers(): Int32Array {
  const numbers = new Int32Array(256)
  let last = 1
  for (let byte = 0; byte < 256; byte++) {
    last = (Math.imul(last, 1664525) + 1013904223) | 0
    numbers[byte] = last ^ (last >>> 15)
  }
  return numbers
}

const NUMBERS = byteNumbers()

/** The end of the piece that starts at `start`. It depends on nearby bytes only, so equal parts of texts get equal pieces. */
function endOfPiece(bytes: Uint8Array, start: number): number {
  const end = Math.min(bytes.length, start + MAX_BYTES)
  let rolling = 0
  for (let at = start + MIN_BYTES - WINDOW; at < end; at++) {
    rolling = ((rolling << 1) + (NUMBERS[bytes[at] ?? 0] ?? 0)) | 0
    if (rolling >>> (32 - END_BITS) === 0 && at >= start + MIN_BYTES) return at
  }
  return end
}

function isInsideCharacter(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

/** Cuts bytes into pieces; with `isText`, only between characters of UTF-8. */
export function cutBytes(bytes: Uint8Array, isText: boolean): CutPiece[] {
  const pieces: CutPiece[] = []
  for (let start = 0; start < bytes.length || pieces.length === 0; ) {
    let end = endOfPiece(bytes, start)
    while (isText && isInsideCharacter(bytes[end])) end++
    const piece = bytes.subarray(start, end)
    // A text and other bytes may be the same bytes, but are stored in different forms.
    const digest = hash('sha256', piece, 'base64url')
    pieces.push({ hash: isText ? digest.slice(0, HASH_CHARS) : digest.slice(-HASH_CHARS), bytes: piece })
    start = end
  }
  return pieces
}
