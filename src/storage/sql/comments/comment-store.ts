import { chunksOf } from '../../../base/chunks.ts'
import type { Clock } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import { newUuid } from '../../../base/ids.ts'
import type { Comment, CommentStore, CommentText } from '../../../ingest/comment-store.ts'
import type { Database, SqlSession } from '../driver/database.ts'

type CommentRow = Omit<Comment, 'mentions'>

const COLUMNS = 'id, workspace_id, trace_id, run_id, text, user_id, api_key_id, author, created_at, edited_at'
/** Maximum number of comments on a trace. */
const MAX_COMMENTS = 1000
/** Maximum number of values in one statement. */
const SLICE = 500

function marks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ')
}

/** The comments of rows, with their mentions. */
async function withMentions(session: SqlSession, rows: readonly CommentRow[]): Promise<Comment[]> {
  const mentions = new Map<string, string[]>()
  for (const some of chunksOf(rows, SLICE)) {
    const found = await session.query<{ comment_id: string; user_id: string }>(
      `SELECT comment_id, user_id FROM comment_mentions WHERE comment_id IN (${marks(some)}) ORDER BY user_id`,
      some.map(({ id }) => id),
    )
    for (const { comment_id, user_id } of found)
      mentions.set(comment_id, [...(mentions.get(comment_id) ?? []), user_id])
  }
  return rows.map((row) => ({ ...row, mentions: mentions.get(row.id) ?? [] }))
}

async function find(session: SqlSession, workspace_id: string, id: string): Promise<Comment | undefined> {
  const sql = `SELECT ${COLUMNS} FROM comments WHERE workspace_id = ? AND id = ?`
  const [comment] = await withMentions(session, await session.query<CommentRow>(sql, [workspace_id, id]))
  return comment
}

async function writeMentions(
  session: SqlSession,
  { id, workspace_id, created_at }: Pick<Comment, 'id' | 'workspace_id' | 'created_at'>,
  { mentions }: CommentText,
): Promise<void> {
  await session.query('DELETE FROM comment_mentions WHERE comment_id = ?', [id])
  for (const user_id of new Set(mentions))
    await session.query(
      'INSERT INTO comment_mentions (comment_id, user_id, workspace_id, created_at) VALUES (?, ?, ?, ?)',
      [id, user_id, workspace_id, created_at],
    )
}

async function remove(session: SqlSession, ids: readonly string[]): Promise<void> {
  for (const some of chunksOf(ids, SLICE)) {
    await session.query(`DELETE FROM comment_mentions WHERE comment_id IN (${marks(some)})`, some)
    await session.query(`DELETE FROM comments WHERE id IN (${marks(some)})`, some)
  }
}

async function createComment(
  session: SqlSession,
  { mentions, ...comment }: Omit<Comment, 'id' | 'created_at' | 'edited_at'>,
  created_at: number,
): Promise<Comment> {
  const { workspace_id, trace_id, run_id, text, user_id, api_key_id, author } = comment
  const [count] = await session.query<{ n: number }>(
    'SELECT count(*) AS n FROM comments WHERE workspace_id = ? AND trace_id = ?',
    [workspace_id, trace_id],
  )
  if ((count?.n ?? 0) >= MAX_COMMENTS) throw new AppError('quota_reached')
  const id = newUuid()
  const of = [id, workspace_id, trace_id, run_id]
  const by = [user_id, api_key_id, author, created_at, null]
  await session.query(`INSERT INTO comments (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
    ...of,
    text,
    ...by,
  ])
  await writeMentions(session, { id, workspace_id, created_at }, { text, mentions })
  return (await find(session, workspace_id, id))!
}

/** Comments in a SQL database that has been migrated. */
export function createCommentStore(database: Database, clock: Clock): CommentStore {
  const lockOf = (workspace_id: string): string => `comments:${workspace_id}`
  const ofRuns = async (workspace_id: string, run_ids: readonly string[]): Promise<string[]> => {
    const sql = `SELECT id FROM comments WHERE workspace_id = ? AND run_id IN (${marks(run_ids)})`
    return (await database.query<{ id: string }>(sql, [workspace_id, ...run_ids])).map(({ id }) => id)
  }
  return {
    async ofTrace(workspace_id, trace_id) {
      const sql = `SELECT ${COLUMNS} FROM comments WHERE workspace_id = ? AND trace_id = ?
        ORDER BY created_at, id LIMIT ?`
      const rows = await database.query<CommentRow>(sql, [workspace_id, trace_id, MAX_COMMENTS])
      return await withMentions(database, rows)
    },
    async mentionsOf(workspace_id, user_id, limit) {
      const sql = `SELECT ${COLUMNS} FROM comments WHERE id IN (
          SELECT comment_id FROM comment_mentions WHERE workspace_id = ? AND user_id = ?
          ORDER BY created_at DESC LIMIT ?)
        ORDER BY created_at DESC, id`
      return await withMentions(
        database,
        await database.query<CommentRow>(sql, [workspace_id, user_id, limit]),
      )
    },
    find: (workspace_id, id) => find(database, workspace_id, id),
    create: (comment) =>
      database.tx(lockOf(comment.workspace_id), (session) => createComment(session, comment, clock.now())),
    update: (workspace_id, id, change) =>
      database.tx(lockOf(workspace_id), async (session) => {
        const before = await find(session, workspace_id, id)
        if (before === undefined) return undefined
        await session.query('UPDATE comments SET text = ?, edited_at = ? WHERE id = ?', [
          change.text,
          clock.now(),
          id,
        ])
        await writeMentions(session, before, change)
        return await find(session, workspace_id, id)
      }),
    delete: (workspace_id, id) =>
      database.tx(lockOf(workspace_id), async (session) => {
        const isThere = (await find(session, workspace_id, id)) !== undefined
        if (isThere) await remove(session, [id])
        return isThere
      }),
    async removeRuns(workspace_id, run_ids) {
      const sql = 'SELECT id FROM comments WHERE workspace_id = ? LIMIT 1'
      // Most workspaces have no comments, and a page of runs has up to 50,000 ids.
      if ((await database.query(sql, [workspace_id])).length === 0) return
      for (const some of chunksOf(run_ids, SLICE)) {
        const ids = await ofRuns(workspace_id, some)
        if (ids.length > 0) await database.tx(lockOf(workspace_id), (session) => remove(session, ids))
      }
    },
  }
}
