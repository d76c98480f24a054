/** Below this, bytes are copied as fast as their buffer is moved. */
const MIN_BYTES = 4096

/**
 * True for bytes whose buffer may be moved to another thread. Node makes small Buffers in a pool that they share, which
 * cannot be moved; its size depends on the version of Node.
 */
export function isMovable(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  const isPooled = bytes.byteLength < Buffer.poolSize >>> 1 && bytes.byteLength !== bytes.buffer.byteLength
  return bytes.buffer instanceof ArrayBuffer && bytes.byteLength > MIN_BYTES && !isPooled
}
