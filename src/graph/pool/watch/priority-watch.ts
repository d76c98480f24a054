import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

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
/** The kernel reports the time of processes in hundredths of a second, independently of its own clock rate. */
const MS_PER_TICK = 10
/**
 * First and last of the time fields in /proc/{pid}/stat, counted after the name of the program: user and system time of
 * the process, and of its ended children.
 */
const [FIRST_TICKS, LAST_TICKS] = [11, 14]
/** Number of readings after which the descendants of a process are read again. */
const FAMILY_READINGS = 4
/** A low priority: this number of steps of the command `nice` below the priority of the server. */
export const LOW = 10
const LOWEST = 19

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
  priorities: Priorities = linuxPriorities(),
  now: () => number = () => performance.now(),
): () => void {
  let seen = new Map<number, Seen>()
  let readings = 0
  const check = (pid: number, before: Seen | undefined): Seen | undefined => {
    const at = now()
    const isFresh = before !== undefined && readings % FAMILY_READINGS !== 0
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
    return { usedMs, awakeMs, at, busy, family, low }
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
  const timer = setInterval(() => {
    const next = new Map<number, Seen>()
    for (const { pid } of processes()) {
      const found = check(pid, seen.get(pid))
      if (found !== undefined) next.set(pid, found)
    }
    seen = next
    readings += 1
  }, EVERY_MS).unref()
  return () => clearInterval(timer)
}

/**
 * The operations on Linux. Files in /proc are in memory, so a synchronous read is faster than a read in another thread.
 */
function linuxPriorities(): Priorities {
  const own = getPriority()
  let mayRaise: boolean | undefined
  const family = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(family)]
  return {
    family,
    usedMs(pid) {
      const text = readText(`/proc/${pid}/stat`)
      if (text === '') return undefined
      // The name of the program is in parentheses, and may contain spaces and parentheses itself.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
      const ticks = fields.slice(FIRST_TICKS, LAST_TICKS + 1).map(Number)
      return ticks.reduce((sum, one) => sum + one, 0) * MS_PER_TICK
    },
    awakeMs(pid) {
      const [ranNs = 0, waitedNs = 0] = readText(`/proc/${pid}/schedstat`).split(' ').map(Number)
      return (ranNs + waitedNs) / 1e6
    },
    set(pid, nice) {
      try {
        if (hasOwnGroup(pid)) writeFileSync(`/proc/${pid}/autogroup`, String(nice))
        else
          for (const thread of readdirSync(`/proc/${pid}/task`))
            setThread(pid, thread, Math.min(LOWEST, own + nice))
        return true
      } catch {
        // The process has just ended, or the kernel refuses a change now.
        return false
      }
    },
    canRaise: (pid) => hasOwnGroup(pid) || (mayRaise ??= tryRaising()),
  }
}

/** The children of a process, read from each of its threads, since any thread may have started a child. */
function childrenOf(pid: number): number[] {
  const texts = threadsOf(pid).map((thread) => readText(`/proc/${pid}/task/${thread}/children`))
  return texts.flatMap((text) => text.split(' ').filter(Boolean).map(Number))
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** Sets the priority of a thread, unless it has ended. */
function setThread(pid: number, thread: string, nice: number): void {
  try {
    setPriority(Number(thread), nice)
  } catch (error) {
    if (existsSync(`/proc/${pid}/task/${thread}`)) throw error
  }
}

/**
 * Whether the kernel schedules the session of the process as a group of its own (autogroup). If so, priorities of
 * processes count only within their session, and the session itself has a priority, which its user may raise.
 */
function hasOwnGroup(pid: number): boolean {
  if (readText('/proc/sys/kernel/sched_autogroup_enabled').trim() !== '1') return false
  const [own] = readText('/proc/self/autogroup').split(' ')
  const [theirs] = readText(`/proc/${pid}/autogroup`).split(' ')
  return theirs !== '' && own !== theirs
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Whether this process may raise priorities. Finds out by raising its own priority for a moment. */
function tryRaising(): boolean {
  const own = getPriority()
  try {
    setPriority(own - 1)
    setPriority(own)
    return true
  } catch {
    return false
  }
}
