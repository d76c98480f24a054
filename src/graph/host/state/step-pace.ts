/** Time after which a run waits for the event loop before its next step. */
const MAX_TURN_MS = 10

/** Receives what a run writes. */
export interface Receiver {
  /** While too much waits to be received: a promise that resolves when it is received. */
  caughtUp(): Promise<void> | undefined
}

/**
 * A receiver that stands for the event loop: it is behind when callbacks of the loop have waited for more than
 * MAX_TURN_MS, and has caught up when they have run. One for all runs of a process, because they share its loop.
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
 * A function that a run waits for after each step. Nodes that wait for nothing would otherwise keep their process from its
 * other runs, a cancel and its timers until the run ends, and all that the run writes would be in memory.
 */
export function createStepPace(receivers: readonly Receiver[]): () => Promise<void> {
  return async () => {
    for (const receiver of receivers) await receiver.caughtUp()
  }
}
