import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Lowers the priority of the calling thread by `niceness` (0 to 19). Linux only, where a thread has a priority of its
 * own; elsewhere, or where it is not allowed, this does nothing.
 */
export function yieldTo(niceness: number): void {
  if (niceness === 0) return
  try {
    const tid = Number(/\d+$/.exec(readlinkSync('/proc/thread-self'))?.[0])
    setPriority(tid, niceness)
  } catch {
    // only a hint, which the system may ignore
  }
}
