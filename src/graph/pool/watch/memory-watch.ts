import { readFileSync } from 'node:fs'

export interface WatchedProcess {
  readonly pid: number
  /** Kills the process, because its memory exceeds the limit. */
  endForMemory(message: string): void
}

/** Milliseconds between two readings (P-24). */
const EVERY_MS = 2_000
const MIB = 1 << 20

/**
 * Ends each process whose resident memory exceeds `maxBytes`. V8's heap limit is not enough, because it does not cover
 * buffers and native memory. Works on Linux only, where the memory of another process can be read. Returns a function
 * that stops the watch.
 */
export function watchMemory(
  processes: () => readonly WatchedProcess[],
  maxBytes: number,
  residentBytes: (pid: number) => number | undefined = readResidentBytes,
): () => void {
  const check = (watched: WatchedProcess): void => {
    const bytes = residentBytes(watched.pid)
    if (bytes === undefined || bytes <= maxBytes) return
    const [used, most] = [bytes, maxBytes].map((n) => Math.ceil(n / MIB))
    watched.endForMemory(`The graph host used ${used} MiB of memory; it may use ${most}.`)
  }
  const timer = setInterval(() => {
    for (const watched of processes()) check(watched)
  }, EVERY_MS).unref()
  return () => clearInterval(timer)
}

/** Sum of the resident memory of several processes; undefined if it cannot be read or there is no process. */
export function residentBytesOf(pids: readonly number[]): number | undefined {
  const read = pids.flatMap((pid) => readResidentBytes(pid) ?? [])
  return read.length === 0 ? undefined : read.reduce((sum, bytes) => sum + bytes, 0)
}

/**
 * Resident memory of a process; undefined if the process has ended, and on systems other than Linux. Files in /proc are
 * in memory, so a synchronous read is faster than a read in another thread.
 */
export function readResidentBytes(pid: number): number | undefined {
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kib === undefined ? undefined : Number(kib) * 1024
  } catch {
    return undefined
  }
}
