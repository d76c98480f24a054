import {
  idsOf,
  keyOf,
  readFragment,
  SIZED_COLUMNS,
  sizeOf,
  type StoredFragment,
  writeFragment,
} from '../../trace/rows/fragment.ts'
import { neededParents } from '../../trace/derive/lineage/lineage.ts'
import { headUuid, mergeFragments } from '../../trace/derive/merge.ts'
import type { MergedTraceRun } from '../../trace/derive/merged-trace-run.ts'
import { spanUuid } from '../../trace/otel/span/ids.ts'
import { type RootSpans, splitRoots } from '../../trace/otel/span/roots.ts'
import { aliasOf, spanParts } from '../../trace/otel/span/parts.ts'
import { MAX_PAYLOAD_BYTES, type PayloadWant, planPayload } from '../../trace/derive/payload-plan.ts'
import { RowReader, RowWriter } from '../../trace/rows/row-binary.ts'
import { FragmentSet } from './fragment-set.ts'
import type { OpenFragments } from './open-fragments.ts'

/** TraceRuns of one workspace. */
export interface WorkspaceIds {
  workspace_id: string
  run_ids: string[]
}

/** TraceRuns whose fragments must be read before a batch can be derived. */
export interface BatchNeeds {
  outlines: WorkspaceIds[]
  /** Whether these include TraceRuns of which this part of the batch has no fragment, so that another part may. */
  of_others: boolean
  children_of: WorkspaceIds[]
  /**
   * Traces whose id may now belong to another root. The TraceRuns below the root with that id must be derived again.
   */
  below: WorkspaceIds[]
}

/**
 * Number of levels of ancestors that are read. In deeper chains without any dotted_order, places stay provisional.
 */
const MAX_ROUNDS = 20
const NONE = new Uint8Array(0)

/** The data from which one batch is derived. */
export class DeriveBatch {
  /** Fragments of the batch, cached fragments, and outlines of stored fragments. */
  readonly fragments = new FragmentSet()
  /** TraceRuns to derive, in order of arrival. */
  readonly touched = new Set<string>()
  /** TraceRuns that have a fragment in the batch. */
  readonly own = new Set<string>()
  /** TraceRuns whose fragments have been requested or are complete. */
  readonly complete = new Set<string>()
  /** Heads merged so far, with the state of the fragments that they were merged from. */
  readonly #heads = new Map<string, { of: number; merged: MergedTraceRun }>()
  /** Relations computed so far, with the state of the fragments that they follow from. */
  readonly #known = new Map<string, { of: number; relations: Relations | undefined }>()
  /** TraceRuns whose waiting children have been requested. */
  readonly #asked = new Set<string>()
  /** Spans without a parent in the batch: keys and hashes of their fragments. */
  readonly #roots = new Set<string>()
  /** Fragments that are stored under the id of their trace but belong to another TraceRun, by that TraceRun's key. */
  readonly #misfiled = new Map<string, StoredFragment[]>()
  /** Traces whose first root may have changed; the value is true once the TraceRuns below it have been requested. */
  readonly #rerooted = new Map<string, boolean>()
  #rounds = 0

  touch(fragment: StoredFragment): void {
    this.fragments.add(fragment)
    this.touched.add(fragment.key)
    this.own.add(fragment.key)
    const { head, key, hash } = fragment
    if (holds(head, 'span_id') && !holds(head, 'parent_run_id')) this.#roots.add(key + hash)
  }

  /** Adds the cached fragments of the touched TraceRuns. */
  remember(memory: OpenFragments): void {
    for (const key of this.touched) {
      const remembered = memory.take(key)
      if (!remembered) continue
      for (const fragment of remembered) this.fragments.add(fragment)
      this.complete.add(key)
    }
  }

  /** The merged head of a TraceRun; undefined if none of its fragments is loaded. */
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

