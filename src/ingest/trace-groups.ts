/** The caller under whom a trace is stored and counted. */
export interface TraceOrigin {
  workspace_id: string
  user_id: string | null
  api_key_id: string
}

/** The run that a body is about. */
export interface TracedRun {
  deployment_id: string
  run_id: string
}

/** Bounds of a request of several bodies. */
const MAX_TOGETHER = 64
const MAX_TOGETHER_BYTES = 1 << 20

interface Waiting {
  body: Uint8Array
  run_id: string
}

/** Removes the first bodies that may be stored together from the list, and returns them: no two of the same run. */
function takeSome(waiting: Waiting[]): Uint8Array[] {
  const runs = new Set<string>()
  let bytes = 0
  for (const { body, run_id } of waiting) {
    bytes += body.byteLength
    const fits = bytes <= MAX_TOGETHER_BYTES && runs.size < MAX_TOGETHER && !runs.has(run_id)
    if (runs.size > 0 && !fits) break
    runs.add(run_id)
  }
  return waiting.splice(0, runs.size).map(({ body }) => body)
}

/** Gathers bodies of a deployment and caller that arrive while an earlier one is being stored. */
export interface TraceGroups {
  /** Resolves when the body is stored, or at once if it waits for an earlier call, which resolves later. */
  add(origin: TraceOrigin, body: Uint8Array, of: TracedRun): Promise<void>
}

/** `store` stores bodies together; it never rejects. */
export function createTraceGroups(
  store: (origin: TraceOrigin, bodies: readonly Uint8Array[]) => Promise<void>,
): TraceGroups {
  const waiting = new Map<string, Waiting[]>()
  return {
    async add(origin, body, { deployment_id, run_id }) {
      const key = JSON.stringify([deployment_id, origin.workspace_id, origin.user_id, origin.api_key_id])
      const one = { body, run_id }
      const earlier = waiting.get(key)
      if (earlier !== undefined) {
        earlier.push(one)
        return
      }
      const list = [one]
      waiting.set(key, list)
      while (list.length > 0) await store(origin, takeSome(list))
      waiting.delete(key)
    },
  }
}

const [OPEN, CLOSE, COMMA] = [0x7b, 0x7d, 0x2c]

/**
 * Joins JSON objects into one that has the members of all, in order; undefined if a body does not look like an object
 * with members. The result is part of a larger buffer, so that it is not moved to another thread.
 */
export function joinBodies(bodies: readonly Uint8Array[]): Uint8Array | undefined {
  if (bodies.some((body) => body.length < 3 || body[0] !== OPEN || body.at(-1) !== CLOSE)) return undefined
  const size = bodies.reduce((sum, { length }) => sum + length - 1, 1)
  const joined = new Uint8Array(size + 1)
  let at = 0
  for (const body of bodies) {
    joined[at] = at === 0 ? OPEN : COMMA
    joined.set(body.subarray(1, -1), at + 1)
    at += body.length - 1
  }
  joined[at] = CLOSE
  return joined.subarray(0, size)
}
