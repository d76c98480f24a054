import type { TaskReply } from './serve-tasks.ts'

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

/** Transfers a result's buffers to the caller instead of copying them. */
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
