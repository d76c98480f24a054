import type { ServerResponse } from 'node:http'

/** Writes responses as fast as clients read them, and disconnects clients that read nothing. */
export interface Outflow {
  /**
   * Writes `bytes`. Resolves with true when the client has received them, with false when its connection has closed.
   * Unsent bytes are limited fairly between holders. An array that several clients receive at the same time counts
   * once.
   */
  write(holder: string, res: ServerResponse, bytes: Uint8Array): Promise<boolean>
  /** Bytes that clients have not received yet. */
  unsentBytes(): number
}

export interface OutflowLimits {
  /** Maximum number of unsent bytes; above it the oldest response of the holder with most unsent bytes is dropped. */
  max_bytes?: number
  /** Time without reading after which a client is disconnected. */
  idle_ms?: number
}

const MAX_UNSENT_BYTES = 256 << 20
const IDLE_MS = 60_000
/** Bytes per write, which a client must receive within `idle_ms`. */
export const SLICE_BYTES = 256 << 10

interface Unsent {
  holder: string
  res: ServerResponse
  bytes: Uint8Array
}

export function createOutflow(limits: OutflowLimits = {}): Outflow {
  return new SharedOutflow(limits)
}

class SharedOutflow implements Outflow {
  readonly #max: number
  readonly #idleMs: number
  /** Oldest first. */
  readonly #waiting = new Set<Unsent>()
  /** Number of clients that wait for the same array. */
  readonly #shared = new Map<Uint8Array, number>()
  #total = 0

  constructor({ max_bytes = MAX_UNSENT_BYTES, idle_ms = IDLE_MS }: OutflowLimits) {
    this.#max = max_bytes
    this.#idleMs = idle_ms
  }

  unsentBytes(): number {
    return this.#total
  }

  async write(holder: string, res: ServerResponse, bytes: Uint8Array): Promise<boolean> {
    let unsent: Unsent | undefined
    try {
      for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
        if (res.destroyed) return false
        const slice = bytes.length <= SLICE_BYTES ? bytes : bytes.subarray(at, at + SLICE_BYTES)
        if (res.write(slice)) continue
        unsent ??= this.#hold({ holder, res, bytes })
        if (!(await drained(res, this.#idleMs))) return false
      }
      return !res.destroyed
    } finally {
      if (unsent !== undefined) this.#release(unsent)
    }
  }

  #hold(unsent: Unsent): Unsent {
    const { bytes } = unsent
    const others = this.#shared.get(bytes) ?? 0
    this.#shared.set(bytes, others + 1)
    if (others === 0) this.#total += bytes.length
    this.#waiting.add(unsent)
    while (this.#total > this.#max) this.#cutOne()
    return unsent
  }

  #release(unsent: Unsent): void {
    if (!this.#waiting.delete(unsent)) return
    const { bytes } = unsent
    const others = (this.#shared.get(bytes) ?? 1) - 1
    if (others > 0) this.#shared.set(bytes, others)
    else {
      this.#shared.delete(bytes)
      this.#total -= bytes.length
    }
  }

  #cutOne(): void {
    const sums = new Map<string, number>()
    for (const { holder, bytes } of this.#waiting) sums.set(holder, (sums.get(holder) ?? 0) + bytes.length)
    const most = Math.max(...sums.values())
    for (const unsent of this.#waiting) {
      if (sums.get(unsent.holder) !== most) continue
      this.#release(unsent)
      end(unsent.res)
      return
    }
  }
}

/**
 * Ends a response and its connection. The response may still wait for earlier ones in the connection, and have no
 * socket yet.
 */
function end(res: ServerResponse): void {
  res.req.socket.destroy()
}

/**
 * Resolves with true when the client has received all written bytes, with false if it disconnects or receives nothing
 * for too long. A response waits without a limit for earlier ones in its connection, because the client cannot receive
 * it before them.
 */
function drained(res: ServerResponse, idle_ms: number): Promise<boolean> {
  if (res.destroyed) return Promise.resolve(false)
  if (!res.writableNeedDrain) return Promise.resolve(true)
  const { promise, resolve } = Promise.withResolvers<boolean>()
  let timer: NodeJS.Timeout | undefined
  const settle = (taken: boolean): void => {
    clearTimeout(timer)
    res.off('socket', begin)
    res.off('drain', take)
    res.off('close', leave)
    resolve(taken)
  }
  const begin = (): void => void (timer = setTimeout(() => end(res), idle_ms))
  const take = (): void => settle(true)
  const leave = (): void => settle(false)
  if (res.socket === null) res.once('socket', begin)
  else begin()
  res.once('drain', take)
  res.once('close', leave)
  return promise
}
