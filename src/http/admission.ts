/** A share of the memory for bodies; give it back exactly once. */
export interface Reservation {
  /** Takes `bytes` more; false (and nothing taken) when they do not fit. */
  grow(bytes: number): boolean
  release(): void
}

/** Keeps the bodies that are in memory at one time below a limit. */
export interface Admission {
  /** Undefined when `bytes` do not fit now. */
  reserve(bytes: number): Reservation | undefined
  inFlightBytes(): number
  readonly max_bytes: number
}

/** An admission over `max_bytes`, all of them free. */
export function createAdmission(max_bytes: number): Admission {
  let used = 0
  const take = (bytes: number): boolean => {
    if (used + bytes > max_bytes) return false
    used += bytes
    return true
  }
  return {
    max_bytes,
    inFlightBytes: () => used,
    reserve(bytes) {
      if (!take(bytes)) return undefined
      let held = bytes
      return {
        grow(more) {
          if (!take(more)) return false
          held += more
          return true
        },
        release() {
          used -= held
          held = 0
        },
      }
    },
  }
}
