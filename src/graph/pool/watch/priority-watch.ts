import { readEach } from './read-each.ts'

/** Milliseconds between two readings. */
const EVERY_MS = 250
/** Shares of one processor: a process counts as busy above BUSY, and as calm again below CALM. */
const BUSY = 0.8
const CALM = 0.6
/**
 * A thread that runs, or waits for a processor, for more than this share of the time counts as one that never sleeps.
 */
const AWAKE = 0.95
/** If a low priority cannot be raised again, a process gets it only after this number of successive busy readings. */
const PATIENCE = 20
/** Number of readings after which the descendants of a process are read again. */
const FAMILY_READINGS = 4
/** A low priority: this number of steps of the command `nice` below the priority of the server. */
export const LOW = 10

/** The operations of the operating system; tests replace them. */
export interface Priorities {
  /** The process and its descendants. */
  family(pid: number): readonly number[]
  /** Milliseconds of processor time that the process and its ended children have used; undefined when it has ended. */
  usedMs(pid: number): number | undefined
  /** Milliseconds for which the main thread ran or waited for a processor; 0 if the system does not report it. */
  awakeMs(pid: number): number
  /**
   * Sets a priority. Returns false if the kernel refuses it for now: it limits how often the priorities of sessions may
   * change.
   */
  set(pid: number, nice: number): boolean
  /** Whether a low priority can be raised again. */
  canRaise(pid: number): boolean
}

interface Seen {
  usedMs: number
  awakeMs: number
  at: number
  /** Number of readings of the process before this one. */
  age: number
  busy: number
  family: readonly number[]
  /** Processes of the family that have a low priority. */
  low: ReadonlySet<number>
}

/**
 * Gives processes and their descendants a low priority while they start, and while they keep a processor busy, so that
 * the server and the hosts of other deployments run first. Works on Linux only. Returns a function that stops the
 * watch.
 */
export function watchPriority(
  processes: () => readonly { readonly pid: number }[],
  priorities: Priorities,
): () => void {
  const check = (pid: number, before: Seen | undefined): Seen | undefined => {
    const at = performance.now()
    const age = before === undefined ? 0 : before.age + 1
    const isFresh = before !== undefined && age % FAMILY_READINGS !== 0
    const family = isFresh ? before.family : priorities.family(pid)
    const own = priorities.usedMs(pid)
    if (own === undefined) return undefined
    const below = family.filter((one) => one !== pid).map((one) => priorities.usedMs(one) ?? 0)
    const usedMs = below.reduce((sum, used) => sum + used, own)
    // A new process counts as busy, because it loads its packages.
    const share = before === undefined ? 1 : (usedMs - before.usedMs) / (at - before.at)
    const awakeMs = priorities.awakeMs(pid)
    // With a low priority, a process that never sleeps may get less than CALM of a processor. It then waits for the
    // rest of the time, and must not count as calm.
    const sleeps = before !== undefined && (awakeMs - before.awakeMs) / (at - before.at) < AWAKE
    const busy = share > BUSY ? (before?.busy ?? 0) + 1 : 0
    const wasLow = before?.low.has(pid) ?? false
    const isLow = wasLow
      ? !(share < CALM && sleeps && priorities.canRaise(pid))
      : busy > 0 && (busy >= PATIENCE || priorities.canRaise(pid))
    const low = setAll(family, before?.low ?? new Set(), isLow)
    return { usedMs, awakeMs, at, age, busy, family, low }
  }
  /**
   * Sets the priority of those processes of the family that have another priority. Returns the processes that have a
   * low priority then.
   */
  const setAll = (family: readonly number[], low: ReadonlySet<number>, isLow: boolean): Set<number> =>
    new Set(
      family.filter((one) => {
        if (low.has(one) === isLow) return isLow
        return priorities.set(one, isLow ? LOW : 0) ? isLow : !isLow
      }),
    )
  return readEach(processes, EVERY_MS, check)
}
