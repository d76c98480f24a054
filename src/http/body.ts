import type { IncomingMessage } from 'node:http'
import { AppError } from '../base/errors.ts'
import type { Reservation } from './admission.ts'

/** What a body may be and how long its sender may be silent. */
export interface BodyLimits {
  max_bytes: number
  idle_ms: number
}

/** A body as it arrived. */
export interface CollectedBody {
  /** Owns its ArrayBuffer, so that it can be handed to a thread without a copy. */
  bytes: Uint8Array<ArrayBuffer>
  /** The connection broke before the announced end. */
  aborted: boolean
}

/** Length that the request announces; undefined for a chunked body. */
export function announcedLength(req: IncomingMessage): number | undefined {
  const header = req.headers['content-length']
  return header === undefined ? undefined : Number(header)
}

/** A body larger than the limit cannot be sent again with success, whatever the load is. */
export function tooLarge(max_bytes: number): AppError {
  return new AppError('body_too_large', {
    message: `The body is larger than the limit of ${max_bytes} bytes.`,
  })
}

function joined(chunks: readonly Buffer[], length: number): Uint8Array<ArrayBuffer> {
  // Not from the pool of small buffers: those share one ArrayBuffer.
  const bytes = Buffer.allocUnsafeSlow(length)
  let at = 0
  for (const chunk of chunks) at += chunk.copy(bytes, at)
  return bytes
}

/**
 * Reads the whole body. Memory beyond `reserved` bytes is asked from `reservation` as it arrives.
 * @throws AppError body_too_large, overloaded, body_too_slow; the rest of the body is then still to come
 */
export function collectBody(
  req: IncomingMessage,
  limits: BodyLimits,
  reservation: Reservation,
  reserved: number,
): Promise<CollectedBody> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const settle = (finish: () => void): void => {
      clearTimeout(idle)
      req.off('data', onData).off('end', onEnd).off('close', onClose)
      finish()
    }
    const fail = (error: AppError): void => settle(() => reject(error))
    const onData = (chunk: Buffer): void => {
      idle.refresh()
      length += chunk.length
      if (length > limits.max_bytes) return fail(tooLarge(limits.max_bytes))
      const beyond = Math.min(chunk.length, length - reserved)
      if (beyond > 0 && !reservation.grow(beyond)) return fail(new AppError('overloaded'))
      chunks.push(chunk)
    }
    const onEnd = (): void => settle(() => resolve({ bytes: joined(chunks, length), aborted: false }))
    const onClose = (): void => settle(() => resolve({ bytes: joined(chunks, length), aborted: true }))
    const idle = setTimeout(() => fail(new AppError('body_too_slow')), limits.idle_ms)
    req.on('data', onData).on('end', onEnd).on('close', onClose)
    // A broken connection also shows as an error of the request; `close` follows and tells the same.
    req.on('error', () => undefined)
    if (req.destroyed && !req.readableEnded) onClose()
  })
}

const DRAIN_BYTES = 64 * 1024 * 1024
const DRAIN_MS = 10_000

/**
 * After an early refusal: reads and drops what the client is still sending, so that it gets to the answer
 * instead of a reset (which clients retry five to twelve times, contract §1.6). A client that goes on and on
 * is cut off.
 */
export function dropRest(req: IncomingMessage): void {
  if (req.complete || req.destroyed) return
  let dropped = 0
  const cut = (): void => void req.socket.destroy()
  const deadline = setTimeout(cut, DRAIN_MS)
  deadline.unref()
  req.on('data', (chunk: Buffer) => {
    dropped += chunk.length
    if (dropped > DRAIN_BYTES) cut()
  })
  req.on('error', () => undefined)
  req.on('close', () => clearTimeout(deadline))
  req.resume()
}
