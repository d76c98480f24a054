import { BaseCallbackHandler } from '@langchain/core/callbacks/base'

/** If callbacks of the event loop have waited for this time, a run lets them run before its next step. */
const MAX_TURN_MS = 10

/** Receives what a run writes. */
export interface Receiver {
  /** Undefined, or a promise while the receiver is too far behind; it resolves when the receiver has caught up. */
  caughtUp(): Promise<void> | undefined
}

/**
 * The event loop as a receiver. It is behind if callbacks of the loop have waited for more than MAX_TURN_MS, and has
 * caught up when they have run. All runs of a process use the same one, because they share the loop.
 */
export function createTurns(): Receiver {
  let next: { since: number; turn: Promise<void> } | undefined
  return {
    caughtUp() {
      if (next !== undefined) return performance.now() - next.since > MAX_TURN_MS ? next.turn : undefined
      const turn = new Promise<void>((resolve) => {
        setImmediate(() => {
          next = undefined
          resolve()
        })
      })
      next = { since: performance.now(), turn }
      return undefined
    },
  }
}

/**
 * Returns a function that a run calls between its steps, and whose promise it awaits. Without it, a graph whose nodes
 * never wait would block the other runs, cancels and timers of its process until its end, and all its output would stay
 * in memory.
 */
export function createStepPace(receivers: readonly Receiver[]): () => Promise<void> {
  return async () => {
    for (const receiver of receivers) await receiver.caughtUp()
  }
}

/**
 * A callback handler whose run waits for `pace` before each node. It is for runs that store nothing between steps
 * (`durability: exit`), where no checkpointer can wait.
 */
export class PaceHandler extends BaseCallbackHandler {
  readonly name = 'step_pace'
  override readonly awaitHandlers = true
  readonly #pace: () => Promise<void>

  constructor(pace: () => Promise<void>) {
    super()
    this.#pace = pace
  }

  override handleChainStart(): Promise<void> {
    return this.#pace()
  }
}
