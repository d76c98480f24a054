import { RecentMap } from '../../base/recent-map.ts'
import { type SizedColumn, SIZED_COLUMNS, type StoredFragment } from '../../trace/rows/fragment.ts'

/**
 * A bounded cache of the fragments of TraceRuns that have not ended, so that the update that ends a TraceRun needs no
 * read-back. It contains either all fragments of a TraceRun, some without their large columns, or none. Only a process
 * that alone writes to the store may have such a cache. The least recently touched TraceRuns are removed first.
 */
export interface OpenFragments {
  /** Must be called before a batch. What was cached two generations of routes ago is not returned (LaneRoutes). */
  begin(generation: number): void
  /**
   * Returns and removes the cached fragments of a TraceRun. A caller that adds fragments must cache all of them again.
   */
  take(key: string): readonly StoredFragment[] | undefined
  /** Caches all fragments of a TraceRun; the bytes are copied. */
  set(key: string, fragments: readonly StoredFragment[]): void
}

interface Entry {
  fragments: StoredFragment[]
  bytes: number
  generation: number
}

const NONE = new Uint8Array(0)
/** Memory of a fragment besides its bytes. */
const OBJECT_BYTES = 512
/** Size above which a column is left out, for a TraceRun that is too large to cache whole. */
const SMALL_BYTES = 4096

/** `maxBytes` 0 caches nothing. */
export function createOpenFragments(maxBytes: number): OpenFragments {
  const entries = new RecentMap<string, Entry>(maxBytes, ({ bytes }) => bytes)
  let generation = 0
  return {
    begin: (current) => {
      generation = current
    },
    take: (key) => {
      const entry = entries.get(key)
      entries.delete(key)
      return entry && entry.generation >= generation - 1 ? entry.fragments : undefined
    },
    set: (key, all) => {
      entries.delete(key)
      const most = maxBytes / 4
      let fragments = all
      let bytes = heldBytes(fragments)
      if (bytes > most) {
        fragments = all.map(withoutLarge)
        bytes = heldBytes(fragments)
      }
      if (bytes > most) return
      entries.set(key, { fragments: fragments.map(copyFragment), bytes, generation })
    },
  }
}

function heldBytes(fragments: readonly StoredFragment[]): number {
  let bytes = 0
  for (const fragment of fragments) {
    bytes += OBJECT_BYTES
    for (const column of SIZED_COLUMNS) bytes += fragment[column].length
  }
  return bytes
}

function withoutLarge(fragment: StoredFragment): StoredFragment {
  const small: StoredFragment = { ...fragment, left_out: { ...fragment.left_out } }
  for (const column of SIZED_COLUMNS) {
    // The head determines the place of a TraceRun: if it does not fit, the TraceRun is not cached.
    if (column === 'head' || fragment[column].length <= SMALL_BYTES) continue
    small.left_out[column] = fragment[column].length
    small[column] = NONE
  }
  return small
}

/** A copy in its own memory, so that it does not keep the whole batch in memory. */
function copyFragment(fragment: StoredFragment): StoredFragment {
  const copy: StoredFragment = { ...fragment, row: NONE, left_out: { ...fragment.left_out } }
  const size = SIZED_COLUMNS.reduce((sum, column) => sum + fragment[column].length, 0)
  const bytes = new Uint8Array(size)
  let at = 0
  const place = (column: SizedColumn): void => {
    const { length } = fragment[column]
    bytes.set(fragment[column], at)
    copy[column] = bytes.subarray(at, at + length)
    at += length
  }
  for (const column of SIZED_COLUMNS) place(column)
  return copy
}
