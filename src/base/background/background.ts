import { aborted, pause } from '../pause.ts'

/**
 * Runs `work`, which must not reject, in the background once `ready` resolves. Returns a function that aborts the
 * signal of `work` and waits for its end.
 */
export function startWhenReady(
  ready: Promise<void>,
  work: (signal: AbortSignal) => Promise<void>,
): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  const working = Promise.race([ready, aborted(signal)]).then(() =>
    signal.aborted ? undefined : work(signal),
  )
  return async () => {
    stopping.abort()
    await working
  }
}

/** Work that is repeated at intervals, and after `wake`, until it is stopped. */
export interface Turns {
  /** Aborts when the turns are stopped. */
  signal: AbortSignal
  /** Begins the next turn now, or directly after the running turn. */
  wake(): void
  /** Stops; waits for the end of the running turn. */
  stop(): Promise<void>
}

/**
 * Calls `turn` repeatedly once `ready` resolves. `turn` must not reject; it returns the milliseconds until the next
 * turn, or undefined if only `wake` begins the next turn.
 */
export function startTurns(ready: Promise<void>, turn: () => Promise<number | undefined>): Turns {
  const stopping = new AbortController()
  const { signal } = stopping
  let woken = Promise.withResolvers<void>()
  const stop = startWhenReady(ready, async () => {
    while (!signal.aborted) {
      woken = Promise.withResolvers()
      const ms = await turn()
      await (ms === undefined ? woken.promise : Promise.race([woken.promise, pause(ms, signal)]))
    }
  })
  const wake = (): void => woken.resolve()
  return {
    signal,
    wake,
    stop() {
      stopping.abort()
      wake()
      return stop()
    },
  }
}
