import { type StoredFragment, idsOf, keyOf, readFragment } from '../trace/fragment.ts'
import { neededParents } from '../trace/lineage.ts'
import { type MergedTraceRun, mergeFragments } from '../trace/merge.ts'
import { aliasOf, spanParts } from '../trace/otel/span-parts.ts'
import { patchUuid, RowReader, type RowWriter } from '../trace/row-binary.ts'
import type { OpenFragments } from './open-fragments.ts'

/** TraceRuns of one workspace. */
export interface WorkspaceIds {
  workspace_id: string
  run_ids: string[]
}

/** What must be read back before a batch can be derived. */
export interface BatchNeeds {
  kind: 'needs'
  fragments: WorkspaceIds[]
  children_of: WorkspaceIds[]
  /** Content hashes of the batch's own fragments, hex: they need not be read back. */
  at_hand: string[]
}

/** Parents are looked up this far; deeper chains without any dotted_order stay provisional. */
const MAX_ROUNDS = 20
const NONE = new Uint8Array(0)

/** Everything at hand while one batch is derived. */
export class DeriveBatch {
  /** Fragments by TraceRun: those of the batch, remembered ones, read-back ones. */
  readonly fragments = new Map<string, StoredFragment[]>()
  /** TraceRuns to derive, in order of arrival. */
  readonly touched = new Set<string>()
  /** TraceRuns whose fragments have been asked for or are complete. */
  readonly complete = new Set<string>()
  /** Content hashes of the batch's own fragments, until they have been told. */
  readonly #own: string[] = []
  /** Heads merged so far, with the number of fragments that they are of. */
  readonly #heads = new Map<string, { of: number; merged: MergedTraceRun }>()
  /** Relations worked out so far, with the number of fragments that they follow from. */
  readonly #known = new Map<string, { of: number; relations: Relations | undefined }>()
  /** TraceRuns whose waiting children have been asked for. */
  readonly #asked = new Set<string>()
  #rounds = 0

  add(fragment: StoredFragment): void {
    const known = this.fragments.get(fragment.key)
    if (known) known.push(fragment)
    else this.fragments.set(fragment.key, [fragment])
  }

  touch(fragment: StoredFragment): void {
    this.add(fragment)
    this.#own.push(Buffer.from(fragment.hash, 'latin1').toString('hex'))
    this.touched.add(fragment.key)
  }

  /** Takes what is remembered of the touched TraceRuns. */
  remember(memory: OpenFragments): void {
    for (const key of this.touched) {
      const remembered = memory.get(key)
      if (!remembered) continue
      this.fragments.get(key)!.push(...remembered)
      this.complete.add(key)
    }
  }

  /** What is known of a TraceRun without its payloads; undefined when nothing of it is at hand. */
  head(key: string): MergedTraceRun | undefined {
    const fragments = this.fragments.get(key)
    if (!fragments) return undefined
    const known = this.#heads.get(key)
    if (known?.of === fragments.length) return known.merged
    const merged = mergeFragments(
      fragments.map((fragment) => ({ ...fragment, extra: NONE, attachments: NONE })),
    )
    this.#heads.set(key, { of: fragments.length, merged })
    return merged
  }

