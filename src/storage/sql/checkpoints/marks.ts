import { hash } from 'node:crypto'
import type { Tenant } from '../../../runs/model.ts'
import { type CheckpointRow, type CheckpointScan, readCheckpoints } from './rows.ts'
import type { SqlSession } from '../driver/database.ts'

/**
 * Values that differ after each change of the checkpoint: it was put again, tasks wrote to it, or writes were rolled
 * back.
 */
export interface CheckpointMark {
  checkpoint_id: string
  mark: string
}

interface WritesOf {
  checkpoint_id: string
  count: number
  last: number
}

/** The marks of the graph's own checkpoints of a thread, without those of subgraphs; newest first. */
export async function readMarks(
  session: SqlSession,
  tenant: Tenant,
  scan: Pick<CheckpointScan, 'checkpoint_id' | 'before' | 'limit'> & { thread_id: string },
): Promise<CheckpointMark[]> {
  const rows = await readCheckpoints(session, tenant, { ...scan, checkpoint_ns: '' })
  const written = await writesBetween(session, tenant, rows)
  return rows.map((row) => {
    const { checkpoint_id, parent_id, checkpoint, refs, metadata } = row
    const writes = written.get(checkpoint_id) ?? null
    const all = JSON.stringify([parent_id, checkpoint, refs, metadata, writes?.count, writes?.last])
    return { checkpoint_id, mark: hash('sha1', all, 'base64') }
  })
}

async function writesBetween(
  session: SqlSession,
  tenant: Tenant,
  rows: readonly CheckpointRow[],
): Promise<Map<string, WritesOf>> {
  const ids = rows.map(({ checkpoint_id }) => checkpoint_id).sort()
  const [thread_id, first, last] = [rows[0]?.thread_id, ids[0], ids.at(-1)]
  if (thread_id === undefined || first === undefined || last === undefined) return new Map()
  const writes = await session.query<WritesOf>(
    `SELECT checkpoint_id, count(*) AS count, max(written_at) AS last FROM checkpoint_writes
      WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id BETWEEN ? AND ?
      AND deployment_id = ? AND workspace_id = ? GROUP BY checkpoint_id`,
    [thread_id, first, last, tenant.deployment_id, tenant.workspace_id],
  )
  return new Map(writes.map((one) => [one.checkpoint_id, one]))
}
