import { RecentMap } from '../../../base/recent-map.ts'

/** Ends of runs that clients were not sent because their connections broke (V-29). */
export interface UnseenEnds {
  /**
   * Runs that were active when a connection of this reader broke, within the last minute, and whose end it has not been
   * sent since.
   */
  of(reader: string): ReadonlySet<string>
  /** A connection of the reader broke while these runs were active. */
  broke(reader: string, run_ids: Iterable<string>): void
  /** The reader was sent the end of the run. */
  sent(reader: string, run_id: string): void
}

/** Readers, and runs of each, that are remembered. */
const MAX_READERS = 10_000
const MAX_RUNS = 16
const REMEMBERED_MS = 60_000
const NONE: ReadonlySet<string> = new Set()

interface Broken {
  at: number
  runs: Set<string>
}

/** `now` is in milliseconds. */
export function createUnseenEnds(now: () => number = Date.now): UnseenEnds {
  const readers = new RecentMap<string, Broken>(MAX_READERS)
  const recent = (reader: string): Broken | undefined => {
    const broken = readers.get(reader)
    return broken !== undefined && now() - broken.at <= REMEMBERED_MS ? broken : undefined
  }
  return {
    of: (reader) => recent(reader)?.runs ?? NONE,
    broke(reader, run_ids) {
      const runs = new Set([...(recent(reader)?.runs ?? []), ...run_ids].slice(-MAX_RUNS))
      if (runs.size > 0) readers.set(reader, { at: now(), runs })
    },
    sent: (reader, run_id) => void readers.get(reader)?.runs.delete(run_id),
  }
}
