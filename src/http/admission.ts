/** The memory that the body of one request takes; give it back exactly once. */
export interface Reservation {
  /** Takes `bytes` more; false (and nothing taken) when there are none to be had, or when the body was cut. */
  grow(bytes: number): boolean
  /** All of the body is here: its memory is no longer taken away for others. */
  complete(): void
  release(): void
}

/** Keeps the bodies that are in memory at one time below a limit, and shares that memory between callers. */
export interface Admission {
  /**
   * A reservation for a body of `holder`, of no bytes yet. `cut` is called at most once: when the memory of this body,
   * which is still arriving, was taken away for a holder that has less.
   */
  open(holder: string, cut: () => void): Reservation
  inFlightBytes(): number
  /** The most that one holder may have, and so the most that one body may have. */
  readonly max_holder_bytes: number
}

/** This part of the memory never goes to a holder that has all the rest. */
const KEPT_FOR_OTHERS = 1 / 8

interface Holder {
  name: string
  held: number
  arriving: Set<Body>
}

interface Body {
  holder: Holder
  held: number
  isCut: boolean
  cut(): void
}

function largest(bodies: Iterable<Body>): Body | undefined {
  let found: Body | undefined
  for (const body of bodies) if (body.held > (found?.held ?? 0)) found = body
  return found
}

/** The largest arriving body of the holder that has the most, if that is more than `bytes`. */
function findBodyToCut(holders: Iterable<Holder>, bytes: number): Body | undefined {
  let most = bytes
  let found: Body | undefined
  for (const { held, arriving } of holders) {
    if (held <= most) continue
    const body = largest(arriving)
    if (body === undefined) continue
    most = held
    found = body
  }
  return found
}

/**
 * An admission over `max_bytes`, all of them free. While there is memory everyone takes what arrives. When it runs out,
 * the holder that has the most loses the largest body that it is still sending to a holder that has less.
 */
export function createAdmission(max_bytes: number): Admission {
  const max_holder_bytes = max_bytes - Math.floor(max_bytes * KEPT_FOR_OTHERS)
  const holders = new Map<string, Holder>()
  let used = 0

  const free = (body: Body): void => {
    const { holder } = body
    used -= body.held
    holder.held -= body.held
    body.held = 0
    holder.arriving.delete(body)
    const isGone = holder.held === 0 && holder.arriving.size === 0
    // Meanwhile the name may have a new holder.
    if (isGone && holders.get(holder.name) === holder) holders.delete(holder.name)
  }
  const grow = (body: Body, bytes: number): boolean => {
    const { holder } = body
    const wanted = holder.held + bytes
    if (body.isCut || wanted > max_holder_bytes) return false
    while (used + bytes > max_bytes) {
      const other = findBodyToCut(holders.values(), wanted)
      if (other === undefined) return false
      other.isCut = true
      free(other)
      other.cut()
    }
    used += bytes
    body.held += bytes
    holder.held += bytes
    return true
  }

  return {
    max_holder_bytes,
    inFlightBytes: () => used,
    open(name, cut) {
      const holder = holders.get(name) ?? { name, held: 0, arriving: new Set() }
      const body: Body = { holder, held: 0, isCut: false, cut }
      holders.set(name, holder)
      holder.arriving.add(body)
      return {
        grow: (bytes) => grow(body, bytes),
        complete: () => void holder.arriving.delete(body),
        release: () => free(body),
      }
    },
  }
}
