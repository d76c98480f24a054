import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Collects all garbage of the calling thread, young and old, before it returns. `last-resort` also gives back what V8
 * keeps for later: 50 ms after loading a graph, 167 MB became 77 MB (measured).
 */
export function collectGarbage(flavor: 'regular' | 'last-resort' = 'regular'): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: object) => void
  collect({ type: 'major', execution: 'sync', flavor })
  // V8 frees the buffers that a collection has found when the next one begins; this one takes less than 1 ms.
  collect({ type: 'minor', execution: 'sync' })
}
