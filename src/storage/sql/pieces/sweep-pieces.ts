import { chunksOf } from '../../../base/chunks.ts'
import type { SqlSession } from '../driver/database.ts'
import { hashesOf, isList, OF_OWNER, ownerValues, type TextOwner } from './large-text.ts'
import { LOCK_ALONE, LOCK_SHARED, pieceLock } from './piece-lock.ts'

/** Columns with texts that may be in pieces. */
const COLUMNS = [
  ['checkpoint_blobs', 'value'],
  ['checkpoint_writes', 'value'],
  ['runs', 'input'],
  ['thread_states', 'state_values'],
  ['event_chunks', 'data'],
] as const
/** Number of pieces that one statement deletes. */
const DELETED = 256

/**
 * Deletes the pieces of a thread that none of its texts has any more. Must be called in the transaction that deletes
 * texts, after it has deleted them. Does almost nothing for threads without pieces.
 */
export async function sweepPieces(
  session: SqlSession,
  dialect: 'sqlite' | 'postgres',
  owner: TextOwner,
): Promise<void> {
  const key = ownerValues(owner)
  const some = await session.query(`SELECT 1 AS there FROM value_pieces WHERE ${OF_OWNER} LIMIT 1`, key)
  if (some.length === 0) return
  if (dialect === 'postgres') await session.query(LOCK_ALONE, [pieceLock(owner)])
  const used = new Set<string>()
  for (const [table, column] of COLUMNS) {
    const lists = await session.query<{ list: string }>(
      `SELECT ${column} AS list FROM ${table} WHERE thread_id = ? AND deployment_id = ? AND workspace_id = ?
        AND ${isList(column)}`,
      key,
    )
    for (const { list } of lists) for (const hash of hashesOf(list)) used.add(hash)
  }
  const stored = await session.query<{ hash: string }>(`SELECT hash FROM value_pieces WHERE ${OF_OWNER}`, key)
  const unused = stored.map(({ hash }) => hash).filter((hash) => !used.has(hash))
  for (const hashes of chunksOf(unused, DELETED)) {
    const padded = Array.from({ length: DELETED }, (_, i) => hashes[i] ?? '')
    const places = padded.map(() => '?').join(', ')
    await session.query(`DELETE FROM value_pieces WHERE ${OF_OWNER} AND hash IN (${places})`, [
      ...key,
      ...padded,
    ])
  }
}

/** Makes `sweepPieces` for the thread wait until the end of this transaction. */
export async function keepPieces(
  session: SqlSession,
  dialect: 'sqlite' | 'postgres',
  owner: TextOwner,
): Promise<void> {
  if (dialect === 'postgres') await session.query(LOCK_SHARED, [pieceLock(owner)])
}

export async function copyPieces(session: SqlSession, owner: TextOwner, new_id: string): Promise<void> {
  await session.query(
    `INSERT INTO value_pieces (of_thread, hash, of_deployment, of_workspace, piece)
      SELECT CAST(? AS TEXT), hash, of_deployment, of_workspace, piece FROM value_pieces WHERE ${OF_OWNER}`,
    [new_id, ...ownerValues(owner)],
  )
}
