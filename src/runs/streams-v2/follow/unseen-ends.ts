import { createHash } from 'node:crypto'
import { RecentMap } from '../../../base/recent-map.ts'
import type { WakeMessage } from '../../execute/wake.ts'

/** Notifications between servers about ends of runs that clients did not receive. */
export type UnseenEndMessage = Extract<WakeMessage, { kind: 'unseen_ends' | 'seen_end' }>

/** Ends of runs that clients did not receive, because their connections to this server or another one broke (V-29). */
export interface UnseenEnds {
  /**
   * Runs that were active when a connection of this reader broke within the last minute. A run is removed when its end
   * is sent to the reader.
   */
  of(reader: string): ReadonlySet<string>
  /** Must be called when a connection of the reader broke while these runs were active. */
  broke(reader: string, run_ids: Iterable<string>): void
  /** Must be called after the end of the run was sent to the reader. */
  sent(reader: string, run_id: string): void
  /** Must be called with the notifications of other servers. */
  receive(message: UnseenEndMessage): void
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

/** `notify` sends a notification to the other servers. `now` is in milliseconds. */
export function createUnseenEnds(
  notify: (message: UnseenEndMessage) => void = () => undefined,
  now: () => number = Date.now,
): UnseenEnds {
  const readers = new RecentMap<string, Broken>(MAX_READERS)
  const recent = (key: string): Broken | undefined => {
    const broken = readers.get(key)
    return broken !== undefined && now() - broken.at <= REMEMBERED_MS ? broken : undefined
  }
  const remember = (key: string, run_ids: Iterable<string>): void => {
    const runs = new Set([...(recent(key)?.runs ?? []), ...run_ids].slice(-MAX_RUNS))
    if (runs.size > 0) readers.set(key, { at: now(), runs })
  }
  const forget = (key: string, run_id: string): boolean => readers.get(key)?.runs.delete(run_id) ?? false
  return {
    of: (reader) => recent(keyOf(reader))?.runs ?? NONE,
    broke(reader, run_ids) {
      const [key, runs] = [keyOf(reader), [...run_ids].slice(-MAX_RUNS)]
      if (runs.length === 0) return
      remember(key, runs)
      notify({ kind: 'unseen_ends', reader: key, run_ids: runs })
    },
    sent(reader, run_id) {
      const key = keyOf(reader)
      if (forget(key, run_id)) notify({ kind: 'seen_end', reader: key, run_id })
    },
    receive(message) {
      if (message.kind === 'unseen_ends') remember(message.reader, message.run_ids)
      else forget(message.reader, message.run_id)
    },
  }
}

/**
 * A short key of a reader. The reader's own text may be longer than a notification, which has a limit of a few
 * kilobytes.
 */
function keyOf(reader: string): string {
  return createHash('sha256').update(reader).digest('base64url').slice(0, 22)
}
