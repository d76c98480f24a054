import { chunksOf } from '../../../base/chunks.ts'
import { type SqlSession, type SqlValue, storableText } from '../driver/database.ts'
import { cutIntoPieces, type LargeText, OF_OWNER, ownerValues } from './large-text.ts'
import { LOCK_SHARED, pieceLock } from './piece-lock.ts'

const INTO = 'INSERT INTO value_pieces (of_thread, of_deployment, of_workspace, hash, piece) VALUES'
const ROW = '(?, ?, ?, ?, ?)'
const HAS = `SELECT 1 AS there FROM value_pieces WHERE ${OF_OWNER} AND hash = ?`
/** Number of pieces that one statement inserts into Postgres. */
const INSERTED = 16

/** Runs one statement of the current transaction on SQLite. */
type Execute = (sql: string, params: readonly SqlValue[]) => readonly unknown[]

/** Stores the missing pieces of a text on SQLite; returns the list of all its pieces. */
export function keepText(execute: Execute, large: LargeText): string {
  const { list, pieces } = cutIntoPieces({ ...large, text: storableText(large.text) })
  const owner = ownerValues(large.owner)
  for (const { hash, piece } of pieces)
    if (execute(HAS, [...owner, hash]).length === 0) execute(`${INTO} ${ROW}`, [...owner, hash, piece()])
  return list
}

/** As `keepText`, on Postgres. */
export async function keepTextShared(
  { query }: Pick<SqlSession, 'query'>,
  large: LargeText,
): Promise<string> {
  const owner = ownerValues(large.owner)
  const [, stored] = await Promise.all([
    query(LOCK_SHARED, [pieceLock(large.owner)]),
    query<{ hash: string }>(`SELECT hash FROM value_pieces WHERE ${OF_OWNER}`, owner),
  ])
  const { list, pieces } = cutIntoPieces({ ...large, text: storableText(large.text) })
  const known = new Set(stored.map(({ hash }) => hash))
  const missing = pieces.filter(({ hash }) => {
    if (known.has(hash)) return false
    known.add(hash)
    return true
  })
  for (const some of chunksOf(missing, INSERTED)) {
    const params = some.flatMap(({ hash, piece }) => [...owner, hash, piece()])
    // A transaction of another process may have stored the same piece meanwhile.
    await query(`${INTO} ${some.map(() => ROW).join(', ')} ON CONFLICT DO NOTHING`, params)
  }
  return list
}
