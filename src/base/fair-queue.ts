import { AppError } from './errors.ts'

export interface FairQueueLimits {
  /** Maximum number of admitted entries of all keys. */
  at_once: number
  /** Maximum number of admitted entries per key. */
  at_once_per_key: number
  /** Maximum number of waiting entries per key; further ones are refused. */
  waiting_per_key: number
}

/** Limits expensive work. Keys are admitted in turn, so that one busy key does not delay the others much. */
export interface FairQueue {
  /**
   * Resolves when a place is free, with the function that releases it.
   * @throws AppError rate_limited when the key has too many entries waiting; the reason of `gone` when it aborts first
   */
  enter(key: string, gone?: AbortSignal): Promise<() => void>
}

interface Line {
  taken: number
  waiting: (() => void)[]
}

export function createFairQueue(limits: FairQueueLimits): FairQueue {
  return new TurnQueue(limits)
}

class TurnQueue implements FairQueue {
  readonly #limits: FairQueueLimits
  /** Entries by key, in order of the last admission of the key, the oldest first. */
  readonly #lines = new Map<string, Line>()
  #taken = 0

  constructor(limits: FairQueueLimits) {
    this.#limits = limits
  }

  async enter(key: string, gone?: AbortSignal): Promise<() => void> {
    gone?.throwIfAborted()
    const line = this.#lines.get(key) ?? { taken: 0, waiting: [] }
    if (line.waiting.length >= this.#limits.waiting_per_key) throw new AppError('rate_limited')
    this.#lines.set(key, line)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = (): void => {
      const at = line.waiting.indexOf(resolve)
      if (at < 0) return
      line.waiting.splice(at, 1)
      this.#forget(key, line)
      reject(gone?.reason)
    }
    line.waiting.push(resolve)
    gone?.addEventListener('abort', giveUp, { once: true })
    this.#serve()
    await promise.finally(() => gone?.removeEventListener('abort', giveUp))
    return this.#givingBack(key, line)
  }

  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const [key, line] = next
      this.#lines.delete(key)
      this.#lines.set(key, line)
      this.#taken++
      line.taken++
      line.waiting.shift()?.()
    }
  }

  /** The key with the oldest last admission among those below their limit. */
  #next(): [string, Line] | undefined {
    if (this.#taken >= this.#limits.at_once) return undefined
    for (const [key, line] of this.#lines) {
      if (line.taken < this.#limits.at_once_per_key && line.waiting.length > 0) return [key, line]
    }
    return undefined
  }

  #givingBack(key: string, line: Line): () => void {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#taken--
      line.taken--
      this.#serve()
      this.#forget(key, line)
    }
  }

  #forget(key: string, line: Line): void {
    if (line.taken === 0 && line.waiting.length === 0) this.#lines.delete(key)
  }
}
