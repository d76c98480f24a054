import type { IncomingMessage } from 'node:http'
import { AppError } from '../base/errors.ts'
import type { Admission, Reservation } from './admission.ts'
import { createBodyPieces } from './body-pieces.ts'
import type { Exchange } from './exchange.ts'

/** What a body may be, and how slowly its sender may send it. */
export interface BodyLimits {
  max_body_bytes: number
  /** Of a body that is not complete, in each interval of this length … */
  body_window_ms: number
  /** … so much must arrive on average. */
  min_body_bytes_per_second: number
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
function tooLarge(max_bytes: number): AppError {
  return new AppError('body_too_large', {
    message: `The body is larger than the limit of ${max_bytes} bytes.`,
  })
}

/** Calls `tooSlow` when less has arrived in an interval than must. Returns what ends the watching. */
function watchRate(limits: BodyLimits, arrived: () => number, tooSlow: () => void): () => void {
  const { body_window_ms, min_body_bytes_per_second } = limits
  const least = (body_window_ms * min_body_bytes_per_second) / 1000
  let before = 0
  let ended = false
  const look = (): void => {
    if (ended) return
    const now = arrived()
    if (now - before < least) return tooSlow()
    before = now
    timer.refresh()
  }
  // When this process was held up, what has come meanwhile is read before it is counted.
  const timer = setTimeout(() => setImmediate(look), body_window_ms)
  return () => {
    ended = true
    clearTimeout(timer)
  }
}

/**
 * Reads the whole body. Memory is taken from `admission` as the bytes arrive; the caller releases it.
 * @throws AppError body_too_large, overloaded, body_too_slow, with nothing taken; the rest of the body is then still to come
 */
function collectBody(
  { req, principal }: Exchange,
  admission: Admission,
  limits: BodyLimits,
): Promise<{ body: CollectedBody; reservation: Reservation }> {
  return new Promise((resolve, reject) => {
    const pieces = createBodyPieces()
    let length = 0
    const settle = (): void => {
      stopWatching()
      req.off('data', onData).off('end', onEnd).off('close', onClose)
    }
    const fail = (error: AppError): void => {
      settle()
      reservation.release()
      reject(error)
    }
    const succeed = (aborted: boolean): void => {
      settle()
      reservation.complete()
      resolve({ body: { bytes: pieces.joined(), aborted }, reservation })
    }
    const onData = (chunk: Buffer): void => {
      length += chunk.length
      if (length > limits.max_body_bytes) return fail(tooLarge(limits.max_body_bytes))
      if (!reservation.grow(chunk.length)) return fail(new AppError('overloaded'))
      pieces.add(chunk)
    }
    const onEnd = (): void => succeed(false)
    const onClose = (): void => succeed(true)
    const reservation = admission.open(principal?.holder ?? '', () => fail(new AppError('overloaded')))
    const stopWatching = watchRate(
      limits,
      () => length,
      () => fail(new AppError('body_too_slow')),
    )
    req.on('data', onData).on('end', onEnd).on('close', onClose)
    // A broken connection also shows as an error of the request; `close` follows and tells the same.
    req.on('error', () => undefined)
    if (req.destroyed && !req.readableEnded) onClose()
  })
}

/** Reads the body of a request and hands it to `use`; its memory is given back when `use` is done. */
export async function withBody<T>(
  exchange: Exchange,
  admission: Admission,
  limits: BodyLimits,
  use: (body: CollectedBody) => Promise<T>,
): Promise<T> {
  const max_body_bytes = Math.min(limits.max_body_bytes, admission.max_holder_bytes)
  if ((announcedLength(exchange.req) ?? 0) > max_body_bytes) throw tooLarge(max_body_bytes)
  const { body, reservation } = await collectBody(exchange, admission, { ...limits, max_body_bytes })
  try {
    return await use(body)
  } finally {
    reservation.release()
  }
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
