import { type StoredFragment, readFragments } from '../rows/fragment.ts'
import type { ParentLineage } from '../derive/lineage/lineage.ts'
import { mergeFragments } from '../derive/merge.ts'
import type { MergedTraceRun } from '../derive/merged-trace-run.ts'
import { mayBeSpan, splitRoots } from '../otel/span/roots.ts'
import { spanUuid } from '../otel/span/ids.ts'
import { spanParts } from '../otel/span/parts.ts'
import { MAX_DEPTH, parentLineage } from '../derive/lineage/parent-lineage.ts'

/** Fragments that can be read as often as needed, by the TraceRun id under which they are stored. */
export interface FragmentSource {
  /** Every id, in the order of the first fragments. */
  ids(): Iterable<string>
  /** None for an unknown id. */
  of(id: string): readonly StoredFragment[]
  /** Ids under which fragments of spans or log records are stored. */
  spans: ReadonlySet<string>
}

/** TraceRuns that are built from one source alone; no store is read. */
export interface GatheredTraceRuns {
  /** Merges one TraceRun after another, in the order of their first fragments. */
  traceRuns(): Iterable<MergedTraceRun>
  /** Returns the place of one of the TraceRuns in its trace; undefined for any other id. */
  parentOf(id: string): ParentLineage | undefined
}

/** Maximum number of places that are kept for further children. */
const MAX_PLACES = 10_000

/** The fragments of `rows`, in memory. */
export function fragmentsOf(rows: Uint8Array): FragmentSource {
  const groups = new Map<string, StoredFragment[]>()
  const spans = new Set<string>()
  for (const fragment of readFragments(rows)) {
    const { run_id } = fragment
    const group = groups.get(run_id)
    if (group) group.push(fragment)
    else groups.set(run_id, [fragment])
    if (mayBeSpan(fragment)) spans.add(run_id)
  }
  return { ids: () => groups.keys(), of: (id) => groups.get(id) ?? [], spans }
}

/** The TraceRuns of `source`, with log records joined to their spans; log records whose span is missing are left out. */
export function gatherTraceRuns(source: FragmentSource): GatheredTraceRuns {
  const groups = moveRootsAndParts(source)
  const places = new Map<string, ParentLineage | undefined>()
  const placeOf = (id: string, depth: number): ParentLineage | undefined => {
    const own = groups.owners.get(id) ?? id
    if (places.has(own) || depth > MAX_DEPTH) return places.get(own)
    const group = groups.of(own)
    if (group.length === 0) return undefined
    // TraceRuns whose parents form a cycle have no place.
    places.set(own, undefined)
    const place = parentLineage(headOf(group), (parent) => placeOf(parent, depth + 1))
    places.set(own, place)
    return place
  }
  return {
    *traceRuns() {
      for (const id of groups.ids()) yield mergeFragments(groups.of(id))
    },
    parentOf(id) {
      if (places.size > MAX_PLACES) places.clear()
      return placeOf(id, 0)
    },
  }
}

const NONE = new Uint8Array(0)

/** Facts from the fragments other than their payloads. */
function headOf(group: readonly StoredFragment[]): MergedTraceRun {
  return mergeFragments(group.map((fragment) => ({ ...fragment, extra: NONE, attachments: NONE })))
}

/** Position of a fragment: the id under which it is stored, and its index there. */
interface Place {
  id: string
  index: number
}

interface MovedFragments {
  ids(): Iterable<string>
  /** The fragments that belong to this TraceRun. */
  of(id: string): StoredFragment[]
  /** The owner's id for each id under which only parts are stored. */
  owners: ReadonlyMap<string, string>
}

/**
 * Gives each span without a parent, except the first of its trace, a TraceRun of its own, and moves parts to the
 * TraceRuns to which they belong. Only places of spans are kept, not their fragments.
 */
function moveRootsAndParts(source: FragmentSource): MovedFragments {
  const moved = new Map<string, Place[]>()
  const owners = new Map<string, string>()
  const placesOf = (id: string): Place[] => moved.get(id) ?? source.of(id).map((_, index) => ({ id, index }))
  const of = (id: string): StoredFragment[] => {
    const places = moved.get(id)
    if (places === undefined) return [...source.of(id)]
    const stored = new Map(places.map(({ id: storedId }) => [storedId, source.of(storedId)]))
    return places.map((place) => ({ ...stored.get(place.id)![place.index]!, run_id: id }))
  }
  const added = new Set<string>()
  for (const id of source.spans) {
    const stored = source.of(id)
    const roots = splitRoots(stored)
    if (roots === undefined) continue
    const indexOf = new Map(stored.map((fragment, index) => [fragment, index]))
    const placesIn = (fragments: readonly StoredFragment[]): Place[] =>
      fragments.map((fragment) => ({ id, index: indexOf.get(fragment)! }))
    for (const [spanId, fragments] of roots.others) {
      const run_id = spanUuid(spanId)
      if (source.of(run_id).length === 0) added.add(run_id)
      moved.set(run_id, [...placesOf(run_id), ...placesIn(fragments)])
    }
    moved.set(id, placesIn(roots.own))
  }
  for (const id of [...source.spans, ...added]) {
    const parts = spanParts(headOf(of(id)))
    if (parts === undefined) continue
    const owner = parts.owners.find((candidate) => {
      const theirs = of(candidate)
      return theirs.length > 0 && headOf(theirs).head['span_id'] === parts.span_id
    })
    if (owner !== undefined) {
      owners.set(id, owner)
      const whole = of(id)
      const theirs = placesOf(id).filter((_, index) => whole[index]!.extra.length > 0)
      moved.set(owner, [...placesOf(owner), ...theirs])
    }
    moved.set(id, [])
  }
  return {
    *ids() {
      for (const id of source.ids()) if (moved.get(id)?.length !== 0) yield id
      for (const id of added) if (moved.get(id)?.length !== 0) yield id
    },
    of,
    owners,
  }
}
