import { RowReader, type RowWriter } from './row-binary.ts'
import { BASIS, type UsageClaim } from './usage-claim.ts'

/**
 * A row of table `usage_traces`: that a trace counts in an hour, or, deleted, that it does not count there. Of rows
 * with the same workspace, hour and trace the highest version is right.
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

/** Columns of table `usage_traces` in the order of the encoding. */
export const COUNTED_TRACE_COLUMNS = [
  'workspace_id',
  'hour',
  'trace_id',
  'version',
  'is_deleted',
  'start',
  'project_id',
  'user_id',
  'api_key_id',
] as const

/** Claims that voiding ones leave standing are compared by rank, which is below this. */
const RANKS = 1n << 112n

/**
 * Where one trace counts, from all claims on it: one live row for the best claim that is not voided, and a deleted
 * one for each other hour that any claim is in, because it may have counted there before. Versions rise with the
 * claims known: first with what is voided, then with the best rank. Whoever knows more claims overrides whoever
 * knows fewer, whatever the order of their writing; whoever knows the same writes the same.
 */
export function settleClaims(claims: readonly UsageClaim[]): CountedTrace[] {
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

function countedTrace(claim: UsageClaim, version: bigint, is_deleted: number): CountedTrace {
  const { workspace_id, hour, trace_id, start, project_id, user_id, api_key_id } = claim
  return { workspace_id, hour, trace_id, version, is_deleted, start, project_id, user_id, api_key_id }
}

/** Appends one row of table `usage_traces`. */
export function writeCountedTrace(out: RowWriter, row: CountedTrace): void {
  out.uuid(row.workspace_id)
  out.u32(row.hour >>> 0)
  out.uuid(row.trace_id)
  out.i128(row.version)
  out.u8(row.is_deleted)
  out.i64(BigInt(row.start))
  out.uuid(row.project_id)
  out.uuid(row.user_id)
  out.uuid(row.api_key_id)
}

/** Every row of `rows`. */
export function* readCountedTraces(rows: Uint8Array): Generator<CountedTrace> {
  const from = new RowReader(rows)
  while (!from.done)
    yield {
      workspace_id: from.uuid(),
      hour: from.u32() | 0,
      trace_id: from.uuid(),
      version: from.i128(),
      is_deleted: from.u8(),
      start: Number(from.i64()),
      project_id: from.uuid(),
      user_id: from.uuid(),
      api_key_id: from.uuid(),
    }
}
