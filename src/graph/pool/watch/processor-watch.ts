import { readEach } from './read-each.ts'

/** Milliseconds between two readings. */
const EVERY_MS = 1_000
/** Shares of the permitted processors: more than EXCESS is too much, less than CALM is calm again. */
const EXCESS = 1.2
const CALM = 0.6
/** Number of successive readings above EXCESS after which a process is limited. */
const PATIENCE = 2

/** The operations of the operating system; tests replace them. */
export interface Processors {
  /** The process and its descendants. */
  family(pid: number): readonly number[]
  /** Milliseconds of processor time that the process and its ended children have used; undefined when it has ended. */
  usedMs(pid: number): number | undefined
  /**
   * Limits the process to this number of processors, or to those of the server. All processes with the same `head` get
   * the same ones. Returns false if the process does not have them yet.
   */
  limit(pid: number, processors: number | undefined, head: number): boolean
}

interface Seen {
  usedMs: number
  at: number
  /** Number of successive readings with too much. */
  above: number
  isLimited: boolean
}

/**
 * Limits a process, together with its descendants, to `most` processors while it uses more of them (P-3). Works on
 * Linux only. Returns a function that stops the watch.
 */
export function watchProcessors(
  processes: () => readonly { readonly pid: number }[],
  most: number,
  processors: Processors,
): () => void {
  const check = (pid: number, before: Seen | undefined): Seen | undefined => {
    const at = performance.now()
    if (processors.usedMs(pid) === undefined) return undefined
    const family = processors.family(pid)
    const usedMs = family.reduce((sum, one) => sum + (processors.usedMs(one) ?? 0), 0)
    const share = before === undefined ? 0 : (usedMs - before.usedMs) / (at - before.at) / most
    const above = share > EXCESS ? (before?.above ?? 0) + 1 : 0
    const wasLimited = before?.isLimited ?? false
    const isWanted = wasLimited ? share >= CALM : above >= PATIENCE
    if (!isWanted && !wasLimited) return { usedMs, at, above, isLimited: false }
    const results = family.map((one) => processors.limit(one, isWanted ? most : undefined, pid))
    return { usedMs, at, above, isLimited: isWanted || results.includes(false) }
  }
  return readEach(processes, EVERY_MS, check)
}
