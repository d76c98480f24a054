import { chunksOf } from '../../../base/chunks.ts'
import type { Database, TxSession } from '../driver/database.ts'
import { sweepPieces } from '../pieces/sweep-pieces.ts'
import { inList, KEY, keyValues, type ThreadKey } from './rows.ts'

/** Tables of a thread's checkpoints; each row has the id of the run that wrote it. */
export const CHECKPOINT_TABLES = ['checkpoints', 'checkpoint_blobs', 'checkpoint_writes']
/** Maximum number of ids in one statement. */
export const MAX_IDS = 256

/** Deletes runs and the checkpoints that they have written; a run that never started has none. */
export async function deleteRuns(
  session: TxSession,
  dialect: Database['dialect'],
  key: ThreadKey,
  runs: readonly { run_id: string; started_at: number | null }[],
): Promise<void> {
  // The runs are deleted first. A checkpoint that is being written for one of them is then either complete or refused.
  for (const chunk of chunksOf(runs, MAX_IDS)) {
    const { places, values } = inList(chunk.map(({ run_id }) => run_id))
    session.send(`DELETE FROM runs WHERE run_id IN ${places} AND ${KEY}`, [...values, ...keyValues(key)])
    session.send(
      `DELETE FROM webhooks WHERE run_id IN ${places} AND deployment_id = ? AND workspace_id = ? AND due_at IS NULL`,
      [...values, key.deployment_id, key.workspace_id],
    )
  }
  for (const { run_id, started_at } of runs) {
    if (started_at === null) continue
    for (const table of CHECKPOINT_TABLES) {
      session.send(`DELETE FROM ${table} WHERE run_id = ? AND ${KEY}`, [run_id, ...keyValues(key)])
    }
  }
  await sweepPieces(session, dialect, key)
}
