/** The memory of one request body; must be released exactly once. */
export interface Reservation {
  /** Reserves `bytes` more. Returns false, and reserves nothing, if the memory is used up or the body was cancelled. */
  grow(bytes: number): boolean
  /** Must be called when the body is complete, after which it can no longer be cancelled. */
  complete(): void
  release(): void
}

/** Limits the memory of all request bodies together, and shares it between callers. */
export interface BodyAdmission {
  /**
   * Opens an empty reservation for a body of `holder`. `cut` is called at most once, when the incomplete body was
   * cancelled to free memory for a holder that uses less.
   */
  open(holder: string, cut: () => void): Reservation
  inFlightBytes(): number
  /** Limit per holder, and so per body. */
  readonly max_holder_bytes: number
}

/** Share of the memory that a single holder cannot use. */
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

/** The largest incomplete body of the holder with the most memory, if that is more than `bytes`. */
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
 * Creates an admission over `max_bytes`. While memory is free, every body may grow. When it runs out, the largest
 * incomplete body of the holder that uses most memory is cancelled, so that a holder that uses less may grow.
 */
export function createAdmission(max_bytes: number): BodyAdmission {
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
    // A new holder of this name may be in the map by now.
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
