import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Lets the calling thread stand back for others by `niceness` (0 to 19). Linux only, where a thread has a priority of
 * its own; elsewhere, or where it is not allowed, nothing happens.
 */
export function yieldTo(niceness: number): void {
  if (niceness === 0) return
  try {
    const tid = Number(/\d+$/.exec(readlinkSync('/proc/thread-self'))?.[0])
    setPriority(tid, niceness)
  } catch {
    // a hint, no promise
  }
}
