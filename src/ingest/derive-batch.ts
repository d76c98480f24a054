import {
  idsOf,
  keyOf,
  readFragment,
  SIZED_COLUMNS,
  sizeOf,
  type StoredFragment,
  writeFragment,
} from '../trace/fragment.ts'
import { neededParents } from '../trace/lineage.ts'
import { headUuid, type MergedTraceRun, mergeFragments } from '../trace/merge.ts'
import { spanUuid } from '../trace/otel/span-ids.ts'
import { type RootSpans, splitRoots } from '../trace/otel/root-spans.ts'
import { aliasOf, spanParts } from '../trace/otel/span-parts.ts'
import { MAX_PAYLOAD_BYTES, type PayloadWant, planPayload } from '../trace/payload-plan.ts'
import { RowReader, RowWriter } from '../trace/row-binary.ts'
import { FragmentSet } from './fragment-set.ts'
import type { OpenFragments } from './open-fragments.ts'

/** TraceRuns of one workspace. */
export interface WorkspaceIds {
  workspace_id: string
  run_ids: string[]
}

/** TraceRuns of which more must be known before a batch can be derived. */
export interface BatchNeeds {
  outlines: WorkspaceIds[]
  children_of: WorkspaceIds[]
  /** Traces of which all TraceRuns that stand under the one with the trace's id are to be derived again. */
  below: WorkspaceIds[]
}

/** Parents are looked up this far; deeper chains without any dotted_order stay provisional. */
const MAX_ROUNDS = 20
const NONE = new Uint8Array(0)

/** Everything at hand while one batch is derived. */
export class DeriveBatch {
  /** Those of the batch, remembered ones, outlines of read-back ones. */
  readonly fragments = new FragmentSet()
  /** TraceRuns to derive, in order of arrival. */
  readonly touched = new Set<string>()
  /** TraceRuns whose fragments have been asked for or are complete. */
  readonly complete = new Set<string>()
  /** Heads merged so far, with the state of the fragments that they are of. */
  readonly #heads = new Map<string, { of: number; merged: MergedTraceRun }>()
  /** Relations worked out so far, with the state of the fragments that they follow from. */
  readonly #known = new Map<string, { of: number; relations: Relations | undefined }>()
  /** TraceRuns whose waiting children have been asked for. */
  readonly #asked = new Set<string>()
  /** Spans without a parent in the batch: keys and hashes of their fragments. */
  readonly #roots = new Set<string>()
  /** Fragments that are filed under the id of a trace and belong to a TraceRun of another id, by its key. */
  readonly #misfiled = new Map<string, StoredFragment[]>()
  /** Traces whose first root may have changed, and whether that has been asked about. */
  readonly #rerooted = new Map<string, boolean>()
  #rounds = 0

  touch(fragment: StoredFragment): void {
    this.fragments.add(fragment)
    this.touched.add(fragment.key)
    const { head, key, hash } = fragment
    if (holds(head, '"span_id"') && !holds(head, '"parent_run_id"')) this.#roots.add(key + hash)
  }

  /** Takes what is remembered of the touched TraceRuns. */
  remember(memory: OpenFragments): void {
    for (const key of this.touched) {
      const remembered = memory.take(key)
      if (!remembered) continue
      for (const fragment of remembered) this.fragments.add(fragment)
      this.complete.add(key)
    }
  }

  /** What is known of a TraceRun without its payloads; undefined when nothing of it is at hand. */
  head(key: string): MergedTraceRun | undefined {
    const fragments = this.fragments.of(key)
    if (fragments.length === 0) return undefined
    const of = this.fragments.changes(key)
    const known = this.#heads.get(key)
    if (known?.of === of) return known.merged
    const merged = mergeFragments(
      fragments.map((fragment) => ({ ...fragment, extra: NONE, attachments: NONE })),
    )
    this.#heads.set(key, { of, merged })
    return merged
  }

