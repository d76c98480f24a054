/** The parts of a body that have arrived so far. */
export interface BodyPieces {
  add(chunk: Buffer): void
  /** All of them in one piece that owns its ArrayBuffer, so that it can be handed to a thread without a copy. */
  joined(): Uint8Array<ArrayBuffer>
}

/** Chunks of at least this length are kept as they are; smaller ones are copied together. */
const PIECE_BYTES = 4096

/** Keeps chunks with little more memory than their bytes: a buffer of one byte takes some 200. */
export function createBodyPieces(): BodyPieces {
  const pieces: Buffer[] = []
  let length = 0
  /** Where small chunks go; `filled` bytes of it are used. */
  let tail: Buffer | undefined
  let filled = 0

  const closeTail = (): void => {
    if (tail !== undefined) pieces.push(filled === PIECE_BYTES ? tail : Buffer.from(tail.subarray(0, filled)))
    tail = undefined
    filled = 0
  }
  const addSmall = (chunk: Buffer): void => {
    for (let at = 0; at < chunk.length; ) {
      tail ??= Buffer.allocUnsafeSlow(PIECE_BYTES)
      const copied = chunk.copy(tail, filled, at)
      at += copied
      filled += copied
      if (filled === PIECE_BYTES) closeTail()
    }
  }

  return {
    add(chunk) {
      length += chunk.length
      // Most bodies are a single chunk.
      if (pieces.length > 0 && chunk.length < PIECE_BYTES) return addSmall(chunk)
      closeTail()
      pieces.push(chunk)
    },
    joined() {
      closeTail()
      // Not from the pool of small buffers: those share one ArrayBuffer.
      const bytes = Buffer.allocUnsafeSlow(length)
      let at = 0
      for (const piece of pieces) at += piece.copy(bytes, at)
      return bytes
    },
  }
}
