import { i128, i32, rowFormat, ticks, u8, uuid } from '../../trace/rows/row-format.ts'
import { BASIS, type UsageClaim } from './claim.ts'

/**
 * A row of table `usage_traces`: the trace counts in this hour, or no longer counts if `is_deleted` is 1. For each
 * workspace, hour and trace the row with the highest version is valid.
 */
export interface CountedTrace {
  workspace_id: string
  hour: number
  trace_id: string
  version: bigint
  is_deleted: number
  /** Epoch milliseconds. */
  start: number
  project_id: string
  user_id: string
  api_key_id: string
}

/** Rows of table `usage_traces`. */
export const COUNTED_TRACE_ROWS = rowFormat<CountedTrace>({
  workspace_id: uuid,
  hour: i32,
  trace_id: uuid,
  version: i128,
  is_deleted: u8,
  start: ticks,
  project_id: uuid,
  user_id: uuid,
  api_key_id: uuid,
})

/** Upper bound (exclusive) of the ranks of claims. */
const RANKS = 1n << 112n

/**
 * The rows that count one trace, from all claims on it. The best claim that is not voided has a live row.
 * Each other hour with a claim has a deleted row, because the trace may have counted there before. Versions
 * increase with the number of voided claims and then with the best rank, so a process that has read more
 * claims overrides one that has read fewer, in any order of writes. Processes with the same claims write the
 * same rows.
 */
export function countedTraces(claims: readonly UsageClaim[]): CountedTrace[] {
  const voids = new Set(claims.map(({ basis }) => basis))
  const notItself = voids.has(BASIS.not_itself)
  const notParent = voids.has(BASIS.not_parent)
  let best: UsageClaim | undefined
  const others = new Map<number, UsageClaim>()
  for (const claim of claims) {
    if (claim.basis === BASIS.not_itself || claim.basis === BASIS.not_parent) continue
    others.set(claim.hour, claim)
    if (claim.basis === BASIS.itself && notItself) continue
    if (claim.basis === BASIS.parent && notParent) continue
    if (best === undefined || claim.rank > best.rank) best = claim
  }
  const known = ((notItself ? 2n : 0n) + (notParent ? 1n : 0n)) * RANKS + (best?.rank ?? 0n)
  const rows: CountedTrace[] = []
  if (best) {
    others.delete(best.hour)
    rows.push(countedTrace(best, known * 2n + 1n, 0))
  }
  for (const claim of others.values()) rows.push(countedTrace(claim, known * 2n, 1))
  return rows
}

/** The rank of the claim by which a trace counts, from the version of its row. */
export function rankOfVersion(version: bigint): bigint {
  return (version >> 1n) % RANKS
}

function countedTrace(claim: UsageClaim, version: bigint, is_deleted: number): CountedTrace {
  const { workspace_id, hour, trace_id, start, project_id, user_id, api_key_id } = claim
  return { workspace_id, hour, trace_id, version, is_deleted, start, project_id, user_id, api_key_id }
}
