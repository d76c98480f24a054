/** A source of data that can be stopped. */
export interface Pausable {
  pause(): unknown
  resume(): unknown
}

/** Pauses a stream for several reasons; it is read while there is none. */
export interface Pauses {
  set(reason: string, isPaused: boolean): void
}

/** Creates the pauses of a stream; nothing else may pause or resume it. */
export function createPauses(stream: Pausable): Pauses {
  const reasons = new Set<string>()
  return {
    set(reason, isPaused) {
      if (isPaused) reasons.add(reason)
      else if (!reasons.delete(reason)) return
      if (reasons.size > 0) stream.pause()
      else stream.resume()
    },
  }
}
