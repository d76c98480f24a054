/** Limits of frames from a process that is not trusted. */
export interface FrameBounds {
  max_bytes: number
  max_head_bytes: number
}

/** The error for bytes that are not a frame, or for a frame above its bounds. */
export class BrokenFrameError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'BrokenFrameError'
  }
}

/** Bytes of the two lengths before a head. */
const LENGTHS = 8

/**
 * Splits a stream of frames: 4 bytes with the length of the rest, 4 bytes with the length of the head, the head, and
 * what follows it. Returns a function that takes the next bytes of the stream and calls `onFrame` with each complete
 * frame, in order. `boundsOf` is asked for the bounds before any byte of a frame is collected. The returned function
 * throws a BrokenFrameError for lengths that do not fit each other or the bounds.
 */
export function splitFrames(
  boundsOf: () => FrameBounds,
  onFrame: (head: Buffer, rest: Buffer) => void,
): (chunk: Buffer) => void {
  let frame: Incomplete | undefined
  let start: Buffer = Buffer.alloc(0)
  return (chunk) => {
    for (let bytes = chunk; bytes.length > 0; ) {
      if (frame === undefined) {
        if (start.length + bytes.length < LENGTHS) {
          start = Buffer.concat([start, bytes])
          return
        }
        const lengths =
          start.length === 0 ? bytes : Buffer.concat([start, bytes.subarray(0, LENGTHS - start.length)])
        bytes = bytes.subarray(LENGTHS - start.length)
        start = Buffer.alloc(0)
        frame = begin(lengths, boundsOf())
      }
      bytes = frame.take(bytes)
      if (frame.missing > 0) return
      const { whole, head_bytes } = frame
      frame = undefined
      onFrame(whole.subarray(0, head_bytes), whole.subarray(head_bytes))
    }
  }
}

/** A frame of which some bytes have not arrived. */
interface Incomplete {
  readonly head_bytes: number
  readonly missing: number
  /** All bytes, if none is missing. */
  readonly whole: Buffer
  /** Takes the bytes of the frame, and returns those after it. */
  take(bytes: Buffer): Buffer
}

function begin(lengths: Buffer, bounds: FrameBounds): Incomplete {
  const [total, head_bytes] = [lengths.readUInt32LE(0), lengths.readUInt32LE(4)]
  const size = total - 4
  if (size < head_bytes) throw new BrokenFrameError('it is no frame')
  if (total > bounds.max_bytes) throw above('it', total, bounds.max_bytes)
  if (head_bytes > bounds.max_head_bytes) throw above('its head', head_bytes, bounds.max_head_bytes)
  let whole: Buffer = Buffer.alloc(0)
  let missing = size
  return {
    head_bytes,
    get missing() {
      return missing
    },
    get whole() {
      return whole
    },
    take(bytes) {
      const own = bytes.subarray(0, missing)
      // Most frames arrive in one piece, which is not copied.
      if (own.length === size) whole = own
      else {
        if (missing === size) whole = Buffer.allocUnsafeSlow(size)
        whole.set(own, size - missing)
      }
      missing -= own.length
      return bytes.subarray(own.length)
    },
  }
}

function above(what: string, bytes: number, max_bytes: number): BrokenFrameError {
  return new BrokenFrameError(`${what} has ${bytes} bytes, and ${max_bytes} are allowed`)
}