  /** Asks for the TraceRuns whose fragments are not known, and for the children that wait for what is touched. */
  ask(): BatchNeeds | undefined {
    this.#separateRoots()
    const missing = [...this.touched].filter((key) => !this.complete.has(key))
    if (this.#rounds++ < MAX_ROUNDS) missing.push(...this.#missing())
    for (const key of missing) this.complete.add(key)
    const parents = [...this.touched].flatMap((key) => [key, ...(this.#relations(key)?.alias ?? [])])
    const unasked = parents.filter((key) => !this.#asked.has(key))
    for (const key of unasked) this.#asked.add(key)
    const below = [...this.#rerooted].flatMap(([key, isAsked]) => (isAsked ? [] : [key]))
    for (const key of below) this.#rerooted.set(key, true)
    if (missing.length + unasked.length + below.length === 0) return undefined
    return {
      outlines: groupKeys([...new Set(missing)]),
      children_of: groupKeys(unasked),
      below: groupKeys(below),
    }
  }

  /**
   * Of several spans without a parent that are filed under the id of their trace, those that are not the first become
   * TraceRuns of their own (docs/adr/0020).
   */
  #separateRoots(): void {
    for (const key of [...this.fragments.keys()]) {
      const roots = this.#relations(key)?.roots
      if (roots === undefined || !this.complete.has(key)) continue
      const isNew = ({ hash }: StoredFragment): boolean => this.#roots.has(key + hash)
      const hasNewFirst = roots.own.some(isNew)
      // Another one may have had the id of the trace until now: what stood under it must be placed again.
      if (hasNewFirst && !this.#rerooted.has(key)) this.#rerooted.set(key, false)
      for (const [spanId, fragments] of roots.others) {
        const other = keyOf(idsOf(key).workspace_id, spanUuid(spanId))
        if (hasNewFirst || fragments.some(isNew)) this.touched.add(other)
        if (this.complete.has(other)) this.#takeMisfiled(other, fragments)
      }
    }
  }

  /** Files fragments under the TraceRun that they belong to, unless they have been; their payloads come later. */
  #takeMisfiled(key: string, fragments: readonly StoredFragment[]): void {
    const { run_id } = idsOf(key)
    for (const fragment of fragments) {
      if (this.fragments.has(key, fragment.hash)) continue
      this.touched.add(key)
      this.fragments.add({ ...fragment, key, run_id, row: NONE, left_out: { ...fragment.left_out } })
      const known = this.#misfiled.get(key)
      if (known) known.push(fragment)
      else this.#misfiled.set(key, [fragment])
    }
  }

  /** How many roots the trace has besides the one with its id, as far as they are at hand. */
  otherRoots(key: string): number {
    return this.#relations(key)?.roots?.others.size ?? 0
  }

  /** The keys of roots that places rest on, and how many fragments are known under each. */
  rootsUsed(): { key: string; fragments: number }[] {
    return [...this.fragments.keys()].flatMap((key) =>
      this.complete.has(key) && this.#relations(key)?.is_root
        ? [{ key, fragments: this.fragments.of(key).length }]
        : [],
    )
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
    const fragments = this.fragments.of(key)
    if (fragments.length === 0) return undefined
    const of = this.fragments.changes(key)
    const known = this.#known.get(key)
    if (known?.of === of) return known.relations
    const isPlaced = fragments.some(({ head }) => holds(head, '"dotted_order"') && !holds(head, '"span_id"'))
    const relations = isPlaced ? undefined : relationsOf(this.head(key)!, splitRoots(fragments))
    this.#known.set(key, { of, relations })
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

  /** What must be fetched to derive a touched TraceRun, with the log records that it will adopt. */
  wantsOf(key: string): PayloadWant[] {
    const foreign = this.#toAdopt(key)
    const misfiled = new Set(foreign.map(({ hash }) => hash))
    // What is to be adopted has to be fetched from where it is filed.
    const wants = planPayload(this.fragments.of(key)).wants.filter(
      ({ fragment }) => !misfiled.has(fragment.hash),
    )
    let bytes = 0
    for (const fragment of foreign) {
      for (const column of SIZED_COLUMNS) {
        const size = fragment.left_out[column]
        if (size === undefined || bytes + size > MAX_PAYLOAD_BYTES) continue
        bytes += size
        wants.push({ fragment, column, bytes: size })
      }
    }
    return wants
  }

  /**
   * Gives a touched TraceRun the log records that are filed under its span's own id, or the span that is filed under
   * the trace's, as fragments of its own: from then on it is whole by itself. The new ones are appended to `out`;
   * answers how many.
   */
  adopt(key: string, out: RowWriter): number {
    let count = 0
    for (const part of this.#toAdopt(key)) {
      if (Object.keys(part.left_out).length > 0) continue
      const row = new RowWriter(part.head.length + part.extra.length + 256)
      writeFragment(row, { ...part, run_id: idsOf(key).run_id })
      out.raw(row.view())
      this.fragments.add(readFragment(new RowReader(row.view())))
      count++
    }
    this.#misfiled.delete(key)
    return count
  }

  /** Fragments of a touched TraceRun that are filed elsewhere only. */
  #toAdopt(key: string): StoredFragment[] {
    const [alias] = this.#relations(key)?.alias ?? []
    const parts = alias === undefined ? [] : this.fragments.of(alias)
    return [
      ...parts.filter((part) => sizeOf(part, 'extra') > 0 && !this.fragments.has(key, part.hash)),
      ...(this.#misfiled.get(key) ?? []),
    ]
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
  /** Of the id of a trace: the spans without a parent, if there are several. */
  roots: RootSpans | undefined
  /** It is a span that has the id of its trace. */
  is_root: boolean
}

function relationsOf(merged: MergedTraceRun, roots: RootSpans | undefined): Relations {
  const key = (id: string): string => keyOf(merged.workspace_id, id)
  const parts = spanParts(merged)
  const alias = aliasOf(merged)
  return {
    parents: neededParents(merged).map(key),
    owners: parts?.owners.map(key) ?? [],
    alias: alias === undefined ? [] : [key(alias)],
    span_id: parts?.span_id,
    roots,
    is_root: merged.head['span_id'] !== undefined && headUuid(merged, 'trace_id') === merged.id,
  }
}

function holds(head: Uint8Array, text: string): boolean {
  return Buffer.from(head.buffer, head.byteOffset, head.byteLength).includes(text)
}

/** TraceRuns by workspace, as the store is asked. */
export function groupKeys(keys: readonly string[]): WorkspaceIds[] {
  const groups = new Map<string, string[]>()
  for (const key of keys) {
    const { workspace_id, run_id } = idsOf(key)
    const group = groups.get(workspace_id)
    if (group) group.push(run_id)
    else groups.set(workspace_id, [run_id])
  }
  return [...groups].map(([workspace_id, run_ids]) => ({ workspace_id, run_ids }))
}
