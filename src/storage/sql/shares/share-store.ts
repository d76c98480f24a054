import { chunksOf } from '../../../base/chunks.ts'
import { AppError } from '../../../base/errors.ts'
import type { Clock } from '../../../base/clock.ts'
import { newUuid } from '../../../base/ids.ts'
import type { Share, ShareStore, ShareSubject } from '../../../ingest/share-store.ts'
import type { Database, SqlSession } from '../driver/database.ts'

interface ShareRow {
  token: string
  workspace_id: string
  kind: 'trace' | 'thread'
  project_id: string
  subject_id: string
}

/** Maximum number of shares in a workspace. */
const MAX_SHARES = 1_000_000
/** Maximum number of values in one statement. */
const SLICE = 500
const OF_THREAD = `workspace_id = ? AND kind = 'thread' AND project_id = ? AND subject_id = ?`

function toShare({ token, workspace_id, kind, project_id, subject_id }: ShareRow): Share {
  const subject: ShareSubject =
    kind === 'trace'
      ? { kind, project_id, trace_id: subject_id }
      : { kind, project_id, thread_id: subject_id }
  return { token, workspace_id, subject }
}

function subjectId(subject: ShareSubject): string {
  return subject.kind === 'trace' ? subject.trace_id : subject.thread_id
}

async function createShare(
  session: SqlSession,
  workspace_id: string,
  subject: ShareSubject,
  { wanted, now }: { wanted: string; now: number },
): Promise<{ token: string; isNew: boolean }> {
  const { kind, project_id } = subject
  const subject_id = subjectId(subject)
  // A trace has only one share, even if its root has moved to another project since.
  const [known] =
    kind === 'thread'
      ? await session.query<ShareRow>(`SELECT token FROM shares WHERE ${OF_THREAD}`, [
          workspace_id,
          project_id,
          subject_id,
        ])
      : await session.query<ShareRow>(`SELECT token FROM shares WHERE ${ofTraces([subject_id])}`, [
          workspace_id,
          subject_id,
        ])
  if (known) return { token: known.token, isNew: false }
  const [count] = await session.query<{ n: number }>(
    'SELECT count(*) AS n FROM shares WHERE workspace_id = ?',
    [workspace_id],
  )
  if ((count?.n ?? 0) >= MAX_SHARES) throw new AppError('quota_reached')
  for (const token of [wanted, newUuid()]) {
    const made = await session.query(
      `INSERT INTO shares (token, workspace_id, kind, project_id, subject_id, created_at)
       VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING token`,
      [token, workspace_id, kind, project_id, subject_id, now],
    )
    if (made.length > 0) return { token, isNew: true }
  }
  throw new AppError('internal', { message: 'A random token is in use.' })
}

/** Shares in a SQL database that has been migrated. */
export function createShareStore(database: Database, clock: Clock): ShareStore {
  return {
    create: (workspace_id, subject, wanted = newUuid()) =>
      database.tx(`shares:${workspace_id}`, (session) =>
        createShare(session, workspace_id, subject, { wanted, now: clock.now() }),
      ),
    async find(token) {
      const [row] = await database.query<ShareRow>(
        `SELECT token, workspace_id, kind, project_id, subject_id FROM shares
         JOIN workspaces ON workspaces.id = shares.workspace_id WHERE token = ? AND deleted_at IS NULL`,
        [token],
      )
      return row && toShare(row)
    },
    async tokensOfTraces(workspace_id, trace_ids) {
      const found = new Map<string, string>()
      for (const some of chunksOf(trace_ids, SLICE)) {
        const rows = await database.query<ShareRow>(
          `SELECT subject_id, token FROM shares WHERE ${ofTraces(some)}`,
          [workspace_id, ...some],
        )
        for (const { subject_id, token } of rows) found.set(subject_id, token)
      }
      return found
    },
    async tokenOfThread(workspace_id, project_id, thread_id) {
      const sql = `SELECT token FROM shares WHERE ${OF_THREAD}`
      const [row] = await database.query<ShareRow>(sql, [workspace_id, project_id, thread_id])
      return row?.token
    },
    async removeThread(workspace_id, project_id, thread_id) {
      const sql = `DELETE FROM shares WHERE ${OF_THREAD} RETURNING token`
      return (await database.query(sql, [workspace_id, project_id, thread_id])).length > 0
    },
    async removeTraces(workspace_id, trace_ids) {
      let removed = 0
      for (const some of chunksOf(trace_ids, SLICE)) {
        const sql = `DELETE FROM shares WHERE ${ofTraces(some)} RETURNING token`
        removed += (await database.query(sql, [workspace_id, ...some])).length
      }
      return removed
    },
    async removeProject(workspace_id, project_id) {
      const sql = 'DELETE FROM shares WHERE workspace_id = ? AND project_id = ?'
      await database.query(sql, [workspace_id, project_id])
    },
  }
}

function ofTraces(trace_ids: readonly string[]): string {
  return `workspace_id = ? AND kind = 'trace' AND subject_id IN (${trace_ids.map(() => '?').join(', ')})`
}
