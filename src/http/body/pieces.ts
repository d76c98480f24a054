/** Length from which a chunk is kept unchanged; smaller chunks are copied together. */
const PIECE_BYTES = 4096

/** Bytes that are joined in one turn of the event loop. */
const TURN_BYTES = 2 << 20

/** Collects chunks and merges small ones, because a buffer of one byte takes some 200 bytes. */
export function createBodyPieces() {
  const pieces: Buffer[] = []
  let length = 0
  /** Buffer for small chunks; `filled` bytes of it are used. */
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
    add(chunk: Buffer): void {
      length += chunk.length
      // Most bodies are a single chunk.
      if (pieces.length > 0 && chunk.length < PIECE_BYTES) return addSmall(chunk)
      closeTail()
      pieces.push(chunk)
    },
    /**
     * Returns the first `prefix_bytes` bytes, and all others in one array that owns its ArrayBuffer, so that it can be
     * transferred to a thread. Yields to the event loop after every two megabytes, because the first write to new memory
     * is slow.
     */
    async joined(prefix_bytes = 0) {
      closeTail()
      const prefix = Buffer.alloc(Math.min(prefix_bytes, length))
      // Buffers of the pool share one ArrayBuffer, which cannot be transferred.
      const bytes = Buffer.allocUnsafeSlow(length - prefix.length)
      let at = 0
      let turnEnds = TURN_BYTES
      for (const piece of pieces) {
        if (at < prefix.length) piece.copy(prefix, at)
        if (at + piece.length > prefix.length)
          piece.copy(bytes, Math.max(0, at - prefix.length), Math.max(0, prefix.length - at))
        at += piece.length
        if (at < turnEnds) continue
        turnEnds = at + TURN_BYTES
        await new Promise((resume) => setImmediate(resume))
      }
      return { prefix, bytes }
    },
  }
}
