import type { Duplex } from 'node:stream'
import { BrokenFrameError, type FrameBounds, splitFrames } from '../../base/streams/bounded-frames.ts'
import { createPauses, type Pauses } from '../../base/streams/pauses.ts'
import { shareOfTime } from '../../base/streams/share-of-time.ts'
import { isDeeperThan } from '../../base/text/json-depth.ts'
import { parseExact } from '../../schema/exact-json.ts'
import { isObject, type JsonObject } from '../../schema/json.ts'
import { LARGE_JSON_CHARS, toJsonText } from '../../schema/raw-json.ts'

/** One message between the server and a graph host: a head that is parsed, and parts that are passed on unparsed. */
export interface Frame<Head> {
  head: Head
  parts: Buffer[]
}

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
  /** Stops reading, or goes on. */
  hold(isHeld: boolean): void
}

/** Bounds of frames from the server itself, which sends whole inputs of runs in heads. */
const FROM_SERVER: FrameBounds = { max_bytes: 1 << 30, max_head_bytes: 1 << 30 }
/** Bounds of frames from a process that runs code of a deployment; the server parses heads on its main thread. */
export const FROM_HOST: FrameBounds = { max_bytes: 256 << 20, max_head_bytes: LARGE_JSON_CHARS }
/** Maximum number of parts of a frame. */
const MAX_PARTS = 1 << 16
/** Maximum nesting of a head. */
const MAX_DEPTH = 1_000
/** The part of the thread's time that the frames of one process may take. */
const SHARE = 1 / 3
/** If more than this number of bytes wait, a process should send no more. */
const MAX_WAITING = 16 << 20

/** A process that runs code of a deployment, and may send anything. */
export interface UntrustedSender {
  boundsOf(): FrameBounds
  /** Called once when the channel was ended because of what the process has sent; `reason` is a clause about a frame. */
  broken(reason: string): void
}

/**
 * Sends and receives frames over a stream. A frame consists of 4 bytes with the length of the rest, 4 bytes with the
 * length of the head, the head as JSON with the `sizes` of the parts, and the parts. `onFrame` is called in order. A
 * frame that is invalid or above its bounds, or for which `onFrame` throws, ends the stream. Frames of an untrusted
 * sender take at most their share of the thread.
 */
export function openChannel<In extends object, Out extends object>(
  stream: Duplex,
  onFrame: (frame: Frame<In>) => void,
  sender?: UntrustedSender,
): Channel<Out> {
  const isDeep = (json: Buffer): boolean => sender !== undefined && isDeeperThan(MAX_DEPTH, json)
  const read = splitFrames(sender?.boundsOf ?? (() => FROM_SERVER), (head, rest) => {
    if (!stream.destroyed) onFrame(decodeFrame<In>(head, rest, isDeep))
  })
  const pauses = createPauses(stream)
  const handle = sender === undefined ? read : withinShare(pauses, read)
  stream.on('data', (chunk: Buffer) => {
    if (stream.destroyed) return
    try {
      handle(chunk)
    } catch (error) {
      stream.destroy()
      sender?.broken(error instanceof BrokenFrameError ? error.message : 'it has a field that is not valid')
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
    hold: (isHeld) => pauses.set('held', isHeld),
    caughtUp() {
      if (stream.writableLength <= MAX_WAITING || !stream.writable) return undefined
      // All runs of a host that wait share one promise, since Node warns of more than ten listeners.
      return (drain ??= drained(stream).finally(() => (drain = undefined)))
    },
  }
}

function withinShare(pauses: Pauses, read: (chunk: Buffer) => void): (chunk: Buffer) => void {
  const spend = shareOfTime(pauses, SHARE)
  return (chunk) => void spend(() => read(chunk))
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

function decodeFrame<In extends object>(
  headBytes: Buffer,
  rest: Buffer,
  isDeep: (json: Buffer) => boolean,
): Frame<In> {
  if (isDeep(headBytes)) throw new BrokenFrameError('its head is nested too deep')
  const head = parseHead(headBytes)
  const { sizes = [] } = head
  if (!Array.isArray(sizes) || sizes.length > MAX_PARTS || !sizes.every(isSize))
    throw new BrokenFrameError('the sizes of its parts are not valid')
  const parts: Buffer[] = []
  let at = 0
  for (const size of sizes) {
    parts.push(rest.subarray(at, at + size))
    at += size
  }
  if (at !== rest.length) throw new BrokenFrameError('its parts have not the size that its head says')
  return { head: head as In & JsonObject, parts }
}

function parseHead(bytes: Buffer): JsonObject {
  let head: unknown
  try {
    head = parseExact(bytes.toString())
  } catch {
    throw new BrokenFrameError('its head is not JSON')
  }
  if (!isObject(head)) throw new BrokenFrameError('its head is not a JSON object')
  return head
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
