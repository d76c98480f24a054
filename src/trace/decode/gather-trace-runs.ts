import { type StoredFragment, readFragments } from '../rows/fragment.ts'
import type { ParentLineage } from '../derive/lineage/lineage.ts'
import { mergeFragments } from '../derive/merge.ts'
import type { MergedTraceRun } from '../derive/merged-trace-run.ts'
import { splitRoots } from '../otel/span/roots.ts'
import { spanUuid } from '../otel/span/ids.ts'
import { spanParts } from '../otel/span/parts.ts'
import { MAX_DEPTH, parentLineage } from '../derive/lineage/parent-lineage.ts'

/** TraceRuns that are built from these rows alone; no store is read. */
export interface GatheredTraceRuns {
  /** TraceRuns in the order of their first fragments. */
  traceRuns: MergedTraceRun[]
  /** Returns the place of one of `traceRuns` in its trace; undefined for any other id. */
  parentOf(id: string): ParentLineage | undefined
}

/** The TraceRuns of `rows`, with log records joined to their spans; log records whose span is missing are left out. */
export function gatherTraceRuns(rows: Uint8Array): GatheredTraceRuns {
  const groups = new Map<string, StoredFragment[]>()
  for (const fragment of readFragments(rows)) {
    const group = groups.get(fragment.run_id)
    if (group) group.push(fragment)
    else groups.set(fragment.run_id, [fragment])
  }
  separateRoots(groups)
  const owners = adoptParts(groups)
  const merged = new Map([...groups].map(([id, group]) => [id, mergeFragments(group)]))
  const places = new Map<string, ParentLineage | undefined>()
  const parentOf = (id: string, depth = 0): ParentLineage | undefined => {
    const own = owners.get(id) ?? id
    const found = merged.get(own)
    if (places.has(own) || found === undefined || depth > MAX_DEPTH) return places.get(own)
    // TraceRuns whose parents form a cycle have no place.
    places.set(own, undefined)
    const place = parentLineage(found, (parent) => parentOf(parent, depth + 1))
    places.set(own, place)
    return place
  }
  return { traceRuns: [...merged.values()], parentOf: (id) => parentOf(id) }
}

const NONE = new Uint8Array(0)

/** Facts from the fragments other than their payloads. */
function headOf(group: readonly StoredFragment[]): MergedTraceRun {
  return mergeFragments(group.map((fragment) => ({ ...fragment, extra: NONE, attachments: NONE })))
}

/** Gives each span without a parent, except the first of its trace, a new TraceRun id. */
function separateRoots(groups: Map<string, StoredFragment[]>): void {
  for (const [id, group] of [...groups]) {
    const roots = splitRoots(group)
    if (roots === undefined) continue
    groups.set(id, roots.own)
    for (const [spanId, fragments] of roots.others) {
      const run_id = spanUuid(spanId)
      const moved = fragments.map((fragment) => ({ ...fragment, run_id }))
      groups.set(run_id, [...(groups.get(run_id) ?? []), ...moved])
    }
  }
}

/**
 * Moves parts to the TraceRuns to which they belong; returns the owner's id for each id under which parts were stored.
 */
function adoptParts(groups: Map<string, StoredFragment[]>): Map<string, string> {
  const owners = new Map<string, string>()
  for (const [id, group] of groups) {
    const parts = spanParts(headOf(group))
    if (parts === undefined) continue
    const owner = parts.owners.find((candidate) => {
      const theirs = groups.get(candidate)
      return theirs !== undefined && headOf(theirs).head['span_id'] === parts.span_id
    })
    groups.delete(id)
    if (owner === undefined) continue
    owners.set(id, owner)
    for (const part of group) if (part.extra.length > 0) groups.get(owner)!.push({ ...part, run_id: owner })
  }
  return owners
}
