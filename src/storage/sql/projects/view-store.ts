import type { Clock } from '../../../base/clock.ts'
import { AppError, toAppError } from '../../../base/errors.ts'
import { newUuid } from '../../../base/ids.ts'
import type { ProjectView, ProjectViewStore, ViewPlace } from '../../../ingest/project-views.ts'
import { type Database, type SqlSession, storableText } from '../driver/database.ts'

type ViewRow = Omit<ProjectView, 'params'> & { params: string }

const COLUMNS =
  'workspace_id, project_id, id, name, description, filter, params, created_by, created_at, modified_at'
const OF_PROJECT = 'workspace_id = ? AND project_id = ?'
/** Maximum number of views of a project. */
const MAX_VIEWS = 200

function toView({ params, ...row }: ViewRow): ProjectView {
  return { ...row, params: JSON.parse(params) as ProjectView['params'] }
}

async function find(
  session: SqlSession,
  { workspace_id, project_id, id }: ViewPlace,
): Promise<ProjectView | undefined> {
  const sql = `SELECT ${COLUMNS} FROM project_views WHERE ${OF_PROJECT} AND id = ?`
  const [row] = await session.query<ViewRow>(sql, [workspace_id, project_id, id])
  return row && toView(row)
}

/** @throws AppError conflict for a name that another view of the project has */
async function named<T>(write: Promise<T>): Promise<T> {
  return await write.catch((error: unknown) => {
    if (toAppError(error).code !== 'conflict') throw error
    throw new AppError('conflict', { message: 'Another view of this project has this name.' })
  })
}

/** Views of projects in a SQL database that has been migrated. */
export function createProjectViewStore(database: Database, clock: Clock): ProjectViewStore {
  const lockOf = ({ workspace_id, project_id }: Omit<ViewPlace, 'id'>): string =>
    `project-views:${workspace_id}:${project_id}`
  return {
    async list(workspace_id, project_id) {
      const sql = `SELECT ${COLUMNS} FROM project_views WHERE ${OF_PROJECT} ORDER BY name, id LIMIT ?`
      return (await database.query<ViewRow>(sql, [workspace_id, project_id, MAX_VIEWS])).map(toView)
    },
    create: (owner, { name, description, filter, params }) =>
      database.tx(lockOf(owner), async (session) => {
        const { workspace_id, project_id, created_by } = owner
        const [count] = await session.query<{ n: number }>(
          `SELECT count(*) AS n FROM project_views WHERE ${OF_PROJECT}`,
          [workspace_id, project_id],
        )
        if ((count?.n ?? 0) >= MAX_VIEWS) throw new AppError('quota_reached')
        const [now, id] = [clock.now(), newUuid()]
        const stored = [storableText(name), description, filter, JSON.stringify(params), created_by, now, now]
        const rows = session.query<ViewRow>(
          `INSERT INTO project_views (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${COLUMNS}`,
          [workspace_id, project_id, id, ...stored],
        )
        const [row] = await named(rows)
        return toView(row!)
      }),
    update: (place, fields) =>
      database.tx(lockOf(place), async (session) => {
        const before = await find(session, place)
        if (before === undefined) return undefined
        const { name, description, filter, params } = { ...before, ...fields }
        const rows = session.query<ViewRow>(
          `UPDATE project_views SET name = ?, description = ?, filter = ?, params = ?, modified_at = ?
           WHERE ${OF_PROJECT} AND id = ? RETURNING ${COLUMNS}`,
          [
            storableText(name),
            description,
            filter,
            JSON.stringify(params),
            clock.now(),
            place.workspace_id,
            place.project_id,
            place.id,
          ],
        )
        const [row] = await named(rows)
        return row && toView(row)
      }),
    async delete({ workspace_id, project_id, id }) {
      const sql = `DELETE FROM project_views WHERE ${OF_PROJECT} AND id = ? RETURNING id`
      return (await database.query(sql, [workspace_id, project_id, id])).length > 0
    },
  }
}

export async function deleteViewsOf(
  session: SqlSession,
  workspace_id: string,
  project_id: string,
): Promise<void> {
  await session.query(`DELETE FROM project_views WHERE ${OF_PROJECT}`, [workspace_id, project_id])
}
