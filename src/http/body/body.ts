import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Principal } from '../../identity/principal.ts'
import { AppError } from '../../base/errors.ts'
import type { BodyAdmission, Reservation } from './admission.ts'
import { createBodyPieces } from './pieces.ts'

/**
 * The limits of a request body: its size (the setting INGEST_MAX_BODY_BYTES for ingest routes, fixed for each other
 * route), and the rate at which it must arrive.
 */
export interface BodyLimits {
  /** Maximum size, in bytes, as sent. */
  max_body_bytes: number
  /** Interval in which the rate of an incomplete body is measured. */
  body_window_ms: number
  /** Minimum average rate in each interval. */
  min_body_bytes_per_second: number
}

/** Source of a body, and the caller whose share of memory it uses. */
export interface BodySource {
  req: Readable & { headers?: Pick<IncomingHttpHeaders, 'content-length'> }
  principal: Pick<Principal, 'holder'> | undefined
  /** Number of leading bytes that are separated from the body. */
  prefix_bytes?: number
}

export interface CollectedBody {
  prefix: Buffer
  /** Owns its ArrayBuffer, so that it can be handed to a thread without a copy. */
  bytes: Uint8Array<ArrayBuffer>
  /** Whether the connection broke before the announced end. */
  aborted: boolean
}

/** Length that the request announces; undefined for a chunked body. */
export function announcedLength(req: BodySource['req']): number | undefined {
  const header = req.headers?.['content-length']
  return header === undefined ? undefined : Number(header)
}

/** The error for a body above the limit. Clients should not repeat the request. */
function tooLarge(max_bytes: number): AppError {
  return new AppError('body_too_large', {
    message: `The body is larger than the limit of ${max_bytes} bytes.`,
  })
}

/**
 * Calls `tooSlow` when fewer bytes than the minimum arrived in an interval. Returns a function that stops the
 * measuring.
 */
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
  // After a blocked event loop, waiting bytes are read first and then counted.
  const timer = setTimeout(() => setImmediate(look), body_window_ms)
  return () => {
    ended = true
    clearTimeout(timer)
  }
}

/**
 * Reads the whole body. Memory is reserved from `admission` as bytes arrive; the caller releases it.
 * @throws AppError body_too_large, overloaded, body_too_slow: nothing is reserved then, and the rest of the body is unread
 */
function collectBody(
  { req, principal, prefix_bytes = 0 }: BodySource,
  admission: BodyAdmission,
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
      const joined = pieces.joined(prefix_bytes)
      joined.then((pair) => resolve({ body: { ...pair, aborted }, reservation }), reject)
    }
    const onData = (chunk: Buffer): void => {
      length += chunk.length
      if (length - prefix_bytes > limits.max_body_bytes) return fail(tooLarge(limits.max_body_bytes))
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
    // A broken connection also causes an error event of the request. The `close` event after it is enough.
    req.on('error', () => undefined)
    if (req.destroyed && !req.readableEnded) onClose()
  })
}

/**
 * Reserves memory for what a body was decoded to: `bytes` in all, which take the place of the body. Returns false, and
 * reserves nothing, if the memory is used up.
 */
export type HoldDecoded = (bytes: number) => boolean

/** Reads the body of a request and passes it to `use`; its memory is released when `use` ends. */
export async function withBody<T>(
  source: BodySource,
  admission: BodyAdmission,
  limits: BodyLimits,
  use: (body: CollectedBody, hold: HoldDecoded) => Promise<T>,
): Promise<T> {
  const max_body_bytes = Math.min(limits.max_body_bytes, admission.max_holder_bytes)
  if ((announcedLength(source.req) ?? 0) > max_body_bytes) throw tooLarge(max_body_bytes)
  const { body, reservation } = await collectBody(source, admission, { ...limits, max_body_bytes })
  let held = body.prefix.length + body.bytes.length
  const hold: HoldDecoded = (bytes) => {
    if (bytes > held && !reservation.grow(bytes - held)) return false
    held = Math.max(held, bytes)
    return true
  }
  try {
    return await use(body, hold)
  } finally {
    reservation.release()
  }
}

/** Reads and drops an unneeded body; resolves at its end, or when it is cut off as in `dropRest`. */
export async function dropBody(req: IncomingMessage): Promise<void> {
  if (req.readableEnded || req.destroyed) return
  const ended = new Promise<void>((resolve) => req.once('end', resolve).once('close', resolve))
  dropRest(req)
  req.resume()
  await ended
}

const DRAIN_BYTES = 64 * 1024 * 1024
const DRAIN_MS = 10_000

/**
 * Reads and drops the rest of a request after an early refusal, so that the client receives the response. Otherwise it
 * would receive a reset, after which clients retry five to twelve times. If the client does not stop sending within
 * `drain_ms`, the connection is cut.
 */
export function dropRest(req: IncomingMessage, drain_ms = DRAIN_MS): void {
  if (req.complete || req.destroyed) return
  let dropped = 0
  const cut = (): void => void req.socket.destroy()
  const deadline = setTimeout(cut, drain_ms)
  deadline.unref()
  req.on('data', (chunk: Buffer) => {
    dropped += chunk.length
    if (dropped > DRAIN_BYTES) cut()
  })
  req.on('error', () => undefined)
  req.on('close', () => clearTimeout(deadline))
  req.resume()
}
