import { chunksOf } from '../../../base/chunks.ts'
import { AppError } from '../../../base/errors.ts'
import type { Clock } from '../../../base/clock.ts'
import { newUuid } from '../../../base/ids.ts'
import type { Share, ShareStore, ShareSubject, ShareWish } from '../../../ingest/share-store.ts'
import type { Database, SqlSession } from '../driver/database.ts'

interface ShareRow {
  token: string
  workspace_id: string
  kind: 'trace' | 'thread'
  project_id: string
  subject_id: string
  expires_at: number | null
}

/** Maximum number of shares in a workspace. */
const MAX_SHARES = 1_000_000
/** How long an ended share is kept, so that its link can say that it has ended: 30 days in milliseconds. */
const KEPT_MS = 30 * 86_400_000
/** Maximum number of values in one statement. */
const SLICE = 500
const COLUMNS = 'token, workspace_id, kind, project_id, subject_id, expires_at'
const OF_THREAD = `workspace_id = ? AND kind = 'thread' AND project_id = ? AND subject_id = ?`
const IS_OPEN = '(expires_at IS NULL OR expires_at > ?)'

function toShare({ token, workspace_id, kind, project_id, subject_id, expires_at }: ShareRow): Share {
  const subject: ShareSubject =
    kind === 'trace'
      ? { kind, project_id, trace_id: subject_id }
      : { kind, project_id, thread_id: subject_id }
  return { token, workspace_id, subject, expires_at }
}

/** The condition that selects the shares of a subject, and its values. */
function ofSubject(workspace_id: string, subject: ShareSubject): [string, string[]] {
  return subject.kind === 'thread'
    ? [OF_THREAD, [workspace_id, subject.project_id, subject.thread_id]]
    : // A trace has only one share, even if its root has moved to another project since.
      [ofTraces([subject.trace_id]), [workspace_id, subject.trace_id]]
}

async function insertShare(session: SqlSession, share: Share, now: number): Promise<Share> {
  const { token, workspace_id, subject, expires_at } = share
  const subject_id = subject.kind === 'trace' ? subject.trace_id : subject.thread_id
  for (const one of [token, newUuid()]) {
    const made = await session.query(
      `INSERT INTO shares (${COLUMNS}, created_at) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING token`,
      [one, workspace_id, subject.kind, subject.project_id, subject_id, expires_at, now],
    )
    if (made.length > 0) return { ...share, token: one }
  }
  throw new AppError('internal', { message: 'A random token is in use.' })
}

async function createShare(
  session: SqlSession,
  { workspace_id, subject, wish }: { workspace_id: string; subject: ShareSubject; wish: ShareWish },
  now: number,
): Promise<{ share: Share; isNew: boolean }> {
  const [condition, values] = ofSubject(workspace_id, subject)
  const sql = `SELECT ${COLUMNS} FROM shares WHERE ${condition} AND ${IS_OPEN}`
  const [known] = await session.query<ShareRow>(sql, [...values, now])
  if (known !== undefined) {
    const { expires_at = known.expires_at } = wish
    if (expires_at !== known.expires_at)
      await session.query('UPDATE shares SET expires_at = ? WHERE token = ?', [expires_at, known.token])
    return { share: toShare({ ...known, expires_at }), isNew: false }
  }
  await session.query('DELETE FROM shares WHERE workspace_id = ? AND expires_at < ?', [
    workspace_id,
    now - KEPT_MS,
  ])
  const [count] = await session.query<{ n: number }>(
    'SELECT count(*) AS n FROM shares WHERE workspace_id = ?',
    [workspace_id],
  )
  if ((count?.n ?? 0) >= MAX_SHARES) throw new AppError('quota_reached')
  const { token = newUuid(), expires_at = null } = wish
  return { share: await insertShare(session, { token, workspace_id, subject, expires_at }, now), isNew: true }
}

/** Shares in a SQL database that has been migrated. */
export function createShareStore(database: Database, clock: Clock): ShareStore {
  return {
    create: (workspace_id, subject, wish = {}) =>
      database.tx(`shares:${workspace_id}`, (session) =>
        createShare(session, { workspace_id, subject, wish }, clock.now()),
      ),
    async find(token) {
      const [row] = await database.query<ShareRow>(
        `SELECT ${COLUMNS} FROM shares
         JOIN workspaces ON workspaces.id = shares.workspace_id WHERE token = ? AND deleted_at IS NULL`,
        [token],
      )
      const share = row && toShare(row)
      if (share !== undefined && (share.expires_at ?? Number.POSITIVE_INFINITY) <= clock.now())
        throw new AppError('share_ended')
      return share
    },
    async ofTraces(workspace_id, trace_ids) {
      const found = new Map<string, Share>()
      for (const some of chunksOf(trace_ids, SLICE)) {
        const rows = await database.query<ShareRow>(
          `SELECT ${COLUMNS} FROM shares WHERE ${ofTraces(some)} AND ${IS_OPEN}`,
          [workspace_id, ...some, clock.now()],
        )
        for (const row of rows) found.set(row.subject_id, toShare(row))
      }
      return found
    },
    async ofThread(workspace_id, project_id, thread_id) {
      const sql = `SELECT ${COLUMNS} FROM shares WHERE ${OF_THREAD} AND ${IS_OPEN}`
      const [row] = await database.query<ShareRow>(sql, [workspace_id, project_id, thread_id, clock.now()])
      return row && toShare(row)
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
