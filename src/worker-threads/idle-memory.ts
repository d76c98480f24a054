import { getHeapStatistics } from 'node:v8'
import { collectGarbage } from '../base/node/collect-garbage.ts'

/** Minimum bytes of garbage for a collection, because a collection takes 5 to 70 ms; small TraceRuns leave less. */
const MIN_GARBAGE_BYTES = 64 * 1024 * 1024
/** A thread that has had no task for this time is idle. */
const IDLE_MS = 100

/** Must be called at the beginning and at the end of each task of a thread. */
export interface IdleMemory {
  begin(): void
  end(): void
}

/**
 * Releases the memory of a thread soon after its last task. V8 collects garbage when a thread needs more memory, so that
 * each idle thread would keep the buffers and texts of its last large tasks (measured: 250 MB).
 */
export function releaseIdleMemory(): IdleMemory {
  let tasks = 0
  /** The fewest bytes in use at the beginning of a task since the last collection. */
  let least = Infinity
  let timer: NodeJS.Timeout | undefined
  const release = (): void => {
    if (usedBytes() < least + MIN_GARBAGE_BYTES) return
    collectGarbage()
    least = usedBytes()
  }
  return {
    begin() {
      tasks += 1
      least = Math.min(least, usedBytes())
      clearTimeout(timer)
    },
    end() {
      tasks -= 1
      if (tasks === 0) timer = setTimeout(release, IDLE_MS)
    },
  }
}

/** Bytes of the thread's heap and of what it holds outside of the heap, garbage included. */
function usedBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics()
  return used_heap_size + external_memory
}
