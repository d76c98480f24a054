import { RowReader } from '../trace/row-binary.ts'
import { type StoredFragment, readFragment } from '../trace/fragment.ts'

/**
 * A bounded memory of the fragments of TraceRuns that have not ended, so that the update which ends one needs no
 * read-back. What it holds of a TraceRun is complete, or it holds nothing: only a process that alone writes to the
 * store may keep one. The least recently touched go first.
 */
export interface OpenFragments {
  get(key: string): readonly StoredFragment[] | undefined
  /** Remembers all fragments of a TraceRun; the bytes are copied. */
  set(key: string, fragments: readonly StoredFragment[]): void
  delete(key: string): void
}

interface Entry {
  fragments: StoredFragment[]
  bytes: number
}

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
    get: (key) => entries.get(key)?.fragments,
    set: (key, fragments) => {
      remove(key)
      const bytes = fragments.reduce((sum, fragment) => sum + fragment.row.length + 512, 0)
      if (bytes > maxBytes / 4) return
      entries.set(key, {
        fragments: fragments.map((fragment) => readFragment(new RowReader(Uint8Array.from(fragment.row)))),
        bytes,
      })
      total += bytes
      for (const oldest of entries.keys()) {
        if (total <= maxBytes) break
        remove(oldest)
      }
    },
    delete: remove,
  }
}
