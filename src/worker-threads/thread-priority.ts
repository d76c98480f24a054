import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'

/**
 * Lowers the priority of the calling thread by `niceness` (0 to 19). Has no effect if the system refuses it, or on
 * systems other than Linux, where threads have no separate priority.
 */
export function yieldTo(niceness: number): void {
  if (niceness === 0) return
  try {
    const tid = Number(/\d+$/.exec(readlinkSync('/proc/thread-self'))?.[0])
    setPriority(tid, niceness)
  } catch {
    // The priority is a hint that the system may refuse.
  }
}
