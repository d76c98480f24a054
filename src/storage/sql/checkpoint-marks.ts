import { hash } from 'node:crypto'
import type { Tenant } from '../../runs/model.ts'
import { type CheckpointRow, type CheckpointScan, readCheckpoints } from './checkpoint-rows.ts'
import type { SqlSession } from './database.ts'

/** Changes when anything of the checkpoint does: it was put again, tasks have written to it, writes were rolled back. */
export interface CheckpointMark {
  checkpoint_id: string
  mark: string
}

interface WritesOf {
  checkpoint_id: string
  count: number
  last: number
}

/** The marks of a thread's own checkpoints, those of its subgraphs left out; newest first. */
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
  const [newest, oldest] = [rows[0], rows.at(-1)]
  if (newest === undefined || oldest === undefined) return new Map()
  const writes = await session.query<WritesOf>(
    `SELECT checkpoint_id, count(*) AS count, max(written_at) AS last FROM checkpoint_writes
      WHERE thread_id = ? AND checkpoint_ns = '' AND checkpoint_id BETWEEN ? AND ?
      AND deployment_id = ? AND workspace_id = ? GROUP BY checkpoint_id`,
    [newest.thread_id, oldest.checkpoint_id, newest.checkpoint_id, tenant.deployment_id, tenant.workspace_id],
  )
  return new Map(writes.map((one) => [one.checkpoint_id, one]))
}