  /** Asks for the fragments that are not at hand, and for the children that wait for what is touched. */
  ask(): BatchNeeds | undefined {
    const missing = [...this.touched].filter((key) => !this.complete.has(key))
    if (this.#rounds++ < MAX_ROUNDS) missing.push(...this.#missing())
    for (const key of missing) this.complete.add(key)
    const parents = [...this.touched].flatMap((key) => [key, ...(this.#relations(key)?.alias ?? [])])
    const unasked = parents.filter((key) => !this.#asked.has(key))
    for (const key of unasked) this.#asked.add(key)
    if (missing.length + unasked.length === 0) return undefined
    return {
      kind: 'needs',
      fragments: grouped([...new Set(missing)]),
      children_of: grouped(unasked),
      at_hand: this.#own.splice(0),
    }
  }

  /** TraceRuns that must be known to derive what is at hand, and whose fragments have not been asked for. */
  #missing(): string[] {
    const missing: string[] = []
    for (const key of this.fragments.keys()) {
      const relations = this.#relations(key)
      if (relations === undefined) continue
      missing.push(...relations.parents, ...relations.owners)
      if (this.touched.has(key)) missing.push(...relations.alias)
    }
    return missing.filter((key) => !this.complete.has(key))
  }

  /** What a TraceRun has to do with others; undefined for one that says its place itself, as native ones mostly do. */
  #relations(key: string): Relations | undefined {
    const fragments = this.fragments.get(key)
    if (!fragments) return undefined
    const known = this.#known.get(key)
    if (known?.of === fragments.length) return known.relations
    const isPlaced = fragments.some(({ head }) => holds(head, '"dotted_order"') && !holds(head, '"span_id"'))
    const relations = isPlaced ? undefined : relationsOf(this.head(key)!)
    this.#known.set(key, { of: fragments.length, relations })
    return relations
  }

  /** A TraceRun to which a touched part belongs is to be derived again. */
  touchOwners(): void {
    for (const key of this.touched) {
      const owner = this.ownerOf(key)
      if (owner !== undefined) this.touched.add(owner)
    }
  }

  /** The TraceRun to which parts filed under `key` belong, if it is at hand. */
  ownerOf(key: string): string | undefined {
    const relations = this.#relations(key)
    return relations?.owners.find((owner) => this.head(owner)?.head['span_id'] === relations.span_id)
  }

  /**
   * Gives a touched TraceRun the log records that are filed under its span's own id, as fragments of its own: from
   * then on it is whole by itself. The new ones are appended to `out`; answers how many.
   */
  adopt(key: string, out: RowWriter): number {
    const [alias] = this.#relations(key)?.alias ?? []
    const parts = (alias === undefined ? undefined : this.fragments.get(alias)) ?? []
    const own = this.fragments.get(key)!
    const known = new Set(own.map(({ hash }) => hash))
    let count = 0
    for (const part of parts) {
      if (part.extra.length === 0 || known.has(part.hash)) continue
      known.add(part.hash)
      const row = Buffer.from(part.row)
      patchUuid(row, RUN_ID_OFFSET, idsOf(key).run_id)
      out.raw(row)
      own.push(readFragment(new RowReader(row)))
      count++
    }
    return count
  }
}

/** Keys of other TraceRuns that one has to do with. */
interface Relations {
  /** Who may be its parent, where it does not say its place itself. */
  parents: string[]
  /** What it may be a part of. */
  owners: string[]
  /** Where parts of it may be filed: one key or none. */
  alias: string[]
  span_id: string | undefined
}

function relationsOf(merged: MergedTraceRun): Relations {
  const key = (id: string): string => keyOf(merged.workspace_id, id)
  const parts = spanParts(merged)
  const alias = aliasOf(merged)
  return {
    parents: neededParents(merged).map(key),
    owners: parts?.owners.map(key) ?? [],
    alias: alias === undefined ? [] : [key(alias)],
    span_id: parts?.span_id,
  }
}

/** Where a fragment's run_id is: after the workspace. */
const RUN_ID_OFFSET = 16

function holds(head: Uint8Array, text: string): boolean {
  return Buffer.from(head.buffer, head.byteOffset, head.byteLength).includes(text)
}

/** TraceRuns by workspace, as the store is asked. */
function grouped(keys: readonly string[]): WorkspaceIds[] {
  const groups = new Map<string, string[]>()
  for (const key of keys) {
    const { workspace_id, run_id } = idsOf(key)
    const group = groups.get(workspace_id)
    if (group) group.push(run_id)
    else groups.set(workspace_id, [run_id])
  }
  return [...groups].map(([workspace_id, run_ids]) => ({ workspace_id, run_ids }))
}
