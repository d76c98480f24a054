import { createHash } from 'node:crypto'
import type { TextOwner } from './large-text.ts'

/**
 * Locks of Postgres on the pieces of a thread, up to the end of the transaction. Transactions that store texts share
 * it; one that deletes unused pieces has it alone, so that it sees all texts. SQLite has one writer at a time.
 */
export const LOCK_SHARED = 'SELECT pg_advisory_xact_lock_shared(CAST(? AS BIGINT))'
export const LOCK_ALONE = 'SELECT pg_advisory_xact_lock(CAST(? AS BIGINT))'

/** The parameter of the locks. */
export function pieceLock({ thread_id, deployment_id, workspace_id }: TextOwner): string {
  const name = `weir:pieces:${thread_id}/${deployment_id}/${workspace_id}`
  return createHash('sha256').update(name).digest().readBigInt64BE().toString()
}
