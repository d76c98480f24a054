import {
  readPayloads,
  type SizedColumn,
  SIZED_COLUMNS,
  type StoredFragment,
} from '../../trace/rows/fragment.ts'

interface Known {
  list: StoredFragment[]
  byHash: Map<string, StoredFragment>
  changes: number
}

const NONE = new Uint8Array(0)

/** Distinct fragments by TraceRun, with the loaded part of their payloads. */
export class FragmentSet {
  readonly #traceRuns = new Map<string, Known>()
  readonly #filled: { fragment: StoredFragment; column: SizedColumn }[] = []

  /** Adds a fragment. Equal fragments become one, with sender and time of the earliest and the payloads of all. */
  add(fragment: StoredFragment): void {
    const known = this.#traceRuns.get(fragment.key)
    if (!known) {
      const byHash = new Map([[fragment.hash, fragment]])
      this.#traceRuns.set(fragment.key, { list: [fragment], byHash, changes: 1 })
      return
    }
    known.changes++
    const equal = known.byHash.get(fragment.hash)
    if (equal) return unite(equal, fragment)
    known.byHash.set(fragment.hash, fragment)
    known.list.push(fragment)
  }

  /** The distinct fragments of a TraceRun; empty for an unknown one. Later additions appear in the same array. */
  of(key: string): readonly StoredFragment[] {
    return this.#traceRuns.get(key)?.list ?? []
  }

  /** A number that increases with every change of a TraceRun except in its large columns. */
  changes(key: string): number {
    return this.#traceRuns.get(key)?.changes ?? 0
  }

  has(key: string, hash: string): boolean {
    return this.#traceRuns.get(key)?.byHash.has(hash) === true
  }

  keys(): IterableIterator<string> {
    return this.#traceRuns.keys()
  }

  /** Adds payloads that were read back (PAYLOAD_COLUMNS); payloads without an outline in the set are ignored. */
  fill(rows: Uint8Array): void {
    for (const { key, hash, columns } of readPayloads(rows)) {
      const known = this.#traceRuns.get(key)
      const fragment = known?.byHash.get(hash)
      if (!known || !fragment) continue
      if (fragment.left_out.head !== undefined) known.changes++
      for (const column of SIZED_COLUMNS) {
        const bytes = columns[column]
        if (bytes.length === 0 || fragment.left_out[column] !== bytes.length) continue
        fragment[column] = bytes
        delete fragment.left_out[column]
        this.#filled.push({ fragment, column })
      }
    }
  }

  /** Releases the payloads that `fill` added. */
  release(): void {
    for (const { fragment, column } of this.#filled.splice(0)) {
      fragment.left_out[column] = fragment[column].length
      fragment[column] = NONE
    }
  }
}

function unite(known: StoredFragment, equal: StoredFragment): void {
  if (equal.received_at < known.received_at) {
    const { received_at, project_id, user_id, api_key_id } = equal
    Object.assign(known, { received_at, project_id, user_id, api_key_id })
  }
  for (const column of SIZED_COLUMNS) {
    if (known.left_out[column] === undefined || equal.left_out[column] !== undefined) continue
    known[column] = equal[column]
    delete known.left_out[column]
  }
}
