import type { Clock } from '../../base/clock.ts'
import { AppError, toAppError } from '../../base/errors.ts'
import { newUuid } from '../../base/ids.ts'
import type { Project, ProjectFields, ProjectQuery, ProjectStore } from '../../ingest/project-store.ts'
import { type Database, type SqlSession, type SqlValue, storableText } from './database.ts'
import { createProjectResolver } from './project-resolver.ts'
import {
  DEFAULT_NAME,
  emptyProject,
  findProject,
  insertProject,
  PROJECT_COLUMNS,
  type ProjectRow,
  toProject,
} from './project-rows.ts'

/** The fields that were said, without those left open. */
function said(fields: ProjectFields): Partial<Project> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  )
}

async function change(session: SqlSession, before: Project, fields: ProjectFields): Promise<Project> {
  const after: Project = { ...before, ...said(fields), id: before.id, workspace_id: before.workspace_id }
  after.name = storableText(after.name)
  const namesake = await findProject(session, before.workspace_id, 'name', after.name)
  if (namesake !== undefined && namesake.id !== before.id) throw nameTaken()
  const write = session.query(
    `UPDATE projects SET name = ?, description = ?, extra = ?, reference_dataset_id = ?, start_time = ?, end_time = ?
     WHERE workspace_id = ? AND id = ?`,
    [
      after.name,
      after.description,
      JSON.stringify(after.extra),
      after.reference_dataset_id,
      after.start_time,
      after.end_time,
      after.workspace_id,
      after.id,
    ],
  )
  // A name that ingest has taken since is refused by the constraint.
  await write.catch((error: unknown) => {
    throw toAppError(error).code === 'conflict' ? nameTaken() : error
  })
  return after
}

function nameTaken(): AppError {
  return new AppError('conflict', { message: 'Session already exists.' })
}

function listStatement(workspace_id: string, query: ProjectQuery): { sql: string; params: SqlValue[] } {
  const conditions = ['workspace_id = ?']
  const params: SqlValue[] = [workspace_id]
  if (query.ids !== undefined) {
    conditions.push(`id IN (${query.ids.map(() => '?').join(', ')})`)
    params.push(...query.ids)
  }
  if (query.name !== undefined) {
    conditions.push('name = ?')
    params.push(query.name)
  }
  if (query.name_contains !== undefined) {
    conditions.push(`lower(name) LIKE lower(?) ESCAPE '!'`)
    params.push(`%${query.name_contains.replace(/[!%_]/g, '!$&')}%`)
  }
  const sql = `SELECT ${PROJECT_COLUMNS} FROM projects WHERE ${conditions.join(' AND ')}
    ORDER BY start_time DESC, id LIMIT ? OFFSET ?`
  return { sql, params: [...params, query.limit, query.offset] }
}

/** Projects in a SQL database that has been migrated. */
export function createProjectStore(database: Database, clock: Clock): ProjectStore {
  const resolver = createProjectResolver(database, clock)
  return {
    resolve: resolver.resolve,
    known: resolver.known,
    get: (workspace_id, id) => findProject(database, workspace_id, 'id', id),
    async list(workspace_id, query) {
      if (query.ids?.length === 0) return []
      const { sql, params } = listStatement(workspace_id, query)
      return (await database.query<ProjectRow>(sql, params)).map(toProject)
    },
    async create(workspace_id, { id, ...fields }, { upsert }) {
      const base = emptyProject(workspace_id, id ?? newUuid(), fields.name ?? DEFAULT_NAME, clock.now())
      const fresh = { ...base, ...said(fields), name: base.name }
      return await database.tx(`projects:${workspace_id}`, async (session) => {
        if (await insertProject(session, fresh)) return fresh
        const namesake = await findProject(session, workspace_id, 'name', fresh.name)
        if (!upsert || namesake === undefined) throw nameTaken()
        return await change(session, namesake, fields)
      })
    },
    async update(workspace_id, id, fields) {
      const changed = await database.tx(`projects:${workspace_id}`, async (session) => {
        const before = await findProject(session, workspace_id, 'id', id)
        return before && (await change(session, before, fields))
      })
      resolver.forgetNames(workspace_id)
      return changed
    },
    async names(workspace_ids) {
      if (workspace_ids.length === 0) return new Map()
      const places = workspace_ids.map(() => '?').join(', ')
      const rows = await database.query<Pick<Project, 'workspace_id' | 'id' | 'name'>>(
        `SELECT workspace_id, id, name FROM projects WHERE workspace_id IN (${places})`,
        workspace_ids,
      )
      return new Map(rows.map(({ workspace_id, id, name }) => [`${workspace_id}/${id}`, name]))
    },
  }
}
