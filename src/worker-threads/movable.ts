import type { TaskReply } from './serve-tasks.ts'

/** Minimum size of a transferred buffer; copying fewer bytes is as fast. */
const MIN_BYTES = 4096

/**
 * Whether the buffer of the bytes can be transferred to another thread. Small Buffers of Node share a pool, which
 * cannot be transferred, and whose size depends on the version of Node.
 */
export function isMovable(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  const isPooled = bytes.byteLength < Buffer.poolSize >>> 1 && bytes.byteLength !== bytes.buffer.byteLength
  return bytes.buffer instanceof ArrayBuffer && bytes.byteLength > MIN_BYTES && !isPooled
}

/** Makes a reply whose buffers are transferred to the caller instead of copied. */
export function moved(value: unknown): TaskReply {
  const transfer = new Set<ArrayBuffer>()
  const collect = (part: unknown): void => {
    if (part instanceof Uint8Array && isMovable(part)) transfer.add(part.buffer)
  }
  collect(value)
  // Skips arrays of bytes, whose values are numbers.
  if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) {
    for (const part of Object.values(value)) {
      collect(part)
      if (Array.isArray(part)) for (const item of part) collect((item as { bytes?: unknown } | null)?.bytes)
    }
  }
  return { value, transfer: [...transfer] }
}
