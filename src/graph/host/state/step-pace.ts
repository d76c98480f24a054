/** Time for which steps may follow each other without a turn of the event loop. */
const MAX_TURN_MS = 10

/** Receives what a run writes. */
export interface Receiver {
  /** While too much waits to be received: a promise that resolves when it is received. */
  caughtUp(): Promise<void> | undefined
}

/**
 * Gives a promise of the next turn of the event loop, when the loop has not turned for too long since the first call
 * after its last turn. All runs of a process share one, because they share the loop.
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
