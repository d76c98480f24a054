import type { Caller } from './model.ts'
import type { StreamStart } from './streams.ts'

/**
 * Where runs are, or were, that a caller has a stream of. A stateless run goes away at its end, and one that is rolled back
 * too; a client whose connection broke just then comes back for the rest of its events.
 */
export interface RunPlaces {
  note(run: string, caller: Caller, thread_id: string): void
  /** The thread of a run that this caller had a stream of. */
  find(run: string, caller: Caller): string | undefined
  /** The stream that a caller made a run with has broken off before anything was sent; it had begun there. */
  breakOff(run: string, caller: Caller, begin: StreamStart): void
  /** Once after such a break: where the caller, which has no id to go on from, begins; undefined for anybody else. */
  takeUp(run: string, caller: Caller): StreamStart | undefined
}

interface Place {
  thread_id: string
  broken: StreamStart | undefined
}

/** The latest are kept. */
const MAX_PLACES = 10_000

/** `run` is the key of a run, unique over deployments. */
export function createRunPlaces(max = MAX_PLACES): RunPlaces {
  const places = new Map<string, Place>()
  return {
    note(run, caller, thread_id) {
      const key = keyOf(run, caller)
      const broken = places.get(key)?.broken
      places.delete(key)
      places.set(key, { thread_id, broken })
      const [oldest] = places.keys()
      if (places.size > max && oldest !== undefined) places.delete(oldest)
    },
    find: (run, caller) => places.get(keyOf(run, caller))?.thread_id,
    breakOff(run, caller, begin) {
      const place = places.get(keyOf(run, caller))
      if (place !== undefined) place.broken = begin
    },
    takeUp(run, caller) {
      const place = places.get(keyOf(run, caller))
      const begin = place?.broken
      if (place !== undefined) place.broken = undefined
      return begin
    },
  }
}

function keyOf(run: string, { api_key_id, user_id, user }: Caller): string {
  return JSON.stringify([run, api_key_id, user_id, user?.identity])
}
