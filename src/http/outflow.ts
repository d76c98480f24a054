import type { ServerResponse } from 'node:http'

/** Writes answers no faster than clients take them, and gives up clients that take nothing. */
export interface Outflow {
  /**
   * Resolves when the client has taken `bytes`, with true, or when it is gone, with false. `holder` is who asked: of what
   * waits to be taken everyone has a share. Bytes that many take at the same time count once.
   */
  write(holder: string, res: ServerResponse, bytes: Uint8Array): Promise<boolean>
  /** Bytes that wait for clients to take them. */
  unsentBytes(): number
}

export interface OutflowLimits {
  /** Of unsent bytes; beyond it the holder with the most loses the answer that waits longest. */
  max_bytes?: number
  /** A client that takes nothing for so long is cut. */
  idle_ms?: number
}

const MAX_UNSENT_BYTES = 256 << 20
const IDLE_MS = 60_000
/** What is written at a time: that much must be taken in `idle_ms`. */
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
  /** In order of time. */
  readonly #waiting = new Set<Unsent>()
  /** How many wait for the same bytes. */
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
      unsent.res.destroy()
      return
    }
  }
}

/** True when the client has taken what was written; false when it is gone, or took nothing for too long. */
function drained(res: ServerResponse, idle_ms: number): Promise<boolean> {
  if (res.destroyed) return Promise.resolve(false)
  if (!res.writableNeedDrain) return Promise.resolve(true)
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const settle = (taken: boolean): void => {
    clearTimeout(timer)
    res.off('drain', take)
    res.off('close', leave)
    resolve(taken)
  }
  const take = (): void => settle(true)
  const leave = (): void => settle(false)
  const timer = setTimeout(() => res.destroy(), idle_ms)
  res.once('drain', take)
  res.once('close', leave)
  return promise
}
