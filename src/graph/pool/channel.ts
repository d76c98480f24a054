import type { Duplex } from 'node:stream'
import { parseExact } from '../../schema/exact-json.ts'
import type { JsonObject } from '../../schema/json.ts'
import { toJsonText } from '../../schema/raw-json.ts'

/** One message between the server and a graph host: a head that is parsed, and parts that are passed on unparsed. */
export interface Frame<Head> {
  head: Head
  parts: Buffer[]
}

/** One end of the channel. */
export interface Channel<Out> {
  /** Sends a frame; frames keep their order. Texts are sent as UTF-8. Does nothing after the stream has ended. */
  send(head: Out, parts?: readonly (string | Uint8Array)[]): void
  /** Bytes that the process at the other end has not read yet. */
  readonly waiting: number
  /**
   * Undefined, or a promise while more than MAX_WAITING bytes wait; it resolves when the other process has read them,
   * or has ended.
   */
  caughtUp(): Promise<void> | undefined
}

/** Maximum bytes of a frame. A larger frame is a fault of the process that sent it. */
const MAX_FRAME = 1 << 30
/** If more than this number of bytes wait, a process should send no more. */
const MAX_WAITING = 16 << 20

/**
 * Sends and receives frames over a stream. A frame consists of 4 bytes with the length of the rest, 4 bytes with the
 * length of the head, the head as JSON with the `sizes` of the parts, and the parts. `onFrame` is called in order. An
 * invalid frame, or one with more than `maxBytes`, ends the stream.
 */
export function openChannel<In extends object, Out extends object>(
  stream: Duplex,
  onFrame: (frame: Frame<In>) => void,
  maxBytes: () => number = () => MAX_FRAME,
): Channel<Out> {
  const read = createFrameReader(onFrame, maxBytes)
  stream.on('data', (chunk: Buffer) => {
    try {
      read(chunk)
    } catch (error) {
      stream.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  })
  stream.on('error', () => undefined)
  let drain: Promise<void> | undefined
  return {
    send(head, parts = []) {
      if (stream.writable) stream.write(encodeFrame(head, parts))
    },
    get waiting() {
      return stream.writableLength
    },
    caughtUp() {
      if (stream.writableLength <= MAX_WAITING || !stream.writable) return undefined
      // All runs of a host that wait share one promise, since Node warns of more than ten listeners.
      return (drain ??= drained(stream).finally(() => (drain = undefined)))
    },
  }
}

function drained(stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done)
      stream.off('close', done)
      resolve()
    }
    stream.on('drain', done)
    stream.on('close', done)
  })
}

/** Encodes a frame as bytes, for callers that must write it synchronously. */
export function encodeFrame(head: object, parts: readonly (string | Uint8Array)[] = []): Buffer {
  const sizes = parts.map((part) => (typeof part === 'string' ? Buffer.byteLength(part) : part.byteLength))
  const headText = toJsonText(sizes.length === 0 ? head : { ...head, sizes })
  const headSize = Buffer.byteLength(headText)
  const total = 4 + headSize + sizes.reduce((sum, size) => sum + size, 0)
  const frame = Buffer.allocUnsafe(4 + total)
  frame.writeUInt32LE(total, 0)
  frame.writeUInt32LE(headSize, 4)
  frame.write(headText, 8)
  let at = 8 + headSize
  parts.forEach((part, index) => {
    if (typeof part === 'string') frame.write(part, at)
    else frame.set(part, at)
    at += sizes[index] ?? 0
  })
  return frame
}

function createFrameReader<In extends object>(
  onFrame: (frame: Frame<In>) => void,
  maxBytes: () => number,
): (chunk: Buffer) => void {
  let held: Buffer[] = []
  let heldBytes = 0
  let wanted = 4
  return (chunk) => {
    held.push(chunk)
    heldBytes += chunk.length
    while (heldBytes >= wanted) {
      const bytes = held.length === 1 && held[0] !== undefined ? held[0] : Buffer.concat(held)
      const length = bytes.readUInt32LE(0)
      if (length < 4 || length > maxBytes()) throw new Error('A frame of the graph host channel is broken.')
      wanted = 4 + length
      if (bytes.length < wanted) {
        held = [bytes]
        return
      }
      const frame = decodeFrame<In>(bytes.subarray(4, wanted))
      const rest = bytes.subarray(wanted)
      held = rest.length === 0 ? [] : [rest]
      heldBytes = rest.length
      wanted = 4
      onFrame(frame)
    }
  }
}

function decodeFrame<In extends object>(bytes: Buffer): Frame<In> {
  const headEnd = 4 + bytes.readUInt32LE(0)
  const head = parseExact(bytes.toString('utf8', 4, headEnd)) as In & JsonObject
  const parts: Buffer[] = []
  let at = headEnd
  for (const size of Array.isArray(head['sizes']) ? head['sizes'] : []) {
    parts.push(bytes.subarray(at, at + Number(size)))
    at += Number(size)
  }
  return { head, parts }
}
