import { RecentMap } from '../../../base/recent-map.ts'

/** Ends of runs that clients were not sent because their connections broke (V-29). */
export interface UnseenEnds {
  /**
   * Runs that were active when a connection of this reader broke within the last minute, and whose end was not sent to
   * the reader since.
   */
  of(reader: string): ReadonlySet<string>
  /** Must be called when a connection of the reader broke while these runs were active. */
  broke(reader: string, run_ids: Iterable<string>): void
  /** Must be called after the end of the run was sent to the reader. */
  sent(reader: string, run_id: string): void
}

/** Maximum number of readers, and of runs of each reader. */
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
