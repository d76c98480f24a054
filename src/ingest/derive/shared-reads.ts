import { CONTENT_OFFSET } from '../../trace/rows/fragment.ts'
import { RowReader } from '../../trace/rows/row-binary.ts'
import type { WorkspaceIds } from './derive-batch.ts'
import type { WaitingChildren } from './deriver.ts'

// The lanes of a batch ask for the same kind of rows at the same time. One statement reads for all of them, because
// most of the cost of a statement does not depend on the number of ids.

/** The ids of all parts, by workspace. */
export function askedByAny(parts: readonly (readonly WorkspaceIds[])[]): WorkspaceIds[] {
  const all = parts.flat()
  if (parts.length === 1) return all
  const groups = new Map<string, Set<string>>()
  for (const { workspace_id, run_ids } of all) {
    const group = groups.get(workspace_id)
    if (group === undefined) groups.set(workspace_id, new Set(run_ids))
    else for (const id of run_ids) group.add(id)
  }
  return Array.from(groups, ([workspace_id, ids]) => ({ workspace_id, run_ids: [...ids] }))
}

/** For each part, those of `rows` (OUTLINE_COLUMNS) that it asked for. */
export function outlinesByPart(
  rows: readonly Uint8Array[],
  parts: readonly (readonly WorkspaceIds[])[],
): Uint8Array[][] {
  const found = parts.map((): Uint8Array[] => [])
  if (parts.length === 1) found[0]!.push(...rows)
  else if (rows.some(({ length }) => length > 0)) {
    const askers = askersOf(parts)
    for (const some of rows) {
      const own = parts.map((): Uint8Array[] => [])
      for (const { id, row } of outlinesIn(some))
        for (const part of askers.get(id) ?? []) own[part]!.push(row)
      for (const [part, pieces] of own.entries())
        if (pieces.length > 0) found[part]!.push(Buffer.concat(pieces))
    }
  }
  return found
}

/** For each part, the children that wait for TraceRuns that it asked for. */
export function childrenByPart(
  children: readonly WaitingChildren[],
  parts: readonly (readonly WorkspaceIds[])[],
): WaitingChildren[][] {
  if (parts.length === 1 || children.length === 0) return parts.map(() => [...children])
  const askers = askersOf(parts)
  return parts.map((_, part) =>
    children.map(({ workspace_id, pairs }) => ({
      workspace_id,
      pairs: pairs.filter(({ parent_run_id }) => askers.get(workspace_id + parent_run_id)?.includes(part)),
    })),
  )
}

/** The numbers of the parts that asked for a TraceRun, by workspace and id. */
function askersOf(parts: readonly (readonly WorkspaceIds[])[]): Map<string, number[]> {
  const askers = new Map<string, number[]>()
  for (const [part, groups] of parts.entries())
    for (const { workspace_id, run_ids } of groups)
      for (const id of run_ids) {
        const known = askers.get(workspace_id + id)
        if (known === undefined) askers.set(workspace_id + id, [part])
        else known.push(part)
      }
  return askers
}

const SIZE_BYTES = 4

function* outlinesIn(rows: Uint8Array): Generator<{ id: string; row: Uint8Array }> {
  const reader = new RowReader(rows)
  while (!reader.done) {
    const from = reader.at
    const id = reader.uuid() + reader.uuid()
    reader.at = from + CONTENT_OFFSET
    reader.skip(reader.varint()) // the head
    reader.skip(reader.varint() * SIZE_BYTES)
    yield { id, row: rows.subarray(from, reader.at) }
  }
}