  /**
   * Returns the TraceRuns whose fragments must be read, and the parents whose waiting children must be read.
   */
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
      of_others: missing.some((key) => !this.own.has(key)),
      children_of: groupKeys(unasked),
      below: groupKeys(below),
    }
  }

  /**
   * Separates the spans without a parent that are stored under the id of their trace: each except the first becomes a
   * TraceRun of its own (docs/adr/0012).
   */
  #separateRoots(): void {
    for (const key of [...this.fragments.keys()]) {
      const roots = this.#relations(key)?.roots
      if (roots === undefined || !this.complete.has(key)) continue
      const isNew = ({ hash }: StoredFragment): boolean => this.#roots.has(key + hash)
      const hasNewFirst = roots.own.some(isNew)
      // Another root may have had the id of the trace until now; the descendants of that root must be placed again.
      if (hasNewFirst && !this.#rerooted.has(key)) this.#rerooted.set(key, false)
      for (const [spanId, fragments] of roots.others) {
        const other = keyOf(idsOf(key).workspace_id, spanUuid(spanId))
        if (hasNewFirst || fragments.some(isNew)) this.touched.add(other)
        if (this.complete.has(other)) this.#takeMisfiled(other, fragments)
      }
    }
  }

  /**
   * Adds fragments to the TraceRun to which they belong, except those that it has already; their payloads are read
   * later.
   */
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

  /** Number of known roots of the trace other than the one with its id. */
  otherRoots(key: string): number {
    return this.#relations(key)?.roots?.others.size ?? 0
  }

  /** The completely loaded roots under which spans are placed: their keys, and how many fragments of each are known. */
  rootsUsed(): { key: string; fragments: number }[] {
    return [...this.fragments.keys()].flatMap((key) =>
      this.complete.has(key) && this.#relations(key)?.is_root
        ? [{ key, fragments: this.fragments.of(key).length }]
        : [],
    )
  }

  /** TraceRuns that are needed to derive the loaded ones, and whose fragments have not been requested. */
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

  /**
   * The relations of a TraceRun to others; undefined for a TraceRun that was sent with its place, as LangSmith clients
   * usually do.
   */
  #relations(key: string): Relations | undefined {
    const fragments = this.fragments.of(key)
    if (fragments.length === 0) return undefined
    const of = this.fragments.changes(key)
    const known = this.#known.get(key)
    if (known?.of === of) return known.relations
    const isPlaced = fragments.some(({ head }) => holds(head, 'dotted_order') && !holds(head, 'span_id'))
    const relations = isPlaced ? undefined : relationsOf(this.head(key)!, splitRoots(fragments))
    this.#known.set(key, { of, relations })
    return relations
  }

  /** Marks the owners of touched parts, so that they are derived too. */
  touchOwners(): void {
    for (const key of this.touched) {
      const owner = this.ownerOf(key)
      if (owner !== undefined) this.touched.add(owner)
    }
  }

  /** The loaded TraceRun to which the parts stored under `key` belong. */
  ownerOf(key: string): string | undefined {
    const relations = this.#relations(key)
    return relations?.owners.find((owner) => this.head(owner)?.head['span_id'] === relations.span_id)
  }

  /** The payloads that must be read to derive a touched TraceRun, including those of log records that it will adopt. */
  wantsOf(key: string): PayloadWant[] {
    const foreign = this.#toAdopt(key)
    const misfiled = new Set(foreign.map(({ hash }) => hash))
    // Fragments to adopt are fetched from the id under which they are stored.
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
   * Copies fragments that are stored under another id to a touched TraceRun: log records under the id of its span, or
   * the span under the id of the trace. The copies are appended to `out`. Returns their number.
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

  /** Fragments of a touched TraceRun that are stored only under another id. */
  #toAdopt(key: string): StoredFragment[] {
    const [alias] = this.#relations(key)?.alias ?? []
    const parts = alias === undefined ? [] : this.fragments.of(alias)
    return [
      ...parts.filter((part) => sizeOf(part, 'extra') > 0 && !this.fragments.has(key, part.hash)),
      ...(this.#misfiled.get(key) ?? []),
    ]
  }
}

interface Relations {
  /** Possible parents, if the place of the TraceRun was not sent. */
  parents: string[]
  /** Possible owners, if the TraceRun is a part. */
  owners: string[]
  /** The key under which its parts may be stored: one or none. */
  alias: string[]
  span_id: string | undefined
  /** If the key is the id of a trace: the trace's spans without a parent, if there are several. */
  roots: RootSpans | undefined
  /** True for a span that has the id of its trace. */
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

/** Names of fields as they are written in a head. */
const FIELDS = {
  span_id: Buffer.from('"span_id"'),
  parent_run_id: Buffer.from('"parent_run_id"'),
  dotted_order: Buffer.from('"dotted_order"'),
}

function holds(head: Uint8Array, field: keyof typeof FIELDS): boolean {
  const bytes = Buffer.isBuffer(head) ? head : Buffer.from(head.buffer, head.byteOffset, head.byteLength)
  return bytes.includes(FIELDS[field])
}

/** TraceRuns grouped by workspace, as the store's queries need them. */
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
