import type { SqlSession } from '../driver/database.ts'

/** Days for which new projects of the workspace keep their runs; 0 = for ever, null = that of the server. */
export async function retentionOf(session: SqlSession, workspace_id: string): Promise<number | null> {
  const sql = 'SELECT retention_days FROM workspaces WHERE id = ?'
  const [row] = await session.query<{ retention_days: number | null }>(sql, [workspace_id])
  return row?.retention_days ?? null
}

export async function putRetention(
  session: SqlSession,
  workspace_id: string,
  days: number | null,
): Promise<void> {
  await session.query('UPDATE workspaces SET retention_days = ? WHERE id = ?', [days, workspace_id])
}
