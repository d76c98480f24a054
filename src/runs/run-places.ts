import type { Caller } from './model.ts'

/** Where the events of a run are. */
export interface RunPlace {
  thread_id: string
  /** Who had a stream of it. */
  caller: Caller
}

/**
 * Where runs are, or were, that somebody has a stream of. A stateless run goes away at its end, and one that is rolled back
 * too; a client whose connection broke just then comes back for the rest of its events.
 */
export interface RunPlaces {
  note(key: string, place: RunPlace): void
  /** Only of a run that this caller had a stream of. */
  find(key: string, caller: Caller): RunPlace | undefined
}

/** The latest are kept. */
const MAX_PLACES = 10_000

export function createRunPlaces(max = MAX_PLACES): RunPlaces {
  const places = new Map<string, RunPlace>()
  return {
    note(key, place) {
      places.delete(key)
      places.set(key, place)
      const [oldest] = places.keys()
      if (places.size > max && oldest !== undefined) places.delete(oldest)
    },
    find(key, caller) {
      const place = places.get(key)
      return place !== undefined && isSame(place.caller, caller) ? place : undefined
    },
  }
}

function isSame(a: Caller, b: Caller): boolean {
  return a.api_key_id === b.api_key_id && a.user_id === b.user_id && a.user?.identity === b.user?.identity
}
