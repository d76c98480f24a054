import { readdir, readFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { join } from 'node:path'

/** The engine's name of the threads that merge parts. */
const NAME = 'MergeMutate'
const NICENESS = 5
const THREADS = '/proc/self/task'

/**
 * Returns a function that makes merges yield to inserts and reads (docs/adr/0010). It is called after changes of the
 * schema, because the engine starts the threads with its first table; once it has found them, it does nothing. Only
 * Linux has priorities of threads.
 */
export function createMergeYield(): () => Promise<void> {
  let isDone = process.platform !== 'linux'
  return async () => {
    if (isDone) return
    for (const thread of await readdir(THREADS)) {
      const name = await readFile(join(THREADS, thread, 'comm'), 'utf8').catch(() => '')
      if (name.trim() !== NAME) continue
      isDone = true
      lower(Number(thread))
    }
  }
}

function lower(thread: number): void {
  try {
    setPriority(thread, NICENESS)
  } catch {
    // The system may refuse a change of the priority.
  }
}
