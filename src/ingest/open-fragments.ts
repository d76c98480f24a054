import { type SizedColumn, SIZED_COLUMNS, type StoredFragment } from '../trace/fragment.ts'

/**
 * A bounded memory of the fragments of TraceRuns that have not ended, so that the update which ends one needs no
 * read-back. What it holds of a TraceRun are all its fragments, large columns perhaps left out, or nothing: only a
 * process that alone writes to the store may keep one. The least recently touched go first.
 */
export interface OpenFragments {
  /** Gives what is remembered of a TraceRun and forgets it: whoever adds to it remembers the whole again. */
  take(key: string): readonly StoredFragment[] | undefined
  /** Remembers all fragments of a TraceRun; the bytes are copied. */
  set(key: string, fragments: readonly StoredFragment[]): void
}

interface Entry {
  fragments: StoredFragment[]
  bytes: number
}

const NONE = new Uint8Array(0)
/** What a fragment takes besides its bytes. */
const OBJECT_BYTES = 512
/** Of a TraceRun that is too large to be remembered whole, columns larger than this are left out. */
const SMALL_BYTES = 4096

/** `maxBytes` 0 remembers nothing. */
export function createOpenFragments(maxBytes: number): OpenFragments {
  const entries = new Map<string, Entry>()
  let total = 0
  const remove = (key: string): void => {
    const entry = entries.get(key)
    if (!entry) return
    total -= entry.bytes
    entries.delete(key)
  }
  return {
    take: (key) => {
      const fragments = entries.get(key)?.fragments
      remove(key)
      return fragments
    },
    set: (key, all) => {
      remove(key)
      const most = maxBytes / 4
      let fragments = all
      let bytes = heldBytes(fragments)
      if (bytes > most) {
        fragments = all.map(withoutLarge)
        bytes = heldBytes(fragments)
      }
      if (bytes > most) return
      entries.set(key, { fragments: fragments.map(copyFragment), bytes })
      total += bytes
      for (const oldest of entries.keys()) {
        if (total <= maxBytes) break
        remove(oldest)
      }
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
    // The head says where a TraceRun stands: it is at hand, or the TraceRun is forgotten.
    if (column === 'head' || fragment[column].length <= SMALL_BYTES) continue
    small.left_out[column] = fragment[column].length
    small[column] = NONE
  }
  return small
}

/** A copy in memory of its own, which does not keep the whole batch. */
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
