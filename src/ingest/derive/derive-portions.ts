import { idsOf, type SizedColumn, SIZED_COLUMNS, sizeOf } from '../../trace/rows/fragment.ts'
import type { PayloadWant } from '../../trace/derive/payload-plan.ts'

/** Columns of stored fragments to read, all of one workspace. */
export interface WorkspaceWants {
  workspace_id: string
  wants: FragmentWant[]
}

/** Columns of one stored fragment to read. */
export interface FragmentWant {
  run_id: string
  /** Content hash, 32 hex digits. */
  hash: string
  columns: SizedColumn[]
  /** Bytes of the wanted columns, and of the fragment's other columns. */
  bytes: number
  rest: number
}

/**
 * Maximum bytes that are read back together, unless a single column is larger. The engine needs several times as much
 * memory.
 */
export const PORTION_BYTES = 32 * 1024 * 1024

/** Removes wanted columns from the front of `pending`: as many as fit into a portion, and at least one entry. */
export function takePortion(pending: PayloadWant[], maxBytes = PORTION_BYTES): PayloadWant[] {
  let bytes = 0
  let count = 0
  for (const want of pending) {
    if (count > 0 && bytes + want.bytes > maxBytes) break
    bytes += want.bytes
    count++
  }
  return pending.splice(0, count)
}

/** The wanted columns, grouped by workspace and fragment as the store's queries need them. */
export function byFragment(wants: readonly PayloadWant[]): WorkspaceWants[] {
  const groups = new Map<string, Map<string, FragmentWant>>()
  for (const { fragment, column, bytes } of wants) {
    const { workspace_id, run_id } = idsOf(fragment.key)
    let group = groups.get(workspace_id)
    if (!group) groups.set(workspace_id, (group = new Map()))
    const id = fragment.key + fragment.hash
    let want = group.get(id)
    if (!want) {
      const rest = SIZED_COLUMNS.reduce((sum, each) => sum + sizeOf(fragment, each), 0)
      const hash = Buffer.from(fragment.hash, 'latin1').toString('hex')
      group.set(id, (want = { run_id, hash, columns: [], bytes: 0, rest }))
    }
    want.columns.push(column)
    want.bytes += bytes
    want.rest -= bytes
  }
  return [...groups].map(([workspace_id, group]) => ({ workspace_id, wants: [...group.values()] }))
}
