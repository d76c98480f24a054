import { RecentMap } from '../../base/recent-map.ts'
import type { Caller } from '../model.ts'
import type { StreamStart } from './streams.ts'

/**
 * Stores for each caller the threads of the runs that the caller has streamed, even if a run no longer exists. A
 * stateless run and a run that is rolled back are deleted at their end. A client whose connection broke at that moment
 * reconnects to read the remaining events.
 */
export interface RunPlaces {
  note(run: string, caller: Caller, thread_id: string): void
  /** Returns the thread of a run of which this caller had a stream. */
  find(run: string, caller: Caller): string | undefined
  /**
   * Records that a stream broke off before anything was sent. With this stream the caller had created the run. `begin`
   * is the place at which the stream began.
   */
  breakOff(run: string, caller: Caller, begin: StreamStart): void
  /**
   * If the first stream of this caller broke off before anything was sent, returns the position at which the next
   * stream begins. Returns it only once; undefined in all other cases.
   */
  takeUp(run: string, caller: Caller): StreamStart | undefined
}

interface Place {
  thread_id: string
  broken: StreamStart | undefined
}

/** Number of entries; the oldest are removed. */
const MAX_PLACES = 10_000

/** The parameter `run` of the methods is the key of a run within all deployments (`runKey`). */
export function createRunPlaces(max = MAX_PLACES): RunPlaces {
  const places = new RecentMap<string, Place>(max)
  return {
    note(run, caller, thread_id) {
      const key = callerKey(run, caller)
      const broken = places.get(key)?.broken
      places.set(key, { thread_id, broken })
    },
    find: (run, caller) => places.get(callerKey(run, caller))?.thread_id,
    breakOff(run, caller, begin) {
      const place = places.get(callerKey(run, caller))
      if (place !== undefined) place.broken = begin
    },
    takeUp(run, caller) {
      const place = places.get(callerKey(run, caller))
      const begin = place?.broken
      if (place !== undefined) place.broken = undefined
      return begin
    },
  }
}

/** A text that is different for each caller of a run or a thread. */
export function callerKey(of: string, { api_key_id, user_id, user }: Caller): string {
  return JSON.stringify([of, api_key_id, user_id, user?.identity])
}
